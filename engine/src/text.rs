//! Makes text from outside plain: removes or spells out hidden characters, and limits lengths.

/// Returns whether a character is a control, bidirectional or invisible one.
pub fn is_hidden(character: char) -> bool {
    let is_deceptive = matches!(
        character,
        '\u{00AD}'
            | '\u{034F}'
            | '\u{061C}'
            | '\u{115F}'
            | '\u{1160}'
            | '\u{17B4}'
            | '\u{17B5}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}'
            | '\u{2028}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FFA0}'
            | '\u{FFF9}'..='\u{FFFB}'
            | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}'
    );
    is_deceptive || character.is_control()
}

/// Returns a name or a path from outside on one line, as an error or a note shows it: like
/// [`escape_hidden`], with typographic double quotes, since agents paste messages into a shell.
pub fn printable(name: impl AsRef<str>) -> String {
    curl_quotes(&escape_hidden(name))
}

/// Returns the text with curly double quotes for straight ones, which could end a shell's quotes.
pub fn curl_quotes(text: &str) -> String {
    let mut before = ' ';
    let curled = text.chars().map(|character| {
        let opens = before.is_whitespace() || "([{‘'=".contains(before);
        before = character;
        match character {
            '"' if opens => '“',
            '"' => '”',
            other => other,
        }
    });
    curled.collect()
}

/// Returns a name or path on one line, with hidden characters spelled out to tell names apart.
pub fn escape_hidden(name: impl AsRef<str>) -> String {
    let mut escaped = String::new();
    for character in name.as_ref().chars() {
        match character {
            '\n' => escaped.push_str("\\n"),
            _ if is_hidden(character) => escaped.extend(character.escape_unicode()),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Returns the text with `\r\n` and `\r` as `\n`, and without control characters (newline and tab
/// stay), bidirectional controls and invisible characters.
pub fn strip_hidden(text: &str) -> String {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let is_shown = |one: &char| matches!(one, '\n' | '\t') || !is_hidden(*one);
    text.chars().filter(is_shown).collect()
}

/// Returns a text on one line of at most `limit` characters: plain, each run of white space as one
/// space, none at the ends. A text that is cut ends in `...`, which counts.
pub fn one_line(text: &str, limit: usize) -> String {
    let plain = strip_hidden(text);
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= limit {
        return line;
    }
    let mark = &"..."[..limit.min(3)];
    let kept: String = line.chars().take(limit - mark.len()).collect();
    kept + mark
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_cut_and_quotes_are_curled() {
        assert_eq!(one_line(" a\n\tb ", 80), "a b");
        assert_eq!(one_line("abcdefgh", 6), "abc...");
        assert_eq!(curl_quotes(r#"say "a b" ("c")"#), "say “a b” (“c”)");
    }

    #[test]
    fn hidden_characters_are_removed() {
        assert_eq!(strip_hidden("a\u{1b}[31mb\r\nc\u{202e}d"), "a[31mb\ncd");
        assert_eq!(strip_hidden("\u{1b}]0;title\u{7}x\u{9b}2J"), "]0;titlex2J");
        assert_eq!(
            strip_hidden("a\u{202e}b\u{2066}c\u{200f}d\u{61c}e"),
            "abcde"
        );
        assert_eq!(strip_hidden("hi\u{e0041}\u{e0042}!"), "hi!");
        assert_eq!(strip_hidden("nul\0 del\u{7f}"), "nul del");
        assert_eq!(strip_hidden("a\r\nb\rc\n\rd"), "a\nb\nc\n\nd");
    }

    #[test]
    fn visible_text_stays() {
        let text = "Überprüfung: 計画 👩\u{200d}💻\n\tindented";
        assert_eq!(strip_hidden(text), text.replace('\u{200d}', ""));
    }

    #[test]
    fn hidden_characters_of_a_name_are_spelled_out() {
        assert_eq!(
            printable("a\u{202e}b\n\tc\u{200b}"),
            r"a\u{202e}b\n\u{9}c\u{200b}"
        );
        assert_eq!(printable("/tmp/plän 1"), "/tmp/plän 1");
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
