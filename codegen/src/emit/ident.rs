//! Names of `machine.toml` as Rust identifiers.
//!
//! Phases, transitions, fields and modes are `snake_case` in the file; types are `UpperCamel`. Words of a `one_of` may
//! have hyphens. A Rust keyword becomes a raw identifier.

use crate::model::Argument;

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
pub(crate) const TYPES: [&str; 20] = [
    "Loop",
    "AnyLoop",
    "Phase",
    "Transition",
    "OnStop",
    "Verb",
    "Start",
    "Mode",
    "Fields",
    "InPhase",
    "FromHeld",
    "PhaseIter",
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

/// Returns the name of the enum of an argument's words: `ReportNext` for `next` of `report`.
pub(super) fn type_of_argument(transition: &str, argument: &Argument) -> String {
    camel(transition) + &camel(&argument.name.value)
}

/// Returns the identifier of a type or a variant.
pub(super) fn type_of(name: &str) -> String {
    ident(camel(name))
}

/// Returns the identifier of a method, a field or a module.
pub(super) fn value_of(name: &str) -> String {
    ident(name.replace('-', "_"))
}

/// Returns the identifier of a static, in `UPPER_CASE`.
pub(super) fn constant_of(name: &str) -> String {
    ident(name.replace('-', "_").to_uppercase())
}

/// Returns the name of a verb of the command line.
pub(super) fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

/// Returns whether serde and strum make this name of its variant again: none of its parts is a number or a single letter.
pub(super) fn is_regular(name: &str) -> bool {
    let is_regular =
        |part: &str| part.len() > 1 && part.bytes().all(|byte| byte.is_ascii_lowercase());
    name.split(['_', '-']).all(is_regular)
}

/// The keywords of Rust that a name of a machine can be.
const WORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

fn ident(text: String) -> String {
    if WORDS.contains(&text.as_str()) {
        format!("r#{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_the_identifiers_that_a_rust_reader_expects() {
        assert_eq!(type_of("mark_done"), "MarkDone");
        assert_eq!(type_of("no-material-findings"), "NoMaterialFindings");
        assert_eq!(type_of("2fast"), "N2fast");
        assert_eq!(value_of("max-reached"), "max_reached");
        assert_eq!(constant_of("mark_done"), "MARK_DONE");
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
        assert_eq!(value_of("loop"), "r#loop");
        assert_eq!(value_of("await"), "r#await");
        assert_eq!(value_of("gen"), "r#gen");
        // syn knows those of its edition; `gen` came later.
        for word in WORDS {
            assert!(
                word == "gen" || syn::parse_str::<syn::Ident>(word).is_err(),
                "{word}"
            );
        }
    }
}
