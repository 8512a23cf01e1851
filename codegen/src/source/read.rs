//! Reading one value at a time: what type it has, which keys a table knows, and which characters a name may have.
//!
//! Knows TOML values and spans, and nothing of machines. Whatever is wrong is noted and reading goes on.

use std::collections::HashSet;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

use crate::diagnostic::{self, Diagnostic};
use crate::format;
use crate::model::{At, Constant};

/// A key as the TOML tree has it.
pub(super) type Key<'t> = &'t Spanned<DeString<'t>>;
/// A value as the TOML tree has it.
pub(super) type Value<'t> = &'t Spanned<DeValue<'t>>;

/// The source and what was found in it so far.
pub(super) struct Reader<'s> {
    pub(super) source: &'s str,
    pub(super) found: Vec<Diagnostic>,
}

/// The entries of a table in the order of the file.
pub(super) struct Keys<'t> {
    entries: Vec<(Key<'t>, Value<'t>)>,
}

impl<'t> Keys<'t> {
    pub(super) fn get(&self, name: &str) -> Option<(Key<'t>, Value<'t>)> {
        self.entries
            .iter()
            .copied()
            .find(|(key, _)| key.get_ref() == name)
    }

    pub(super) fn value(&self, name: &str) -> Option<Value<'t>> {
        self.get(name).map(|(_, value)| value)
    }
}

/// The entries of a table in the order of the file; the tree itself sorts them by name.
pub(super) fn in_order<'t>(table: &'t DeTable<'t>) -> Vec<(Key<'t>, Value<'t>)> {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    entries
}

/// "a string", "a table" and so on, for messages.
pub(super) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "an array",
        DeValue::Table(_) => "a table",
    }
}

impl Reader<'_> {
    /// Notes a finding.
    pub(super) fn note(&mut self, found: Diagnostic) {
        self.found.push(found);
    }

    /// The entries of a table; keys that it does not know are noted. `what` is what the table is, for the message.
    pub(super) fn keys<'t>(
        &mut self,
        table: &'t DeTable<'t>,
        what: &str,
        known: &[&str],
    ) -> Keys<'t> {
        let entries = in_order(table);
        for (key, _) in &entries {
            if !known.contains(&key.get_ref().as_ref()) {
                let message = format!("unknown key `{}` in {what}", key.get_ref());
                let found = Diagnostic::new("claudex::machine::unknown_key", key.span(), message);
                let help = diagnostic::suggest(key.get_ref(), known.iter().copied());
                let help =
                    help.unwrap_or_else(|| format!("{what} takes {}", diagnostic::list(known)));
                self.note(found.help(help));
            }
        }
        Keys { entries }
    }

    /// The entries of a table of the format.
    pub(super) fn known<'t>(&mut self, table: &'t DeTable<'t>, known: &format::Table) -> Keys<'t> {
        self.keys(table, known.what, known.keys)
    }

    /// Notes that a key has to be there and is not.
    pub(super) fn missing(&mut self, span: Range<usize>, key: &str, what: &str, example: &str) {
        let message = format!("{what} has no `{key}`");
        let found = Diagnostic::new("claudex::machine::missing_key", span, message);
        self.note(found.help(format!("add `{example}`")));
    }

    /// Notes a value of another type than the key takes.
    pub(super) fn wrong_type(&mut self, key: &str, value: Value<'_>, wanted: &str) {
        self.wrong_type_with(key, value, wanted, None);
    }

    /// The same, with how it is written.
    pub(super) fn wrong_type_with(
        &mut self,
        key: &str,
        value: Value<'_>,
        wanted: &str,
        help: Option<String>,
    ) {
        let message = format!("`{key}` takes {wanted}, not {}", kind_of(value.get_ref()));
        let found = Diagnostic::new("claudex::machine::wrong_type", value.span(), message);
        self.note(match help {
            Some(help) => found.help(help),
            None => found,
        });
    }

    pub(super) fn table<'t>(&mut self, key: &str, value: Value<'t>) -> Option<&'t DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.wrong_type(key, value, "a table");
        }
        table
    }

    pub(super) fn string(&mut self, key: &str, value: Value<'_>) -> Option<At<String>> {
        match value.get_ref() {
            DeValue::String(text) => Some(At::new(text.clone().into_owned(), value.span())),
            _ => {
                self.wrong_type(key, value, "a string");
                None
            }
        }
    }

    /// A whole number from 0; noted where it is none.
    pub(super) fn count(&mut self, key: &str, value: Value<'_>) -> Option<At<u64>> {
        if !matches!(value.get_ref(), DeValue::Integer(_)) {
            self.wrong_type(key, value, "a whole number");
            return None;
        }
        let constant = self.constant(key, value)?;
        match constant.value {
            Constant::Count(count) => Some(At::new(count, constant.span)),
            _ => None,
        }
    }

    /// A text for people that may be absent.
    pub(super) fn doc(&mut self, keys: &Keys<'_>) -> String {
        let doc = keys
            .value("doc")
            .and_then(|value| self.string("doc", value));
        doc.map(|doc| doc.value).unwrap_or_default()
    }

    /// A string, or a list of at least one, none of them twice.
    pub(super) fn strings(&mut self, key: &str, value: Value<'_>) -> Vec<At<String>> {
        let DeValue::Array(items) = value.get_ref() else {
            if !matches!(value.get_ref(), DeValue::String(_)) {
                self.wrong_type(key, value, "a string or a list of strings");
                return Vec::new();
            }
            return self.string(key, value).into_iter().collect();
        };
        if items.is_empty() {
            let found = Diagnostic::new(
                "claudex::machine::empty_list",
                value.span(),
                format!("`{key}` is an empty list"),
            );
            self.note(found.help("name something, or leave the key out"));
        }
        let mut seen = HashSet::new();
        let mut strings = Vec::new();
        for item in items.iter() {
            let Some(text) = self.string(key, item) else {
                continue;
            };
            if seen.insert(text.value.clone()) {
                strings.push(text);
            } else {
                let message = format!("`{}` stands in `{key}` twice", text.value);
                let found = Diagnostic::new("claudex::machine::named_twice", text.span, message);
                self.note(found.help("leave one of them out"));
            }
        }
        strings
    }

    /// A whole number from 0, a string, or true and false.
    pub(super) fn constant(&mut self, key: &str, value: Value<'_>) -> Option<At<Constant>> {
        let constant = match value.get_ref() {
            DeValue::String(text) => Constant::Text(text.clone().into_owned()),
            DeValue::Boolean(flag) => Constant::Flag(*flag),
            DeValue::Integer(number) => {
                match i64::from_str_radix(number.as_str(), number.radix()) {
                    Ok(number) if number >= 0 => Constant::Count(number.unsigned_abs()),
                    _ => {
                        let message = format!("`{key}` cannot be {}", number.as_str());
                        let found =
                            Diagnostic::new("claudex::machine::number", value.span(), message);
                        self.note(
                            found.help(format!("a count is a whole number from 0 to {}", i64::MAX)),
                        );
                        return None;
                    }
                }
            }
            _ => {
                self.wrong_type(key, value, "a whole number, a string, or true or false");
                return None;
            }
        };
        Some(At::new(constant, value.span()))
    }

    /// One of some words, each standing for something.
    pub(super) fn choice<T: Clone>(
        &mut self,
        key: &str,
        text: &At<String>,
        words: &[(&str, T)],
    ) -> Option<At<T>> {
        if let Some((_, meaning)) = words.iter().find(|(word, _)| *word == text.value) {
            return Some(At::new(meaning.clone(), text.span.clone()));
        }
        let message = format!("`{key}` cannot be {:?}", text.value);
        let found = Diagnostic::new("claudex::machine::unknown_word", text.span.clone(), message);
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let help = diagnostic::suggest(&text.value, known.iter().copied());
        self.note(
            found
                .help(help.unwrap_or_else(|| format!("it is one of {}", diagnostic::list(&known)))),
        );
        None
    }

    /// A name as written, noted if it is none ([`is_name`]).
    pub(super) fn name(&mut self, what: &str, name: At<String>) -> At<String> {
        if !is_name(&name.value) {
            let message = format!("{:?} cannot name {what}", name.value);
            let found = Diagnostic::new("claudex::machine::bad_name", name.span.clone(), message);
            let mended = mend_name(&name.value);
            let help = if has_letters_of_names(&name.value) {
                "in a name each _ stands alone between letters or digits"
            } else {
                "a name is a-z, then a-z, 0-9 and _, at most 64 characters"
            };
            let tried = mended.map(|mended| format!("{help}: `{mended}`"));
            self.note(found.help(tried.unwrap_or_else(|| help.to_owned())));
        }
        name
    }

    /// A relative path without control characters, noted if it is not.
    pub(super) fn relative(&mut self, key: &str, path: At<String>, may_leave: bool) -> At<String> {
        let text = &path.value;
        let absolute = text.starts_with(['/', '\\']) || text.as_bytes().get(1) == Some(&b':');
        let leaves = !may_leave && text.split(['/', '\\']).any(|part| part == "..");
        if text.is_empty() || absolute || leaves || text.chars().any(char::is_control) {
            let message = format!("`{key}` cannot be {text:?}");
            let found = Diagnostic::new("claudex::machine::bad_path", path.span.clone(), message);
            let inside = if may_leave { "" } else { " without .." };
            self.note(found.help(format!(
                "it is a relative path{inside}, with / between its parts"
            )));
        }
        path
    }

    /// Where a byte of a string's value stands in the source. Falls back on the whole string where escapes make it
    /// impossible to say.
    pub(super) fn inside(&self, text: &At<String>, part: Range<usize>) -> Range<usize> {
        let raw = &self.source[text.span.clone()];
        let (quote, long) = match raw.as_bytes() {
            [b'"', b'"', b'"', ..] | [b'\'', b'\'', b'\'', ..] => (3, true),
            _ => (1, false),
        };
        let newline = match raw.as_bytes().get(quote..).unwrap_or_default() {
            [b'\r', b'\n', ..] if long => 2,
            [b'\n', ..] if long => 1,
            _ => 0,
        };
        let begin = quote + newline;
        let Some(inner) = raw.get(begin..raw.len().saturating_sub(quote)) else {
            return text.span.clone();
        };
        let escapes = raw.starts_with('"') && inner.contains('\\');
        if inner.len() == text.value.len() && !escapes {
            let start = text.span.start + begin;
            return start + part.start..start + part.end;
        }
        let Some(places) = unescaped(inner).filter(|places| places.len() == text.value.len() + 1)
        else {
            return text.span.clone();
        };
        let place =
            |at: usize| text.span.start + begin + places.get(at).copied().unwrap_or(inner.len());
        place(part.start)..place(part.end)
    }
}

/// For every byte of the value of a basic string: where its character begins in the raw text; one more for the end.
/// None where the string holds something that is not followed here (the escape for a line's end).
fn unescaped(inner: &str) -> Option<Vec<usize>> {
    let mut places = Vec::with_capacity(inner.len() + 1);
    let mut rest = inner.char_indices();
    while let Some((at, character)) = rest.next() {
        let meant = if character != '\\' {
            character
        } else {
            let digits = match rest.next()?.1 {
                'x' => 2,
                'u' => 4,
                'U' => 8,
                'b' | 't' | 'n' | 'f' | 'r' | 'e' | '"' | '\\' => 0,
                _ => return None,
            };
            let code: String = rest.by_ref().take(digits).map(|(_, digit)| digit).collect();
            if digits == 0 {
                '\\'
            } else {
                char::from_u32(u32::from_str_radix(&code, 16).ok()?)?
            }
        };
        places.extend(std::iter::repeat_n(at, meant.len_utf8()));
    }
    places.push(inner.len());
    Some(places)
}

/// Whether it is `[a-z][a-z0-9]*(_[a-z0-9]+)*` of at most 64 characters. `self_` would be the type `Self`, and rustc and
/// people take `a__b` for a slip.
pub(super) fn is_name(text: &str) -> bool {
    has_letters_of_names(text) && !text.contains("__") && !text.ends_with('_')
}

/// Whether it is `[a-z][a-z0-9_]*` of at most 64 characters.
fn has_letters_of_names(text: &str) -> bool {
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    text.len() <= 64 && text.starts_with(|c: char| c.is_ascii_lowercase()) && text.bytes().all(rest)
}

/// The name that was probably meant: `MarkDone` and `mark-done` are `mark_done`.
fn mend_name(text: &str) -> Option<String> {
    let mut name = String::new();
    for (at, character) in text.chars().take(65).enumerate() {
        if character.is_ascii_uppercase() && at > 0 && !name.ends_with('_') {
            name.push('_');
        }
        if character.is_ascii_alphanumeric() {
            name.push(character.to_ascii_lowercase());
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_').to_owned();
    is_name(&name).then_some(name)
}
