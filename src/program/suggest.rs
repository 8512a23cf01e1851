//! Suggestions for mistyped words: the nearest name, or the loop whose id begins or ends so.

/// The fewest characters of an id that suggest one.
const MIN_ID_CHARS: usize = 4;

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

/// Returns the only id that begins or ends with a text, or else the nearest one, or `None` if several fit.
pub fn id<'k>(given: &str, known: impl IntoIterator<Item = &'k str> + Clone) -> Option<&'k str> {
    let given = given.trim().to_lowercase();
    if given.chars().count() >= MIN_ID_CHARS {
        let mut same = known
            .clone()
            .into_iter()
            .filter(|known| known.starts_with(&given) || known.ends_with(&given));
        if let Some(one) = same.next() {
            return same.next().is_none().then_some(one);
        }
    }
    word(&given, known)
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

    const IDS: [&str; 3] = [
        "20261122-005333-0a1b2c",
        "20261122-005401-ffee00",
        "20261123-101112-123456",
    ];

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
    fn part_of_one_id_finds_it() {
        for (given, meant) in [
            ("20261123", Some(IDS[2])),
            ("20261122-0053", Some(IDS[0])),
            (" 0A1B2C ", Some(IDS[0])),
            ("20261122-005333-0a1b2d", Some(IDS[0])),
            ("20261122", None),
            ("202", None),
            ("../../etc/passwd", None),
        ] {
            assert_eq!(id(given, IDS), meant, "{given}");
        }
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
