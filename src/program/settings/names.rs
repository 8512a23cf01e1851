//! Names of reviewers and personas: what one may be, and which are taken.

use crate::text;

/// What every reviewer's name may not be: it already means "whichever is there".
pub(super) const AUTO: &str = "auto";
/// The reviewers' names that are taken.
pub(super) const RESERVED: &[&str] = &[AUTO];
/// The longest name, in bytes.
const LONGEST: usize = 64;

/// What is wrong with a name, and what to do.
pub(super) fn problem(name: &str, reserved: &[&str]) -> Option<(String, &'static str)> {
    let shown = text::one_line(name, 60);
    if reserved.contains(&name) {
        return Some((
            format!("the name `{shown}` is reserved"),
            "`auto` means whichever reviewer is there; give yours another name",
        ));
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    let fits = name.len() <= LONGEST
        && name.bytes().all(inner)
        && name
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric());
    (!fits).then(|| {
        (
            format!("`{shown}` cannot be a name"),
            "a name is a letter or digit, then letters, digits, `-`, `_` and `.`, 64 characters at most",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_words() {
        for good in ["a", "codex-strict", "My_Reviewer.2", "0", &"x".repeat(64)] {
            assert_eq!(problem(good, RESERVED), None, "{good}");
        }
        for bad in [
            "",
            "-x",
            ".x",
            "a b",
            "a/b",
            "é",
            "a\n",
            "a\u{202e}b",
            "a\0",
            "lint (auto)",
            &"x".repeat(65),
        ] {
            let (what, _) = problem(bad, RESERVED).expect(bad);
            assert!(what.ends_with("cannot be a name"), "{what}");
            assert_eq!(text::plain(&what), what);
        }
        let (what, _) = problem("auto", RESERVED).expect("it is taken");
        assert!(what.ends_with("is reserved"), "{what}");
        assert_eq!(problem("auto", &[]), None);
    }
}
