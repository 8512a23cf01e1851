//! A machine's docs as the text of doc comments.

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
    let text: String = line.chars().map(visible).collect();
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

#[cfg(test)]
mod tests {
    use super::doc_comment;

    #[test]
    fn doc_comment_has_no_control_characters() {
        for (doc, expected) in [
            ("one\ttwo", "/// one two"),
            ("\u{202e}gnp.exe", "/// U+202Egnp.exe"),
            ("one\n\ntwo\r\n", "/// one\n///\n/// two"),
            (" ", "/// `x`"),
        ] {
            assert_eq!(doc_comment(doc, "x"), expected);
        }
    }
}
