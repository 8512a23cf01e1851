//! A machine's docs as the text of doc comments.
//!
//! They are plain text for people, who see them in help and tables too. In a doc comment a name such as `repo_root` is
//! code, and Markdown would take its underscores for emphasis.

/// Returns a doc as lines of a doc comment, or the name if there is no doc.
pub(super) fn doc_comment(doc: &str, name: &str) -> String {
    let lines: Vec<String> = match doc.trim() {
        "" => vec![format!("/// `{name}`")],
        doc => doc.lines().map(comment).collect(),
    };
    lines.join("\n")
}

/// Returns a line of a doc as a line of a comment.
fn comment(line: &str) -> String {
    let mut line: String = line.chars().map(visible).collect();
    if line.matches('`').count() % 2 == 1 {
        // Markdown would look for the partner further down.
        line = line.replace('`', "'");
    }
    let parts = line.split('`').enumerate().map(|(at, part)| {
        let words = part.split_inclusive(char::is_whitespace);
        let is_code = at % 2 == 1;
        words
            .map(|word| if is_code { word.to_owned() } else { mark(word) })
            .collect()
    });
    let text = parts.collect::<Vec<String>>().join("`");
    format!("/// {text}").trim_end().to_owned()
}

/// Returns a character, or its code point if it changes the direction of reading, which rustc refuses in a comment. Other
/// control characters become spaces.
fn visible(character: char) -> String {
    match character {
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            format!("U+{:04X}", u32::from(character))
        }
        _ if character.is_control() => " ".to_owned(),
        _ => character.to_string(),
    }
}

/// Puts a word into backticks if it is an identifier such as `repo_root`, `a::b` or `GraphHash`.
fn mark(word: &str) -> String {
    let is_start = |c: char| c.is_alphanumeric() || c == '_';
    let (before, rest) = word.split_at(word.find(is_start).unwrap_or(word.len()));
    let end = rest.find(|c| !is_start(c) && c != ':');
    let name = rest[..end.unwrap_or(rest.len())].trim_end_matches(':');
    let after = &rest[name.len()..];
    let mut pairs = name.chars().zip(name.chars().skip(1));
    let has_hump = pairs.any(|(one, next)| one.is_lowercase() && next.is_uppercase());
    if has_hump || name.contains("::") || name.trim_matches('_').contains('_') {
        format!("{before}`{name}`{after}")
    } else {
        word.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::doc_comment;

    #[test]
    fn doc_comment_marks_identifiers_and_keeps_the_rest() {
        for (doc, expected) in [
            ("from repo_root: the plan", "/// from `repo_root`: the plan"),
            ("one\ttwo", "/// one two"),
            ("`one\n`two`", "/// 'one\n/// `two`"),
            (
                "(see max_rounds), or `max_rounds`",
                "/// (see `max_rounds`), or `max_rounds`",
            ),
            (
                "GraphHash and a::b, é_ü",
                "/// `GraphHash` and `a::b`, `é_ü`",
            ),
            ("ISO 8601, UTC: PLAN.md", "/// ISO 8601, UTC: PLAN.md"),
            ("one ` alone_here", "/// one ' `alone_here`"),
            ("\u{202e}gnp.exe", "/// U+202Egnp.exe"),
            ("one\n\ntwo\r\n", "/// one\n///\n/// two"),
            (" ", "/// `x`"),
        ] {
            assert_eq!(doc_comment(doc, "x"), expected);
        }
    }
}
