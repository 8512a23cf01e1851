//! Guards and updates of an edge as Rust, over the fields `f` and the transition `t`.

use std::collections::HashMap;

use super::ident::{type_of, type_of_argument, type_of_words, value_of};
use super::{Entry, MAX_LINE, literal, number};
use crate::model::{
    Argument, ArgumentKind, Constant, Field, FieldKind, Guard, Operand, Sign, Update,
};

/// The type of a field or an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Type {
    Count,
    Flag,
    Text,
    /// An enum of words, by its name.
    Word(String),
    /// The program's own type, by its name.
    Data(String),
}

impl Type {
    fn of_field(field: &Field) -> Self {
        match &field.kind {
            FieldKind::Count => Self::Count,
            FieldKind::Flag => Self::Flag,
            FieldKind::Text | FieldKind::Path | FieldKind::Held(_) => Self::Text,
            FieldKind::OneOf(_) => Self::Word(type_of_words(&field.name.value)),
            FieldKind::Data(name) => Self::Data(format!("super::{name}")),
        }
    }

    fn of_argument(transition: &str, argument: &Argument) -> Self {
        match &argument.kind {
            ArgumentKind::Count => Self::Count,
            ArgumentKind::Flag => Self::Flag,
            ArgumentKind::Text | ArgumentKind::Path => Self::Text,
            ArgumentKind::OneOf(_) => Self::Word(type_of_argument(transition, argument)),
            FieldKind::Data(_) | FieldKind::Held(_) => unreachable!("no argument has such a type"),
        }
    }

    fn is_copy(&self) -> bool {
        matches!(self, Self::Count | Self::Flag | Self::Word(_))
    }

    fn name(&self) -> &str {
        match self {
            Self::Count => "u64",
            Self::Flag => "bool",
            Self::Text => "String",
            Self::Word(name) | Self::Data(name) => name,
        }
    }

    fn constant(&self, constant: &Constant) -> String {
        match (constant, self) {
            (Constant::Count(count), _) => number(*count),
            (Constant::Flag(flag), _) => flag.to_string(),
            (Constant::Text(word), Self::Word(name)) => format!("{name}::{}", type_of(word)),
            (Constant::Text(text), _) if text.is_empty() => "String::new()".to_owned(),
            (Constant::Text(text), _) => format!("{}.to_owned()", literal(text)),
        }
    }
}

/// Returns the Rust type of a field, without the `Option` of one that exists in some phases only.
pub(super) fn type_of_field(field: &Field) -> String {
    Type::of_field(field).name().to_owned()
}

/// Returns the Rust type of an argument.
pub(super) fn parameter_type(transition: &str, argument: &Argument) -> String {
    let ty = Type::of_argument(transition, argument);
    if argument.optional {
        format!("Option<{}>", ty.name())
    } else {
        ty.name().to_owned()
    }
}

/// Returns a constant as a value of an argument's type.
pub(super) fn argument_constant(
    transition: &str,
    argument: &Argument,
    constant: &Constant,
) -> String {
    Type::of_argument(transition, argument).constant(constant)
}

/// Returns the value of a field at the start.
pub(super) fn initial(field: &Field) -> String {
    let ty = Type::of_field(field);
    match field.initial() {
        Some(initial) => ty.constant(&initial),
        None => format!("{}::default()", ty.name()),
    }
}

/// Returns whether a field starts with the default of its type.
pub(super) fn starts_as_default(field: &Field) -> bool {
    let default = match &field.kind {
        FieldKind::OneOf(words) => words.first().map_or("", |word| &word.value),
        _ => "",
    };
    field.within.is_some()
        || match field.initial() {
            Some(Constant::Text(text)) => text == default,
            Some(Constant::Count(count)) => count == 0,
            Some(Constant::Flag(flag)) => !flag,
            None => true,
        }
}

/// The names that an edge's guard and updates can use.
pub(super) struct Scope<'m> {
    pub(super) fields: &'m HashMap<&'m str, &'m Field>,
    pub(super) entry: &'m Entry<'m>,
    /// Whether the machine has one transition only, so that every pattern matches.
    pub(super) is_only: bool,
}

/// A field or an argument that an expression reads.
struct Read {
    ty: Type,
    /// The field or the binding.
    place: String,
    is_argument: bool,
    /// Whether the field exists in some phases only.
    is_divided: bool,
    offset: i64,
}

impl Read {
    /// Returns the value for a comparison.
    fn value(&self) -> String {
        let place = &self.place;
        match (self.is_argument, &self.ty, self.is_divided) {
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

    /// Returns the value as a text for refusals.
    fn shown(&self) -> String {
        let place = &self.place;
        match (&self.ty, self.is_argument, self.is_divided) {
            (Type::Text, _, false) => format!("{place}.clone()"),
            (Type::Text, _, true) => format!("{place}.clone().unwrap_or_default()"),
            (_, true, _) => format!("{place}.to_string()"),
            (_, false, _) => format!("{}.to_string()", self.value()),
        }
    }
}

impl<'m> Scope<'m> {
    fn field(&self, name: &str, offset: i64) -> Read {
        let field = self.fields[name];
        Read {
            ty: Type::of_field(field),
            place: format!("f.{}", value_of(name)),
            is_argument: false,
            is_divided: field.within.is_some(),
            offset,
        }
    }

    fn argument(&self, name: &str, offset: i64) -> Read {
        let transition = &self.entry.declared.name.value;
        let argument = self.entry.argument(name);
        Read {
            ty: Type::of_argument(transition, argument),
            place: binding(name),
            is_argument: true,
            is_divided: false,
            offset,
        }
    }

    fn read(&self, operand: &Operand) -> Option<Read> {
        match operand {
            Operand::Field { name, offset } => Some(self.field(name, *offset)),
            Operand::Argument { name, offset } => Some(self.argument(name, *offset)),
            Operand::Constant(_) => None,
        }
    }

    /// Returns a guard as the closures `holds`, `may_hold` and `values` of `rt::Guard`.
    pub(super) fn guard(&self, guard: &Guard) -> [String; 3] {
        let mut reads: Vec<(String, Read)> = Vec::new();
        let mut arguments: Vec<&str> = Vec::new();
        operands(guard, &mut |operand| {
            let label = match operand {
                Operand::Field { name, .. } => name.value.clone(),
                Operand::Argument { name, .. } => format!("args.{name}"),
                Operand::Constant(_) => return,
            };
            if let Operand::Argument { name, .. } = operand
                && !arguments.contains(&name.as_str())
            {
                arguments.push(name);
            }
            if !reads.iter().any(|(known, _)| *known == label) {
                reads.extend(self.read(operand).map(|read| (label, read)));
            }
        });
        let reads_fields = reads.iter().any(|(_, read)| !read.is_argument);
        let values: Vec<_> = reads
            .iter()
            .map(|(label, read)| format!("({}, {})", literal(label), read.shown()))
            .collect();
        let values = format!("vec![{}]", values.join(", "));
        let may_hold = match decided_by_fields(guard) {
            Some(guard) => format!("|f| {}", self.condition(&guard)),
            None => "|_| true".to_owned(),
        };
        let holds = self.closure(self.condition(guard), &arguments, reads_fields, "false");
        let values = self.closure(values, &arguments, reads_fields, "Vec::new()");
        [holds, may_hold, values]
    }

    fn condition(&self, guard: &Guard) -> String {
        let part = |part: &Guard| match part {
            Guard::Any(_) => format!("({})", self.condition(part)),
            _ => self.condition(part),
        };
        let (parts, join) = match guard {
            Guard::All(parts) => (parts, " && "),
            Guard::Any(parts) => (parts, " || "),
            Guard::Compare { left, sign, right } => return self.comparison(left, *sign, right),
        };
        parts.iter().map(part).collect::<Vec<_>>().join(join)
    }

    fn comparison(&self, left: &Operand, sign: Sign, right: &Operand) -> String {
        let reads = (self.read(left), self.read(right));
        let sign_text = match sign {
            Sign::Equal => "==",
            Sign::NotEqual => "!=",
            Sign::Less => "<",
            Sign::LessOrEqual => "<=",
            Sign::Greater => ">",
            Sign::GreaterOrEqual => ">=",
        };
        let (read, constant) = match (&reads, left, right) {
            ((Some(one), Some(other)), ..) => {
                return compared(one, sign_text, other);
            }
            ((Some(read), _), _, Operand::Constant(constant))
            | ((_, Some(read)), Operand::Constant(constant), _) => (read, constant),
            _ => unreachable!("the check refuses guards that compare constants"),
        };
        let value = read.value();
        match (constant, &read.ty) {
            (Constant::Flag(flag), _) if *flag == (sign == Sign::Equal) => value,
            (Constant::Flag(_), _) => format!("!{value}"),
            (Constant::Text(word), Type::Word(name)) => {
                format!("{value} {sign_text} {name}::{}", type_of(word))
            }
            (Constant::Text(text), _) => format!("{value} {sign_text} {}", literal(text)),
            (Constant::Count(count), _) => {
                let value = if read.offset == 0 { value } else { read.wide() };
                match reads.0 {
                    Some(_) => format!("{value} {sign_text} {}", number(*count)),
                    None => format!("{} {sign_text} {value}", number(*count)),
                }
            }
        }
    }

    /// Returns the closure of `rt::Edge::set`.
    pub(super) fn set(&self) -> String {
        let mut arguments: Vec<&str> = Vec::new();
        let mut reads_fields = false;
        let mut assignments: Vec<(&str, String)> = Vec::new();
        for (name, update) in &self.entry.declared.set {
            let argument = update.argument();
            let is_optional = argument.is_some_and(|name| self.entry.argument(name).optional);
            reads_fields |= update.field().is_some() || is_optional;
            if let Some(name) = argument.filter(|name| !arguments.contains(name)) {
                arguments.push(name);
            }
            assignments.push((name, self.update(self.fields[name.as_str()], update)));
        }
        for field in self.entry.divided {
            let name = field.name.as_str();
            if !assignments.iter().any(|(known, _)| *known == name)
                && let Some(value) = self.crossing(field)
            {
                reads_fields |= value.starts_with("f.");
                assignments.push((name, value));
            }
        }
        if assignments.is_empty() {
            return "|f, _| Ok(f.clone())".to_owned();
        }

        let all = self.fields.values();
        let all = all.filter(|field| !matches!(field.kind, FieldKind::Held(_)));
        let is_whole = all.count() == assignments.len();
        let mut parts: Vec<String> = assignments
            .iter()
            .map(|(name, value)| format!("{}: {value}", value_of(name)))
            .collect();
        if !is_whole {
            parts.push("..f.clone()".to_owned());
        }
        let one_line = parts.join(", ");
        let body = if one_line.len() <= MAX_LINE {
            format!("Ok(Fields {{ {one_line} }})")
        } else {
            let comma = if is_whole { "," } else { "" };
            format!("Ok(Fields {{\n    {}{comma}\n}})", parts.join(",\n    "))
        };
        let otherwise = "Ok(f.clone())";
        let reads_fields = reads_fields || !is_whole || !arguments.is_empty();
        self.closure(body, &arguments, reads_fields, otherwise)
    }

    /// Returns the value that an edge gives a field which exists in some phases only, unless the field stays as it is.
    fn crossing(&self, field: &Field) -> Option<String> {
        let to = self.entry.target?;
        let sources = self.entry.sources.iter();
        let before = sources.filter(|phase| field.exists_in(phase)).count();
        if !field.exists_in(to) {
            return (before > 0).then(|| "None".to_owned());
        }
        if before == self.entry.sources.len() {
            return None;
        }
        let initial = initial(field);
        if before == 0 {
            return Some(format!("Some({initial})"));
        }
        let place = format!("f.{}", value_of(&field.name.value));
        Some(if Type::of_field(field).is_copy() {
            format!("{place}.or(Some({initial}))")
        } else if starts_as_default(field) {
            format!("Some({place}.clone().unwrap_or_default())")
        } else {
            format!("{place}.clone().or_else(|| Some({initial}))")
        })
    }

    /// Returns the value that an update gives a field.
    fn update(&self, field: &Field, update: &Update) -> String {
        let ty = Type::of_field(field);
        let wrapped = |value: String| match field.within {
            Some(_) => format!("Some({value})"),
            None => value,
        };
        match update {
            Update::Constant(constant) => wrapped(ty.constant(constant)),
            Update::Field { name, offset: 0 } => wrapped(self.field(name, 0).value()),
            Update::Field { name, offset } => {
                let value = self.field(name, 0).value();
                let call = if *offset < 0 {
                    "checked_sub"
                } else {
                    "checked_add"
                };
                let added = number(offset.unsigned_abs());
                wrapped(format!("{value}.{call}({added}).ok_or({})?", literal(name)))
            }
            Update::Next(name) => {
                let read = self.field(name, 0);
                let next = format!("{}.next()", read.value());
                wrapped(converted(&next, &read.ty, &ty))
            }
            Update::Argument(name) => {
                let read = self.argument(name, 0);
                if self.entry.argument(name).optional {
                    return self.optional(field, &read, &converted("given", &read.ty, &ty));
                }
                wrapped(match (&read.ty, &ty) {
                    (Type::Text, _) => format!("{}.clone()", read.place),
                    (Type::Word(_), _) => converted(&read.place, &read.ty, &ty),
                    _ => format!("*{}", read.place),
                })
            }
            Update::Plus { name, argument } => {
                let value = self.field(name, 0).value();
                let read = self.argument(argument, 0);
                let sum =
                    |added: &str| format!("{value}.checked_add({added}).ok_or({})", literal(name));
                if !self.entry.argument(argument).optional {
                    return wrapped(format!("{}?", sum(&format!("*{}", read.place))));
                }
                let sum = match field.within {
                    Some(_) => format!("{}.map(Some)", sum("given")),
                    None => sum("given"),
                };
                let kept = self.kept(field);
                format!("{}.map_or(Ok({kept}), |given| {sum})?", read.place)
            }
        }
    }

    /// Returns the value of a field that takes an argument if it is given. `value` reads it as `given`.
    fn optional(&self, field: &Field, read: &Read, value: &str) -> String {
        let kept = self.kept(field);
        let place = &read.place;
        let is_copy = Type::of_field(field).is_copy();
        match (value, field.within.is_some(), is_copy) {
            ("given", false, true) => format!("{place}.unwrap_or({kept})"),
            ("given", false, false) => format!("{place}.clone().unwrap_or_else(|| {kept})"),
            ("given", true, true) => format!("{place}.or({kept})"),
            ("given", true, false) => format!("{place}.clone().or_else(|| {kept})"),
            (_, false, true) => format!("{place}.map_or({kept}, |given| {value})"),
            (_, false, false) => format!("{place}.map_or_else(|| {kept}, |given| {value})"),
            (_, true, true) => format!("{place}.map_or({kept}, |given| Some({value}))"),
            (_, true, false) => format!("{place}.map_or_else(|| {kept}, |given| Some({value}))"),
        }
    }

    /// Returns what becomes of a field that an update leaves as it is.
    fn kept(&self, field: &Field) -> String {
        let place = format!("f.{}", value_of(&field.name.value));
        let crossing = field.within.as_ref().and_then(|_| self.crossing(field));
        crossing.unwrap_or_else(|| match Type::of_field(field).is_copy() {
            true => place,
            false => format!("{place}.clone()"),
        })
    }

    /// Returns a closure of the fields and the transition, with the arguments that it reads.
    fn closure(
        &self,
        body: String,
        arguments: &[&str],
        reads_fields: bool,
        otherwise: &str,
    ) -> String {
        let f = if reads_fields { "f" } else { "_" };
        if arguments.is_empty() {
            return format!("|{f}, _| {body}");
        }
        let body = body.replace('\n', "\n    ");
        let bindings = arguments
            .iter()
            .map(|name| match (value_of(name), binding(name)) {
                (name, binding) if name == binding => name,
                (name, binding) => format!("{name}: {binding}"),
            });
        let mut bindings: Vec<String> = bindings.collect();
        if arguments.len() < self.entry.arguments.len() {
            bindings.push("..".to_owned());
        }
        let transition = type_of(&self.entry.declared.name.value);
        let bindings = bindings.join(", ");
        let otherwise = match self.is_only {
            true => ";".to_owned(),
            false => format!(" else {{\n        return {otherwise};\n    }};"),
        };
        format!(
            "|{f}, t| {{\n    let Transition::{transition} {{ {bindings} }} = t{otherwise}\n    {body}\n}}"
        )
    }
}

/// Returns the name that a closure gives an argument. `f` and `t` are its parameters.
fn binding(name: &str) -> String {
    match name {
        "f" | "t" => format!("{name}_"),
        _ => value_of(name),
    }
}

/// Returns a comparison of two fields or arguments.
fn compared(one: &Read, sign: &str, other: &Read) -> String {
    if one.offset != 0 || other.offset != 0 {
        return format!("{} {sign} {}", one.wide(), other.wide());
    }
    // Two enums have the same words in the same order, or the check refuses the guard.
    let order = if one.ty == other.ty { "" } else { " as usize" };
    let is_words = matches!(one.ty, Type::Word(_));
    let order = if is_words { order } else { "" };
    format!("{}{order} {sign} {}{order}", one.value(), other.value())
}

/// Returns a value of one type as another one.
fn converted(value: &str, from: &Type, to: &Type) -> String {
    match (from, to) {
        (Type::Word(_), Type::Text) => format!("{value}.to_string()"),
        (Type::Word(one), Type::Word(other)) if one != other => {
            format!("{value}.to_string().parse().unwrap_or_default()")
        }
        _ => value.to_owned(),
    }
}

/// Calls `add` with each side of each comparison.
fn operands<'g>(guard: &'g Guard, add: &mut impl FnMut(&'g Operand)) {
    match guard {
        Guard::All(parts) | Guard::Any(parts) => parts.iter().for_each(|part| operands(part, add)),
        Guard::Compare { left, right, .. } => [left, right].into_iter().for_each(add),
    }
}

/// Returns what a guard asks of fields alone. `None`: arguments alone can make it true.
fn decided_by_fields(guard: &Guard) -> Option<Guard> {
    match guard {
        Guard::All(parts) => {
            let parts: Vec<_> = parts.iter().filter_map(decided_by_fields).collect();
            (!parts.is_empty()).then_some(Guard::All(parts))
        }
        Guard::Any(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(decided_by_fields).collect();
            parts.map(Guard::Any)
        }
        Guard::Compare { left, right, .. } => {
            let is_argument = left.argument().or(right.argument()).is_some();
            (!is_argument).then(|| guard.clone())
        }
    }
}
