//! Rust identifiers from the names of `machine.toml`.
//!
//! Phases, transitions, fields and modes are `snake_case` in the file; types are `UpperCamel`.
//! Words of a `one_of` may have hyphens. A Rust keyword becomes a raw identifier.

use heck::ToUpperCamelCase;

use crate::model::FieldKind;

/// The keywords of Rust that a name of a machine can be.
const KEYWORDS: &str = include_str!("keywords.txt");

pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.split_whitespace().any(|word| word == name)
}

/// Returns `mark_done` or `no-material-findings` as `MarkDone` or `NoMaterialFindings`.
pub(crate) fn camel(name: &str) -> String {
    let mut text = name.to_upper_camel_case();
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        text.insert(0, 'N');
    }
    text
}

/// Returns the type of a kind. `words` is the name of its enum if it has words.
pub(crate) fn type_of_kind(kind: &FieldKind, words: String) -> String {
    match kind {
        FieldKind::Count => "u64".to_owned(),
        FieldKind::Flag => "bool".to_owned(),
        FieldKind::Text | FieldKind::Path | FieldKind::Engine(_) => "String".to_owned(),
        FieldKind::OneOf(_) => words,
        FieldKind::Data(name) => format!("super::{name}"),
    }
}

/// Returns the identifier of a method, a field or a module.
pub(super) fn value_of(name: &str) -> String {
    let text = name.replace('-', "_");
    if is_keyword(&text) {
        format!("r#{text}")
    } else {
        text
    }
}

/// Returns whether serde derives this name from its variant: no part is a number or one letter.
pub(super) fn is_regular(name: &str) -> bool {
    let is_regular =
        |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    name.split(['_', '-']).all(is_regular)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_becomes_rust_identifier() {
        assert_eq!(camel("mark_done"), "MarkDone");
        assert_eq!(camel("no-material-findings"), "NoMaterialFindings");
        assert_eq!(camel("2fast"), "N2fast");
        assert_eq!(value_of("max-reached"), "max_reached");
    }

    #[test]
    fn keyword_becomes_raw_identifier() {
        assert_eq!(value_of("loop"), "r#loop");
        assert_eq!(value_of("await"), "r#await");
        assert_eq!(value_of("gen"), "r#gen");
        // syn knows those of its edition; `gen` came later.
        for word in KEYWORDS.split_whitespace() {
            assert!(
                word == "gen" || syn::parse_str::<syn::Ident>(word).is_err(),
                "{word}"
            );
        }
    }
}
