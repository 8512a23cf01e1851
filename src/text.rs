//! Text from outside made plain: control, bidirectional and invisible tag characters removed, and lengths kept.
//!
//! Whatever a reviewer, a plan or a prompt brought goes through here before it reaches a terminal, a log or an agent.
//! This file knows nothing of where the text came from or goes to.

/// Whether a character can change how the text around it is shown, or hide text from the reader: bidirectional
/// embeddings, overrides, isolates and marks, line and paragraph separators, and the invisible tag characters.
fn is_deceptive(character: char) -> bool {
    matches!(
        character,
        '\u{061C}'
            | '\u{200E}'
            | '\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2066}'..='\u{2069}'
            | '\u{E0000}'..='\u{E007F}'
    )
}

/// The text with `\r\n` and `\r` as `\n`, and without control characters (newline and tab stay), bidirectional
/// controls and tag characters.
///
/// ```
/// assert_eq!(claudex_loop::text::plain("a\u{1b}[31mb\r\nc\u{202e}d"), "a[31mb\ncd");
/// ```
pub fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' => {
                if characters.peek() != Some(&'\n') {
                    plain.push('\n');
                }
            }
            '\n' | '\t' => plain.push(character),
            _ if character.is_control() || is_deceptive(character) => {}
            _ => plain.push(character),
        }
    }
    plain
}

/// The text on one line of at most `limit` characters: plain, each run of white space as one space, none at the ends.
/// What is cut off ends in `...`, which counts.
///
/// ```
/// assert_eq!(claudex_loop::text::one_line(" a\n\tb ", 80), "a b");
/// assert_eq!(claudex_loop::text::one_line("abcdefgh", 6), "abc...");
/// ```
pub fn one_line(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    for word in plain(text).split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
            length += 1;
        }
        line.push_str(word);
        length += word.chars().count();
        if length > limit {
            let mark = &"..."[..limit.min(3)];
            let mut cut: String = line.chars().take(limit - mark.len()).collect();
            cut.push_str(mark);
            return cut;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{one_line, plain};
    use proptest::prelude::*;

    #[test]
    fn terminal_escapes_bidi_and_tags_do_not_survive() {
        assert_eq!(plain("\u{1b}]0;title\u{7}x\u{9b}2J"), "]0;titlex2J");
        assert_eq!(plain("a\u{202e}b\u{2066}c\u{200f}d\u{61c}e"), "abcde");
        assert_eq!(plain("hi\u{e0041}\u{e0042}!"), "hi!");
        assert_eq!(plain("nul\0 del\u{7f}"), "nul del");
    }

    #[test]
    fn what_people_write_survives() {
        let text = "Überprüfung: 計画 👩\u{200d}💻\n\tindented";
        assert_eq!(plain(text), text);
    }

    #[test]
    fn every_line_ending_becomes_a_newline() {
        assert_eq!(plain("a\r\nb\rc\n\rd"), "a\nb\nc\n\nd");
    }

    proptest! {
        #[test]
        fn one_line_is_one_short_plain_line(text in any::<String>(), limit in 0usize..60) {
            let line = one_line(&text, limit);
            prop_assert!(line.chars().count() <= limit);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert_eq!(&one_line(&line, limit), &line);
        }
    }
}
