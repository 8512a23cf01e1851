//! The known name that a misspelt one is nearest to, and lists of names for messages.

/// Longer words are not names that someone misspelt, and comparing them takes time.
const LONGEST: usize = 64;

/// The name that this word is nearly: the same but for case, hyphens and underscores, or a letter in three away.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > LONGEST {
        return None;
    }
    let plain = |text: &str| text.to_lowercase().replace('_', "-");
    let far = |name: &str| {
        if plain(word) == plain(name) {
            0
        } else {
            strsim::osa_distance(word, name)
        }
    };
    let allowed = word.chars().count().max(3) / 3;
    known
        .into_iter()
        .filter(|name| name.len() <= LONGEST)
        .map(|name| (far(name), name))
        .filter(|(far, _)| *far <= allowed)
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// "did you mean `x`?", else "there are `x`, `y` and `z`".
pub(super) fn help(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("there are {}", list(known)),
    }
}

/// The same, and what else there is to say.
pub(super) fn help_and(word: &str, known: &[&str], more: &str) -> String {
    let help = help(word, known);
    let mark = if help.ends_with('?') { "" } else { ";" };
    format!("{help}{mark} {more}")
}

/// "`a`, `b` and `c`", the first twenty.
pub(super) fn list(names: &[&str]) -> String {
    const SHOWN: usize = 20;
    let mut quoted: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
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

    #[test]
    fn a_slip_of_the_pen_finds_its_name_and_another_word_does_not() {
        let known = ["idle-timeout", "timeout", "max-failures", "program"];
        let nearest = |word| nearest(word, known);
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
