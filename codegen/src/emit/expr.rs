//! Guards and updates of an entry as Rust, over the fields `f` and the transition `t`.

use minijinja::{Value, context};

use super::edges::Entry;
use super::ident::value_of;
use super::render::{literal, number, serde};
use super::types::{Type, initial, starts_as_default};
use crate::model::{Constant, Field, FieldKind, Guard, Operand, Sign, Update};

/// A field or an argument that an expression reads.
struct Read<'m> {
    name: &'m str,
    ty: Type,
    /// The field or the binding.
    place: String,
    is_argument: bool,
    /// Whether the field exists in some phases only, or the argument may be left out.
    is_option: bool,
    offset: i64,
}

impl Read<'_> {
    /// Returns the value for a comparison.
    fn value(&self) -> String {
        let place = &self.place;
        match (self.is_argument, &self.ty, self.is_option) {
            (true, Type::Text, _) => format!("{place}.as_str()"),
            (true, ..) => format!("*{place}"),
            (false, Type::Text, true) => format!("{place}.as_deref().unwrap_or_default()"),
            (false, _, true) => format!("{place}.unwrap_or_default()"),
            (false, _, false) => place.clone(),
        }
    }

    /// Returns the value as a number that takes every offset.
    fn wide(&self) -> String {
        let value = format!("i128::from({})", self.value());
        let added = number(self.offset.unsigned_abs());
        match self.offset {
            0 => value,
            1.. => format!("{value} + {added}"),
            _ => format!("{value} - {added}"),
        }
    }

    /// Returns the name and the value as a text for refusals.
    fn shown(&self) -> [String; 2] {
        let place = &self.place;
        let value = match (&self.ty, self.is_argument, self.is_option) {
            (Type::Text, _, false) => format!("{place}.clone()"),
            (Type::Text, _, true) => format!("{place}.clone().unwrap_or_default()"),
            (_, true, _) => format!("{place}.to_string()"),
            (_, false, _) => format!("{}.to_string()", self.value()),
        };
        let owner = if self.is_argument { "args." } else { "" };
        [format!("{owner}{}", self.name), value]
    }

    /// Returns the checked sum or difference of the value and another one. `call` is `add` or `sub`.
    fn checked(&self, call: &str, other: &str) -> String {
        let value = self.value();
        format!(
            "{value}.checked_{call}({other}).ok_or({})",
            literal(self.name)
        )
    }
}

impl<'m> Entry<'m> {
    fn find_field(&self, name: &str) -> &'m Field {
        let mut fields = self.machine.fields.iter();
        let field = fields.find(|field| field.name.value == name);
        field.expect("the check has seen the field")
    }

    fn field(&self, name: &'m str) -> Read<'m> {
        let field = self.find_field(name);
        Read {
            name,
            ty: Type::of_field(field),
            place: format!("f.{}", value_of(name)),
            is_argument: false,
            is_option: field.within.is_some(),
            offset: 0,
        }
    }

    fn argument(&self, name: &'m str) -> Read<'m> {
        let mut arguments = self.args.iter();
        let argument = arguments.find(|argument| argument.name.value == name);
        let argument = argument.expect("the check has seen the argument");
        Read {
            name,
            ty: Type::of_argument(&self.declared.name, argument),
            place: match name {
                // The parameters of the closure have these names.
                "f" | "t" => format!("{name}_"),
                _ => value_of(name),
            },
            is_argument: true,
            is_option: argument.optional,
            offset: 0,
        }
    }

    fn read(&self, operand: &'m Operand) -> Option<Read<'m>> {
        let (read, offset) = match operand {
            Operand::Field { name, offset } => (self.field(name), *offset),
            Operand::Argument { name, offset } => (self.argument(name), *offset),
            Operand::Constant(_) => return None,
        };
        Some(Read { offset, ..read })
    }

    /// Returns the view of the guard.
    pub(super) fn guard(&self, guard: &'m Guard) -> Value {
        let mut reads: Vec<Read<'_>> = Vec::new();
        let comparisons = guard.comparisons().into_iter();
        let operands = comparisons.flat_map(|(left, _, right)| [left, right]);
        for read in operands.filter_map(|one| self.read(one)) {
            if !reads.iter().any(|known| known.place == read.place) {
                reads.push(read);
            }
        }
        let arguments = reads.iter().filter(|read| read.is_argument);
        context! {
            holds => self.condition(guard, false),
            may_hold => self.condition(guard, true),
            values => serde(reads.iter().map(Read::shown).collect::<Vec<_>>()),
            arguments => serde(arguments.map(|read| read.name).collect::<Vec<_>>()),
            reads_fields => reads.iter().any(|read| !read.is_argument),
        }
    }

    /// Returns a guard as Rust. `by_fields` leaves out what it asks of arguments: `None` if that alone can make it true.
    fn condition(&self, guard: &'m Guard, by_fields: bool) -> Option<String> {
        let part = |part: &'m Guard| match part {
            Guard::Any(_) => Some(format!("({})", self.condition(part, by_fields)?)),
            _ => self.condition(part, by_fields),
        };
        match guard {
            Guard::All(parts) => {
                let parts: Vec<_> = parts.iter().filter_map(part).collect();
                (!parts.is_empty()).then(|| parts.join(" && "))
            }
            Guard::Any(parts) => {
                let parts: Option<Vec<_>> = parts.iter().map(part).collect();
                Some(parts?.join(" || "))
            }
            Guard::Compare { left, sign, right } => {
                let is_argument = left.argument().or(right.argument()).is_some();
                (!by_fields || !is_argument).then(|| self.comparison(left, *sign, right))
            }
        }
    }

    fn comparison(&self, left: &'m Operand, sign: Sign, right: &'m Operand) -> String {
        let reads = [self.read(left), self.read(right)];
        let is_wide = reads.iter().flatten().any(|read| read.offset != 0);
        // Two enums have the same words in the same order, or the check refuses the guard.
        let order = match &reads {
            [Some(one), Some(other)] if one.ty != other.ty && one.ty.is_copy() => " as usize",
            _ => "",
        };
        let side = |operand: &Operand, at: usize| match (operand, &reads[at], &reads[1 - at]) {
            (_, Some(read), _) if is_wide => read.wide(),
            (_, Some(read), _) => read.value() + order,
            (Operand::Constant(constant), _, Some(other)) => other.ty.compared(constant),
            _ => unreachable!("the check refuses guards that compare constants"),
        };
        let sides = [side(left, 0), side(right, 1)];
        match (left, right, sides) {
            (_, Operand::Constant(Constant::Flag(flag)), [value, _])
            | (Operand::Constant(Constant::Flag(flag)), _, [_, value]) => {
                let is_plain = *flag == (sign == Sign::Equal);
                if is_plain { value } else { format!("!{value}") }
            }
            (_, _, [left, right]) => format!("{left} {} {right}", sign.word()),
        }
    }

    /// Returns the view of the updates.
    pub(super) fn updates(&self) -> Value {
        let mut arguments: Vec<&str> = Vec::new();
        let mut reads_fields = false;
        let mut values: Vec<(&str, String)> = Vec::new();
        for (name, update) in &self.declared.set {
            reads_fields |= update.field().is_some();
            arguments.extend(update.argument().filter(|name| !arguments.contains(name)));
            values.push((name.as_str(), self.update(self.find_field(name), update)));
        }
        for field in &self.machine.fields {
            let name = field.name.as_str();
            if !values.iter().any(|(known, _)| *known == name)
                && let Some(value) = self.crossing(field)
            {
                reads_fields |= value.contains("f.");
                values.push((name, value));
            }
        }
        let fields = self.machine.fields.iter();
        let own = fields.filter(|field| !matches!(field.kind, FieldKind::Held(_)));
        let is_whole = own.count() == values.len();
        context! {
            values => serde(values),
            is_whole,
            reads_fields => reads_fields || !is_whole || !arguments.is_empty(),
            arguments => serde(arguments),
        }
    }

    /// Returns the value that an edge gives a field which exists in some phases only, unless the field stays as it is.
    fn crossing(&self, field: &Field) -> Option<String> {
        let before = self
            .sources()
            .filter(|phase| field.exists_in(phase))
            .count();
        if !field.exists_in(self.target()?) {
            return (before > 0).then(|| "None".to_owned());
        }
        if before == self.from.len() {
            return None;
        }
        let initial = format!("Some({})", initial(field));
        if before == 0 {
            return Some(initial);
        }
        let place = format!("f.{}", value_of(&field.name));
        let ty = Type::of_field(field);
        Some(if !ty.is_copy() && starts_as_default(field) {
            format!("Some({place}.clone().unwrap_or_default())")
        } else {
            ty.or("or", &place, &initial)
        })
    }

    /// Returns the value that an update gives a field.
    fn update(&self, field: &Field, update: &'m Update) -> String {
        let ty = Type::of_field(field);
        let is_option = field.within.is_some();
        let value = match update {
            Update::Constant(constant) => ty.constant(constant),
            Update::Field { name, offset: 0 } => self.field(name).value(),
            Update::Field { name, offset } => {
                let call = if *offset < 0 { "sub" } else { "add" };
                let added = number(offset.unsigned_abs());
                format!("{}?", self.field(name).checked(call, &added))
            }
            Update::Next(name) => {
                let read = self.field(name);
                read.ty.convert(&format!("{}.next()", read.value()), &ty)
            }
            Update::Argument(name) => {
                let read = self.argument(name);
                if read.is_option {
                    return self.update_from_option(field, &read);
                }
                match &read.ty {
                    Type::Text => format!("{}.clone()", read.place),
                    Type::Word(_) => read.ty.convert(&read.place, &ty),
                    _ => format!("*{}", read.place),
                }
            }
            Update::Plus { name, argument } => {
                let read = self.argument(argument);
                let place = &read.place;
                if read.is_option {
                    let sum = self.field(name).checked("add", "given");
                    let some = if is_option { ".map(Some)" } else { "" };
                    let kept = self.kept(field);
                    return format!("{place}.map_or(Ok({kept}), |given| {sum}{some})?");
                }
                format!("{}?", self.field(name).checked("add", &format!("*{place}")))
            }
        };
        if is_option {
            format!("Some({value})")
        } else {
            value
        }
    }

    /// Returns the value of a field that takes an argument if it is there.
    fn update_from_option(&self, field: &Field, read: &Read<'_>) -> String {
        let ty = Type::of_field(field);
        let place = &read.place;
        let kept = self.kept(field);
        let given = read.ty.convert("given", &ty);
        match (given.as_str(), field.within.is_some(), ty.is_copy()) {
            ("given", true, _) => ty.or("or", place, &kept),
            ("given", false, _) => ty.or("unwrap_or", place, &kept),
            (_, true, true) => format!("{place}.map_or({kept}, |given| Some({given}))"),
            (_, false, true) => format!("{place}.map_or({kept}, |given| {given})"),
            (_, true, false) => format!("{place}.map_or_else(|| {kept}, |given| Some({given}))"),
            (_, false, false) => format!("{place}.map_or_else(|| {kept}, |given| {given})"),
        }
    }

    /// Returns what becomes of a field that an update leaves as it is.
    fn kept(&self, field: &Field) -> String {
        let place = format!("f.{}", value_of(&field.name));
        match self.crossing(field) {
            Some(value) => value,
            None if Type::of_field(field).is_copy() => place,
            None => format!("{place}.clone()"),
        }
    }
}
