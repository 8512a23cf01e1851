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

/// Returns the doc of an argument as an entry of a list in a doc comment.
pub(super) fn list_item(doc: &str, name: &str) -> String {
    doc_comment(&format!("- `{name}`: {}", doc.trim()), name)
}

/// Returns a doc as the text of a doc comment.
fn comment(doc: &str) -> String {
    let doc = &balanced(&visible(doc));
    let mut text = String::with_capacity(doc.len() + 8);
    let mut is_code = false;
    for (at, part) in doc.split('`').enumerate() {
        if at > 0 {
            text.push('`');
        }
        if is_code {
            text.push_str(part);
        } else {
            part.split_inclusive(char::is_whitespace)
                .for_each(|word| push(&mut text, word));
        }
        is_code = !is_code;
    }
    text
}

/// Replaces characters that change the direction of reading, which rustc refuses in a comment, by their code points, and
/// other control characters by spaces.
fn visible(doc: &str) -> String {
    let mut text = String::with_capacity(doc.len());
    for character in doc.chars() {
        if character.is_control() && character != '\n' {
            text.push(' ');
        } else if matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            text.push_str(&format!("U+{:04X}", u32::from(character)));
        } else {
            text.push(character);
        }
    }
    text
}

/// Replaces backticks by apostrophes in lines with an odd number of them: Markdown would look for the partner further down.
fn balanced(doc: &str) -> String {
    let mut text = String::with_capacity(doc.len());
    for line in doc.split_inclusive('\n') {
        if line.matches('`').count() % 2 == 0 {
            text.push_str(line);
        } else {
            text.push_str(&line.replace('`', "'"));
        }
    }
    text
}

/// Adds a word, in backticks if it is an identifier.
fn push(text: &mut String, word: &str) {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let Some(start) = word.find(|c: char| c.is_alphanumeric() || c == '_') else {
        return text.push_str(word);
    };
    let rest = &word[start..];
    let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
    let name = name.trim_end_matches(':');
    if is_name(name) {
        text.push_str(&word[..start]);
        text.push('`');
        text.push_str(name);
        text.push('`');
        text.push_str(&word[start + name.len()..]);
    } else {
        text.push_str(word);
    }
}

/// Returns whether a word is an identifier, such as `repo_root`, `a::b` or `GraphHash`.
fn is_name(word: &str) -> bool {
    let humps = word.chars().zip(word.chars().skip(1));
    let humps = humps.filter(|(before, after)| before.is_lowercase() && after.is_uppercase());
    word.contains("::") || word.trim_matches('_').contains('_') || humps.count() > 0
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
