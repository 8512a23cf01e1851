//! What a message says of a name that is none: the near one, or a list of those that are.

use crate::program::near;

/// "did you mean `x`?", else "there are `x`, `y` and `z`".
pub(super) fn help(word: &str, known: &[&str]) -> String {
    match near::word(word, known.iter().copied()) {
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
        let nearest = |word| near::word(word, known);
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
