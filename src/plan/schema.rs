//! `machine schema`: the JSON Schema of machine.toml, for editors.
//!
//! The schema is what serde asks for when it reads the model, so it cannot differ from it. A
//! [`Probe`] stands in the place of a file. It follows a path of [`Step`]s, answers with the keys
//! on it, and stops at its end with an [`Asked`].

use std::fmt;

use claudex_build::model::Machine;
use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, Expected, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};
use serde_json::{Value, json};

/// Texts of which each rule of the model allows one.
const EXAMPLES: [&str; 2] = ["a", "{program}"];

/// Returns the schema of a machine file.
pub(super) fn schema() -> Value {
    let mut schema = schema_at(&[]);
    schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    schema["title"] = json!("machine.toml of claudex-loop");
    schema
}

/// Returns the schema of the value at a path.
fn schema_at(path: &[Step]) -> Value {
    let below = |step| schema_at(&join(path, step));
    match ask(path) {
        Asked::Text => json!({ "type": "string" }),
        Asked::Flag => json!({ "type": "boolean" }),
        Asked::Count => json!({ "type": "integer", "minimum": 0 }),
        Asked::List => json!({ "type": "array", "items": below(Step::Item) }),
        Asked::Map => json!({ "type": "object", "additionalProperties": below(Step::Key("a")) }),
        Asked::Struct(keys) => table(path, keys),
        Asked::Words(words) if is_plain(path, words) => json!({ "enum": words }),
        Asked::Words(variants) => {
            let properties = variants
                .iter()
                .map(|name| (*name, below(Step::Variant(name))));
            json!({
                "type": "object",
                "properties": properties.collect::<Value>(),
                "minProperties": 1,
                "maxProperties": 1,
                "additionalProperties": false,
            })
        }
        Asked::Any => {
            let forms = [Form::Text, Form::Flag, Form::Count, Form::List, Form::Table];
            let of_form = |form| form_at(&join(path, Step::Form(form)), form);
            json!({ "anyOf": forms.into_iter().filter_map(of_form).collect::<Vec<_>>() })
        }
        other => unreachable!("the model asks for {other:?} at {path:?}"),
    }
}

/// Returns whether no variant has a value.
fn is_plain(path: &[Step], variants: &[&'static str]) -> bool {
    let mut variants = variants.iter();
    variants.all(|name| matches!(ask(&join(path, Step::Variant(name))), Asked::Unit))
}

/// Returns the schema of one of several forms of a value, or `None` if the model refuses it.
fn form_at(path: &[Step], form: Form) -> Option<Value> {
    let item = join(path, Step::Item);
    match (form, ask(path)) {
        (_, Asked::WrongType) => None,
        (Form::Text, Asked::Words(words)) => Some(json!({ "enum": words })),
        (Form::Text, _) => Some(json!({ "type": "string" })),
        (Form::Flag, _) => Some(json!({ "type": "boolean" })),
        (Form::Count, _) => Some(json!({ "type": "integer", "minimum": 0 })),
        (Form::Table, Asked::Struct(keys)) => Some(table(path, keys)),
        (Form::Table, _) => None,
        (Form::List, _) => match ask(&join(&item, Step::Example(EXAMPLES[0]))) {
            Asked::Refused => None,
            _ => Some(json!({ "type": "array", "items": schema_at(&item), "minItems": 1 })),
        },
    }
}

/// Returns the schema of a table with these keys.
fn table(path: &[Step], keys: &[&'static str]) -> Value {
    let properties = keys
        .iter()
        .map(|key| (*key, schema_at(&join(path, Step::Key(key)))));
    let mut schema = json!({
        "type": "object",
        "properties": properties.collect::<Value>(),
        "additionalProperties": false,
    });
    let required = required(path);
    // A phase with `like` may leave out any key of its behaviour.
    if !required.is_empty() && !matches!(path, [.., Step::Variant(_)]) {
        schema["required"] = json!(required);
    }
    schema
}

/// Returns the keys that a table must have: gives it each key that is found missing, until it is
/// complete.
fn required(path: &[Step]) -> Vec<&'static str> {
    let mut given: Vec<(&'static str, &'static str)> = Vec::new();
    loop {
        match ask(&join(path, Step::Given(given.clone()))) {
            Asked::Missing(key) if given.iter().all(|(known, _)| *known != key) => {
                given.push((key, EXAMPLES[0]));
            }
            Asked::Refused if given.last().is_some_and(|(_, text)| *text == EXAMPLES[0]) => {
                given.last_mut().expect("a last key").1 = EXAMPLES[1];
            }
            _ => return given.into_iter().map(|(key, _)| key).collect(),
        }
    }
}

fn join(path: &[Step], step: Step) -> Vec<Step> {
    [path, &[step]].concat()
}

/// Returns what the model asks for at a path.
fn ask(path: &[Step]) -> Asked {
    match Machine::deserialize(Probe(path.to_vec())) {
        Ok(_) => Asked::Complete,
        Err(asked) => asked,
    }
}

/// A step from a value to one below it.
#[derive(Debug, Clone)]
enum Step {
    /// The value of a key.
    Key(&'static str),
    /// An entry of a list.
    Item,
    /// The value of an enum's variant.
    Variant(&'static str),
    /// One form of a value that has several.
    Form(Form),
    /// A table with exactly these keys and texts.
    Given(Vec<(&'static str, &'static str)>),
    /// A text, or an empty table.
    Example(&'static str),
    /// The number 0.
    Zero,
}

/// A form of a value that has several.
#[derive(Debug, Clone, Copy)]
enum Form {
    Text,
    Flag,
    Count,
    List,
    Table,
}

/// What the model asks for at the end of a path, or says about what it was given.
#[derive(Debug)]
enum Asked {
    Text,
    Flag,
    Count,
    List,
    Map,
    Any,
    Unit,
    Struct(&'static [&'static str]),
    Words(&'static [&'static str]),
    Missing(&'static str),
    WrongType,
    Refused,
    Complete,
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl std::error::Error for Asked {}

impl Error for Asked {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Refused
    }

    fn invalid_type(_: Unexpected<'_>, _: &dyn Expected) -> Self {
        Self::WrongType
    }

    fn unknown_variant(_: &str, variants: &'static [&'static str]) -> Self {
        Self::Words(variants)
    }

    fn unknown_field(_: &str, keys: &'static [&'static str]) -> Self {
        Self::Struct(keys)
    }

    fn missing_field(key: &'static str) -> Self {
        Self::Missing(key)
    }
}

/// Stands in the place of a value, with the path from there.
#[derive(Clone)]
struct Probe(Vec<Step>);

impl Probe {
    /// Asks for a scalar, or gives one.
    fn scalar<'de, V: Visitor<'de>>(self, visitor: V, asked: Asked) -> Result<V::Value, Asked> {
        match self.0.as_slice() {
            [Step::Example(text)] => visitor.visit_borrowed_str(text),
            [Step::Zero] => visitor.visit_u64(0),
            _ => Err(asked),
        }
    }

    /// Asks for a table, or gives one with the keys on the path.
    fn table<'de, V: Visitor<'de>>(self, visitor: V, asked: Asked) -> Result<V::Value, Asked> {
        let keys = match self.0.as_slice() {
            [Step::Key(key), rest @ ..] => vec![(*key, rest.to_vec())],
            [Step::Given(keys)] => {
                let keys = keys
                    .iter()
                    .map(|(key, text)| (*key, vec![Step::Example(text)]));
                keys.collect()
            }
            [Step::Example(_)] => return visitor.visit_map(entries([])),
            _ => return Err(asked),
        };
        visitor.visit_map(entries(keys)).and(Err(Asked::Complete))
    }
}

/// Returns a table with these keys, each with the path below it.
fn entries<'de>(
    keys: impl IntoIterator<Item = (&'static str, Vec<Step>)>,
) -> impl MapAccess<'de, Error = Asked> {
    let entry = |(key, path)| (Probe(vec![Step::Example(key)]), Probe(path));
    MapDeserializer::new(keys.into_iter().map(entry))
}

/// Returns a list of one entry, with the path below it.
fn entry<'de>(path: &[Step]) -> impl SeqAccess<'de, Error = Asked> {
    SeqDeserializer::new(std::iter::once(Probe(path.to_vec())))
}

impl IntoDeserializer<'_, Asked> for Probe {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

impl<'de> Deserializer<'de> for Probe {
    type Error = Asked;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Asked> {
        let [Step::Form(form), rest @ ..] = self.0.as_slice() else {
            return self.scalar(visitor, Asked::Any);
        };
        match (form, rest) {
            (Form::Text, _) => visitor.visit_str("?"),
            (Form::Flag, _) => visitor.visit_bool(true),
            (Form::Count, _) => visitor.visit_u64(1),
            (Form::List, [Step::Item, rest @ ..]) => visitor.visit_seq(entry(rest)),
            (Form::List, _) => visitor.visit_seq(entry(&[])),
            // A key that no table has makes serde list those that it has.
            (Form::Table, []) => visitor.visit_map(entries([("?", Vec::new())])),
            (Form::Table, rest) => Self(rest.to_vec()).table(visitor, Asked::Map),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Asked> {
        self.scalar(visitor, Asked::Flag)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Asked> {
        self.scalar(visitor, Asked::Count)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Asked> {
        self.scalar(visitor, Asked::Text)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Asked> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Asked> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Asked> {
        match self.0.as_slice() {
            [Step::Item, rest @ ..] => visitor.visit_seq(entry(rest)),
            _ => Err(Asked::List),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Asked> {
        self.table(visitor, Asked::Map)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Asked> {
        match keys {
            // A value with its place, which no file has.
            [start, end, value] if start.starts_with("$__serde_spanned") => {
                let zero = vec![Step::Zero];
                visitor.visit_map(entries([
                    (*start, zero.clone()),
                    (end, zero),
                    (value, self.0),
                ]))
            }
            _ => self.table(visitor, Asked::Struct(keys)),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Asked> {
        match self.0.as_slice() {
            [Step::Variant(_), ..] => visitor.visit_enum(self),
            _ => Err(Asked::Words(variants)),
        }
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u8 u16 u32 u128 f32 f64 char str bytes byte_buf unit unit_struct tuple tuple_struct identifier
        ignored_any
    }
}

impl<'de> EnumAccess<'de> for Probe {
    type Error = Asked;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(mut self, seed: V) -> Result<(V::Value, Self), Asked> {
        match self.0.remove(0) {
            Step::Variant(name) => Ok((seed.deserialize(Self(vec![Step::Example(name)]))?, self)),
            _ => Err(Asked::Refused),
        }
    }
}

impl<'de> VariantAccess<'de> for Probe {
    type Error = Asked;

    fn unit_variant(self) -> Result<(), Asked> {
        Err(Asked::Unit)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Asked> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Asked> {
        Err(Asked::Refused)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Asked> {
        self.table(visitor, Asked::Struct(keys))
    }
}
