//! Suggestions for mistyped words: the nearest name.

/// The longest word that is compared, in bytes.
const MAX_WORD_BYTES: usize = 64;

/// Returns the known word that was probably meant, or `None` if none is near enough. Case and `-` or `_` do not matter.
pub fn word<'k>(given: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if given.len() > MAX_WORD_BYTES {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let exact = given;
    let given = plain(given);
    let length = given.chars().count();
    // One slip in a short word, two in one of six letters, three in a long one.
    let most = (length / 3).clamp(1, 3);
    known
        .into_iter()
        .filter(|known| *known != exact && known.len() <= MAX_WORD_BYTES)
        .map(|known| (strsim::damerau_levenshtein(&given, &plain(known)), known))
        .filter(|(distance, known)| *distance <= most && *distance < known.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}

/// Returns the help of an error: the suggestion, then the rest.
pub fn help(near: Option<&str>, otherwise: &str) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`? {otherwise}"),
        None => otherwise.to_owned(),
    }
}

/// "did you mean `x`?", else "there are `x`, `y` and `z`".
pub(super) fn among(given: &str, known: &[&str]) -> String {
    match word(given, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there are {}", list(known)),
    }
}

/// "`a`, `b` and `c`", the first twenty.
pub(super) fn list(names: &[&str]) -> String {
    const MAX_SHOWN: usize = 20;
    let mut quoted: Vec<String> = names
        .iter()
        .take(MAX_SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > MAX_SHOWN {
        quoted.push(format!("{} more", names.len() - MAX_SHOWN));
    }
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
        let known = ["--rounds", "--from-draft", "--plan", "max-failures", "lint"];
        for (given, meant) in [
            ("--ruonds", Some("--rounds")),
            ("--FROM-DRAFT", Some("--from-draft")),
            ("--form-draft", Some("--from-draft")),
            ("Max_Failures", Some("max-failures")),
            ("lnit", Some("lint")),
            ("--verbose", None),
            ("", None),
            ("-", None),
            (&"--rounds".repeat(10_000), None),
        ] {
            assert_eq!(word(given, known), meant, "{given}");
        }
        assert_eq!(word("x", ["a", "b"]), None, "no letter in common");
    }

    #[test]
    fn list_reads_as_sentence_and_ends() {
        assert_eq!(list(&[]), "none");
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
        let many = list(&["x"; 1000]);
        assert!(many.ends_with("`x` and 980 more"), "{many}");
    }
}
