//! Guards and updates of an entry as Rust, over the fields `f` and the transition `t`.

use minijinja::{Value, context};

use super::edges::Entry;
use super::ident::{camel, type_of_words, value_of};
use super::render::{literal, number, serde};
use super::types::{Type, initial};
use crate::model::{Constant, Field, FieldKind, Guard, Named, Operand, Read, Sign, Update};

/// A field or an argument in Rust.
struct Place<'m> {
    name: &'m str,
    ty: Type,
    /// The field or the binding.
    rust: String,
    is_argument: bool,
    /// Whether the field exists in some phases only, or the argument may be left out.
    is_option: bool,
}

impl Place<'_> {
    /// Returns the value for a comparison.
    fn value(&self) -> String {
        let rust = &self.rust;
        match (self.is_argument, &self.ty, self.is_option) {
            (true, Type::Text, _) => format!("{rust}.as_str()"),
            (true, ..) => format!("*{rust}"),
            (false, Type::Text, true) => format!("{rust}.as_deref().unwrap_or_default()"),
            (false, _, true) => format!("{rust}.unwrap_or_default()"),
            (false, _, false) => rust.clone(),
        }
    }

    /// Returns the value as a number that takes every offset.
    fn wide(&self, offset: i64) -> String {
        let value = format!("i128::from({})", self.value());
        let added = number(offset.unsigned_abs());
        match offset {
            0 => value,
            1.. => format!("{value} + {added}"),
            _ => format!("{value} - {added}"),
        }
    }

    /// Returns the name and the value as a text for refusals.
    fn shown(&self) -> [String; 2] {
        let value = match (&self.ty, self.is_argument, self.is_option) {
            (Type::Text, _, false) => format!("{}.clone()", self.rust),
            (Type::Text, _, true) => format!("{}.clone().unwrap_or_default()", self.rust),
            (_, true, _) => format!("{}.to_string()", self.rust),
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
    fn find_field(&self, name: &str) -> &'m Named<Field> {
        let mut fields = self.machine.fields.iter();
        let field = fields.find(|field| field.name.value == name);
        field.expect("the check has seen the field")
    }

    fn place(&self, read: &'m Read) -> Place<'m> {
        let name = read.name.as_str();
        let kind = read.kind.as_ref().expect("the check has seen the name");
        let (words, rust) = match (read.is_argument, name) {
            (false, _) => (type_of_words(name), format!("f.{}", value_of(name))),
            // The parameters of the closure have these names.
            (true, "f" | "t") => (self.words_of(name), format!("{name}_")),
            (true, _) => (self.words_of(name), value_of(name)),
        };
        Place {
            name,
            ty: Type::new(kind, words),
            rust,
            is_argument: read.is_argument,
            is_option: read.is_option,
        }
    }

    /// Returns the name of the enum of an argument's words.
    fn words_of(&self, argument: &str) -> String {
        camel(&self.declared.name) + &camel(argument)
    }

    pub(super) fn guard(&self, guard: &'m Guard) -> Value {
        let mut places: Vec<Place<'_>> = Vec::new();
        for place in guard.reads().map(|read| self.place(read)) {
            if !places.iter().any(|known| known.rust == place.rust) {
                places.push(place);
            }
        }
        let arguments = places.iter().filter(|place| place.is_argument);
        context! {
            holds => self.condition(guard, false),
            may_hold => self.condition(guard, true),
            values => serde(places.iter().map(Place::shown).collect::<Vec<_>>()),
            arguments => serde(arguments.map(|place| place.name).collect::<Vec<_>>()),
            reads_fields => places.iter().any(|place| !place.is_argument),
        }
    }

    /// Returns a guard as Rust. `by_fields` leaves out the conditions on arguments: `None` if that alone can make it true.
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
                let mut reads = left.read().into_iter().chain(right.read());
                let reads_argument = reads.any(|read| read.is_argument);
                (!by_fields || !reads_argument).then(|| self.comparison(left, *sign, right))
            }
        }
    }

    fn comparison(&self, left: &'m Operand, sign: Sign, right: &'m Operand) -> String {
        let offsets = [left, right].map(|side| side.read().map_or(0, |read| read.offset));
        let places = [left, right].map(|side| side.read().map(|read| self.place(read)));
        // Two enums have the same words in the same order, or the check refuses the guard.
        let order = match &places {
            [Some(one), Some(other)] if one.ty != other.ty && one.ty.is_copy() => " as usize",
            _ => "",
        };
        let side = |operand: &Operand, at: usize| match (operand, &places[at], &places[1 - at]) {
            (_, Some(place), _) if offsets != [0, 0] => place.wide(offsets[at]),
            (_, Some(place), _) => place.value() + order,
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

    pub(super) fn updates(&self) -> Value {
        let set = &self.declared.set;
        let mut arguments: Vec<&str> = Vec::new();
        let mut values: Vec<(&str, String)> = Vec::new();
        for (name, update) in set {
            for read in update.reads().filter(|read| read.is_argument) {
                if !arguments.contains(&read.name.as_str()) {
                    arguments.push(&read.name);
                }
            }
            values.push((name.as_str(), self.update(self.find_field(name), update)));
        }
        for field in &self.machine.fields {
            let name = field.name.as_str();
            if !set.iter().any(|(known, _)| known.value == name) {
                values.extend(self.crossing(field).map(|value| (name, value)));
            }
        }
        let fields = self.machine.fields.iter();
        let own = fields.filter(|field| !matches!(field.kind, FieldKind::Held(_)));
        let is_whole = own.count() == values.len();
        let reads_fields = values.iter().any(|(_, value)| value.contains("f."));
        context! {
            values => serde(values),
            is_whole,
            reads_fields => reads_fields || !is_whole,
            arguments => serde(arguments),
        }
    }

    /// Returns the value that an edge gives a field which exists in some phases only, unless the field stays as it is.
    fn crossing(&self, field: &Named<Field>) -> Option<String> {
        let before = self.sources().filter(|phase| field.exists_in(phase));
        let before = before.count();
        let initial = format!("Some({})", initial(field));
        if !field.exists_in(self.target()?) {
            (before > 0).then(|| "None".to_owned())
        } else if before == 0 {
            Some(initial)
        } else {
            let kept = self.field_value(field);
            (before < self.from.len()).then(|| format!("{kept}.or_else(|| {initial})"))
        }
    }

    /// Returns the value that an update gives a field.
    fn update(&self, field: &Named<Field>, update: &'m Update) -> String {
        let ty = Type::of_field(field);
        let is_option = !field.within.is_empty();
        let value = match update {
            Update::Value(Operand::Constant(constant)) => ty.constant(constant),
            Update::Value(Operand::Read(read)) => {
                let place = self.place(read);
                let rust = &place.rust;
                if place.is_argument && place.is_option {
                    let converted = place.ty.convert("given", &ty);
                    let value = match converted.as_str() {
                        "given" => place.ty.cloned(rust),
                        _ => format!("{rust}.map(|given| {converted})"),
                    };
                    let method = if is_option {
                        "or_else"
                    } else {
                        "unwrap_or_else"
                    };
                    return format!("{value}.{method}(|| {})", self.kept(field));
                }
                let other = number(read.offset.unsigned_abs());
                match (&place.ty, read.offset) {
                    (Type::Text, _) => format!("{rust}.clone()"),
                    (Type::Word(_), _) => place.ty.convert(rust, &ty),
                    (_, 0) => place.value(),
                    (_, 1..) => place.checked("add", &other) + "?",
                    _ => place.checked("sub", &other) + "?",
                }
            }
            Update::Next(read) => {
                let place = self.place(read);
                place.ty.convert(&format!("{}.next()", place.value()), &ty)
            }
            Update::Plus(read, argument) => {
                let argument = self.place(argument);
                let rust = &argument.rust;
                if argument.is_option {
                    let sum = self.place(read).checked("add", "given");
                    let some = if is_option { ".map(Some)" } else { "" };
                    let kept = self.kept(field);
                    return format!("{rust}.map_or(Ok({kept}), |given| {sum}{some})?");
                }
                self.place(read).checked("add", &argument.value()) + "?"
            }
        };
        if is_option {
            format!("Some({value})")
        } else {
            value
        }
    }

    /// Returns the value of a field that an update leaves as it is.
    fn kept(&self, field: &Named<Field>) -> String {
        self.crossing(field)
            .unwrap_or_else(|| self.field_value(field))
    }

    fn field_value(&self, field: &Named<Field>) -> String {
        Type::of_field(field).cloned(&format!("f.{}", value_of(&field.name)))
    }
}
