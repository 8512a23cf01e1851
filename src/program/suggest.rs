//! Suggestions for mistyped words: the nearest known one.

use crate::text;

/// The longest word that is compared, in characters.
const MAX_WORD_CHARS: usize = 64;

/// The least similarity of two words, from 0 to 1, for which one suggests the other.
const MIN_SIMILARITY: f64 = 0.6;

/// "did you mean `x`?", else "there are `x`, `y` and `z`".
pub(super) fn among(mistyped: &str, known: &[&str]) -> String {
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let word = plain(&text::one_line(mistyped, MAX_WORD_CHARS));
    let near = known
        .iter()
        .map(|name| {
            let similarity = strsim::normalized_damerau_levenshtein(&word, &plain(name));
            (similarity, name)
        })
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|(one, _), (other, _)| one.total_cmp(other));
    match near {
        Some((_, name)) => format!("did you mean `{name}`?"),
        None => format!("there are {}", list(known)),
    }
}

/// "`a`, `b` and `c`".
pub(super) fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        None => "none".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistyped_word_finds_nearest_name() {
        let known = ["rounds", "from-draft", "max-failures", "lint"];
        for (mistyped, meant) in [
            ("ruonds", "did you mean `rounds`?"),
            ("FORM_DRAFT", "did you mean `from-draft`?"),
            (" Max_Failures", "did you mean `max-failures`?"),
            ("lnit", "did you mean `lint`?"),
        ] {
            assert_eq!(among(mistyped, &known), meant);
        }
        for unknown in ["zzz", "", &"rounds".repeat(10_000)] {
            let all = "there are `rounds`, `from-draft`, `max-failures` and `lint`";
            assert_eq!(among(unknown, &known), all);
        }
    }

    #[test]
    fn list_reads_as_sentence() {
        assert_eq!(list(&[]), "none");
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
