//! Names of `machine.toml` as Rust identifiers.
//!
//! Phases, transitions, fields and modes are `snake_case` in the file; types are `UpperCamel`. Words of a `one_of` may
//! have hyphens. A Rust keyword becomes a raw identifier.

use proc_macro2::{Ident, Span};

/// `no-material-findings` or `mark_done` as `NoMaterialFindings`, `MarkDone`.
pub(crate) fn camel(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    let mut upper = true;
    for character in name.chars() {
        if character == '_' || character == '-' {
            upper = true;
        } else if upper {
            text.extend(character.to_uppercase());
            upper = false;
        } else {
            text.push(character);
        }
    }
    if text.starts_with(|first: char| first.is_ascii_digit()) {
        text.insert(0, 'N');
    }
    text
}

/// Types that every generated module has, and those of Rust that it, or what derives its traits, names without their path.
pub(crate) const TYPES: [&str; 22] = [
    "Loop",
    "AnyLoop",
    "Phase",
    "Transition",
    "OnStop",
    "Verb",
    "Start",
    "Mode",
    "Fields",
    "FieldsIn",
    "InPhase",
    "FromRaw",
    "PhaseIter",
    "TransitionIter",
    "ModeIter",
    "String",
    "Option",
    "Vec",
    "Result",
    "From",
    "Into",
    "Iterator",
];

/// The type of the words of a `one_of` field: as the field is named, with `Word` behind where every module has a type of that name.
pub(crate) fn type_of_words(field: &str) -> String {
    let name = camel(field);
    if TYPES.contains(&name.as_str()) {
        name + "Word"
    } else {
        name
    }
}

/// The type's identifier.
pub(super) fn type_of(name: &str) -> Ident {
    ident(&camel(name))
}

/// The method's, field's or module's identifier.
pub(super) fn value_of(name: &str) -> Ident {
    ident(&name.replace('-', "_"))
}

/// `UPPER_CASE` for a const.
pub(super) fn constant_of(name: &str) -> Ident {
    ident(&name.replace('-', "_").to_uppercase())
}

/// The verb of the command line.
pub(super) fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

/// The words of Rust, kept and reserved, that a name of a machine can be spelt like. Asking syn takes longer than everything
/// else that is done to a name.
const WORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

fn ident(text: &str) -> Ident {
    if WORDS.contains(&text) {
        Ident::new_raw(text, Span::call_site())
    } else {
        Ident::new(text, Span::call_site())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_identifiers_that_a_rust_reader_expects() {
        assert_eq!(type_of("mark_done").to_string(), "MarkDone");
        assert_eq!(
            type_of("no-material-findings").to_string(),
            "NoMaterialFindings"
        );
        assert_eq!(type_of("2fast").to_string(), "N2fast");
        assert_eq!(value_of("max-reached").to_string(), "max_reached");
        assert_eq!(constant_of("mark_done").to_string(), "MARK_DONE");
        assert_eq!(kebab("mark_done"), "mark-done");
        for (field, kind) in [
            ("color", "Color"),
            ("phase", "PhaseWord"),
            ("any_loop", "AnyLoopWord"),
            ("mode_iter", "ModeIterWord"),
            ("phase_word", "PhaseWord"),
        ] {
            assert_eq!(type_of_words(field), kind);
        }
    }

    #[test]
    fn a_keyword_becomes_a_raw_identifier() {
        assert_eq!(value_of("loop").to_string(), "r#loop");
        assert_eq!(value_of("await").to_string(), "r#await");
        assert_eq!(value_of("gen").to_string(), "r#gen");
        // syn knows those of its edition; `gen` came later.
        for word in WORDS {
            assert!(
                word == "gen" || syn::parse_str::<Ident>(word).is_err(),
                "{word}"
            );
        }
    }
}
