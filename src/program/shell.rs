//! Text for a POSIX shell.

use std::fmt::Write as _;

use crate::text;

/// Returns a text as one word of a shell, which names exactly that text.
///
/// Text that cannot be shown as it is (see [`text::shown`]) is written as `$'…'` with escapes, which bash, zsh and ksh read, so
/// that a command can be printed and pasted.
pub fn quote(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+:@%".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    if text.contains('\n') || text::plain(text) != text {
        let mut word = String::from("$'");
        for byte in text.bytes() {
            if plain(byte) {
                word.push(char::from(byte))
            } else {
                let _ = write!(word, "\\{byte:03o}");
            }
        }
        return word + "'";
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::quote;

    #[test]
    fn quoted_path_is_one_shell_word() {
        assert_eq!(quote("/a/b-c.sh"), "/a/b-c.sh");
        assert_eq!(quote("/a b"), "'/a b'");
        assert_eq!(quote("it's $(x)`y`"), r"'it'\''s $(x)`y`'");
        assert_eq!(quote(""), "''");
        assert_eq!(quote("naïve"), "'naïve'");
    }
}
