//! Text for a POSIX shell.

use crate::text::is_hidden;

/// Quotes a text as one word of a shell. No path has the NUL that a shell cannot take.
pub fn quote(text: &str) -> String {
    shlex::try_quote(text).unwrap_or_default().into_owned()
}

/// Quotes a path in a command to copy. Its hidden characters are spelled out for Bash and Zsh.
pub fn quote_visibly(path: impl AsRef<str>) -> String {
    let path = path.as_ref();
    if !path.chars().any(is_hidden) {
        return quote(path);
    }
    let mut word = String::from("$'");
    for character in path.chars() {
        let mut bytes = [0; 4];
        match character {
            '\'' | '\\' => word.extend(['\\', character]),
            _ if is_hidden(character) => {
                let bytes = character.encode_utf8(&mut bytes).bytes();
                word.extend(bytes.map(|byte| format!("\\{byte:03o}")));
            }
            _ => word.push(character),
        }
    }
    word + "'"
}

#[cfg(test)]
mod tests {
    use super::{quote, quote_visibly};

    #[test]
    fn quoted_path_is_one_shell_word() {
        for path in ["/a/b-c.sh", "/a b", "it's $(x)`y`", "", "naïve", "a\nb!"] {
            assert_eq!(shlex::split(&quote(path)).unwrap(), [path]);
        }
        assert_eq!(quote_visibly("/a b"), "'/a b'");
        let hidden = "/a\tb\n\u{202e} it's \\ $(x)`y`";
        let script = format!("printf %s {}", quote_visibly(hidden));
        let bash = std::process::Command::new("bash")
            .args(["-c", &script])
            .output();
        assert_eq!(String::from_utf8(bash.unwrap().stdout).unwrap(), hidden);
    }
}
