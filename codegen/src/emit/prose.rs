//! A machine's docs as the text of doc comments.
//!
//! They are plain text for people, who see them in help and tables too. In a doc comment a name such as `repo_root` is
//! code, and Markdown would take its underscores for emphasis.

/// Returns a doc as lines of a doc comment, or the name if there is no doc.
pub(super) fn doc_comment(doc: &str, name: &str) -> String {
    let text = match doc.trim() {
        "" => format!("`{name}`"),
        doc => comment(doc),
    };
    let lines = text.lines().map(|line| format!("/// {line}"));
    let lines: Vec<_> = lines.map(|line| line.trim_end().to_owned()).collect();
    lines.join("\n")
}

/// Returns a doc as the text of a doc comment.
fn comment(doc: &str) -> String {
    let mut text = String::with_capacity(doc.len() + 8);
    for line in doc.split_inclusive('\n') {
        let mut line = visible(line);
        if line.matches('`').count() % 2 == 1 {
            // Markdown would look for the partner further down.
            line = line.replace('`', "'");
        }
        for (at, part) in line.split('`').enumerate() {
            if at > 0 {
                text.push('`');
            }
            if at % 2 == 1 {
                text.push_str(part);
            } else {
                part.split_inclusive(char::is_whitespace)
                    .for_each(|word| push_word(&mut text, word));
            }
        }
    }
    text
}

/// Replaces characters that change the direction of reading, which rustc refuses in a comment, by their code points, and
/// other control characters by spaces.
fn visible(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                text.push_str(&format!("U+{:04X}", u32::from(character)));
            }
            _ if character.is_control() && character != '\n' => text.push(' '),
            _ => text.push(character),
        }
    }
    text
}

/// Adds a word, in backticks if it is an identifier such as `repo_root`, `a::b` or `GraphHash`.
fn push_word(text: &mut String, word: &str) {
    let is_start = |c: char| c.is_alphanumeric() || c == '_';
    let start = word.find(is_start).unwrap_or(word.len());
    let (before, rest) = word.split_at(start);
    let end = rest
        .find(|c| !is_start(c) && c != ':')
        .unwrap_or(rest.len());
    let name = rest[..end].trim_end_matches(':');
    let after = &rest[name.len()..];
    let mut pairs = name.chars().zip(name.chars().skip(1));
    let has_hump = pairs.any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    if has_hump || name.contains("::") || name.trim_matches('_').contains('_') {
        text.extend([before, "`", name, "`", after]);
    } else {
        text.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::{comment, doc_comment};

    #[test]
    fn comment_marks_identifiers_and_keeps_the_rest() {
        for (doc, expected) in [
            ("from repo_root: the plan", "from `repo_root`: the plan"),
            ("one\ttwo", "one two"),
            ("`one\n`two`", "'one\n`two`"),
            (
                "(see max_rounds), or `max_rounds`",
                "(see `max_rounds`), or `max_rounds`",
            ),
            ("GraphHash and a::b, é_ü", "`GraphHash` and `a::b`, `é_ü`"),
            ("ISO 8601, UTC: PLAN.md", "ISO 8601, UTC: PLAN.md"),
            ("one ` alone_here", "one ' `alone_here`"),
            ("\u{202e}gnp.exe", "U+202Egnp.exe"),
        ] {
            assert_eq!(comment(doc), expected);
        }
    }

    #[test]
    fn doc_comment_has_slashes_on_each_line() {
        assert_eq!(doc_comment("one\n\ntwo\r\n", "x"), "/// one\n///\n/// two");
        assert_eq!(doc_comment(" ", "x"), "/// `x`");
    }
}
