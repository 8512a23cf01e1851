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
        match (same.next(), same.next()) {
            (Some(one), None) => return Some(one),
            (Some(_), Some(_)) => return None,
            _ => {}
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
    const SHOWN: usize = 20;
    let mut quoted: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|name| format!("`{name}`"))
        .collect();
    if names.len() > SHOWN {
        quoted.push(format!("{} more", names.len() - SHOWN));
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

    const FLAGS: [&str; 4] = ["--rounds", "--from-draft", "--continue", "--plan"];
    const IDS: [&str; 3] = [
        "20261122-005333-0a1b2c",
        "20261122-005401-ffee00",
        "20261123-101112-123456",
    ];

    #[test]
    fn a_slip_finds_the_word_and_another_word_finds_none() {
        for (given, meant) in [
            ("--round", Some("--rounds")),
            ("--ruonds", Some("--rounds")),
            ("--FROM-DRAFT", Some("--from-draft")),
            ("--form-draft", Some("--from-draft")),
            ("--contniue", Some("--continue")),
            ("--verbose", None),
            ("", None),
            ("-", None),
        ] {
            assert_eq!(word(given, FLAGS), meant, "{given}");
        }
        assert_eq!(word("lnit", ["lint", "codex", "claude"]), Some("lint"));
        assert_eq!(
            word("x", ["a", "b"]),
            None,
            "a word with no letter in common is another word"
        );
    }

    #[test]
    fn an_id_is_found_by_its_beginning_its_end_and_in_spite_of_a_slip() {
        for (given, meant) in [
            ("20261123", Some(IDS[2])),
            ("20261122-0053", Some(IDS[0])),
            ("0a1b2c", Some(IDS[0])),
            (" 0A1B2C ", Some(IDS[0])),
            ("20261122-005333-0a1b2d", Some(IDS[0])),
            ("20261122", None),
            ("2026", None),
            ("202", None),
            ("../../etc/passwd", None),
        ] {
            assert_eq!(id(given, IDS), meant, "{given}");
        }
        assert_eq!(id("20261122-005333-0a1b2c", []), None);
    }

    #[test]
    fn a_help_names_what_was_meant_first() {
        assert_eq!(
            help(Some("--rounds"), "flags: x"),
            "did you mean `--rounds`? flags: x"
        );
        assert_eq!(help(None, "flags: x"), "flags: x");
    }

    #[test]
    fn a_slip_of_the_pen_finds_its_name_and_another_word_does_not() {
        let known = ["idle-timeout", "timeout", "max-failures", "program"];
        let nearest = |given| word(given, known);
        assert_eq!(nearest("timeuot"), Some("timeout"));
        assert_eq!(nearest("idle_timeout"), Some("idle-timeout"));
        assert_eq!(nearest("Max_Failures"), Some("max-failures"));
        assert_eq!(nearest("progam"), Some("program"));
        assert_eq!(nearest("colour"), None);
        assert_eq!(nearest(""), None);
        assert_eq!(nearest(&"timeout".repeat(10_000)), None);
    }

    #[test]
    fn lists_read_as_a_sentence_and_end() {
        assert_eq!(list(&[]), "none");
        assert_eq!(list(&["a"]), "`a`");
        assert_eq!(list(&["a", "b", "c"]), "`a`, `b` and `c`");
        let many = vec!["x"; 1000];
        assert!(list(&many).ends_with("`x` and 980 more"), "{}", list(&many));
    }
}
