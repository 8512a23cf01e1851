//! Suggestions for mistyped words: the nearest known one.

/// The longest word that is compared, in bytes.
const MAX_WORD_BYTES: usize = 64;

/// The least similarity of two words, from 0 to 1, for which one suggests the other.
const MIN_SIMILARITY: f64 = 0.6;

/// The fewest bytes of a part that suggests the whole, such as the end of an id.
const MIN_PART_BYTES: usize = 4;

/// Returns the known word that was probably meant, or `None` if none is near enough.
pub fn word<'k>(mistyped: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let plain = |text: &str| text.trim().to_lowercase().replace('_', "-");
    let word = plain(mistyped);
    known
        .into_iter()
        .filter(|known| *known != mistyped && word.len() <= MAX_WORD_BYTES)
        .map(|known| {
            let whole = plain(known);
            let is_part = word.len() >= MIN_PART_BYTES && whole.contains(&word);
            let similarity = strsim::normalized_damerau_levenshtein(&word, &whole);
            (if is_part { 1.0 } else { similarity }, known)
        })
        .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
        .max_by(|(one, _), (other, _)| one.total_cmp(other))
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
pub(super) fn among(mistyped: &str, known: &[&str]) -> String {
    match word(mistyped, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
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

    const IDS: [&str; 3] = [
        "20261122-005333-0a1b2c",
        "20261122-005401-ffee00",
        "20261123-101112-123456",
    ];

    #[test]
    fn mistyped_word_finds_nearest_name() {
        let known = ["--rounds", "--from-draft", "--plan", "max-failures", "lint"];
        for (mistyped, meant) in [
            ("--ruonds", Some("--rounds")),
            ("--FROM-DRAFT", Some("--from-draft")),
            ("--form-draft", Some("--from-draft")),
            ("Max_Failures", Some("max-failures")),
            ("lnit", Some("lint")),
            ("zzz", None),
            ("", None),
            (&"--rounds".repeat(10_000), None),
        ] {
            assert_eq!(word(mistyped, known), meant, "{mistyped}");
        }
        for (mistyped, meant) in [
            ("20261123", Some(IDS[2])),
            (" 0A1B2C ", Some(IDS[0])),
            ("20261122-005333-0a1b2d", Some(IDS[0])),
            ("../../etc/passwd", None),
        ] {
            assert_eq!(word(mistyped, IDS), meant, "{mistyped}");
        }
    }

    #[test]
    fn list_reads_as_sentence() {
        assert_eq!(list(&[]), "none");
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
    }
}
