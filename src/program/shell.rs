//! Text for a POSIX shell.

/// Quotes a text as one word of a shell. In a message, pass [`text::exact`](crate::text::exact) of
/// a path. No path has the NUL that a shell cannot take.
pub fn quote(text: &str) -> String {
    shlex::try_quote(text).unwrap_or_default().into_owned()
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quoted_path_is_one_shell_word() {
        for path in ["/a/b-c.sh", "/a b", "it's $(x)`y`", "", "naïve", "a\nb!"] {
            assert_eq!(shlex::split(&quote(path)).unwrap(), [path]);
        }
    }
}
