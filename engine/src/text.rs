//! Text from outside made plain: control, bidirectional and invisible characters removed or spelled out, and lengths kept.
//!
//! Whatever a reviewer, a plan, a prompt or a file's name brought goes through here before it reaches a terminal, a log or
//! an agent. The functions that print call it for all that they print; only a line break has to be dealt with where
//! the text is quoted, since our own texts have line breaks too. This file knows nothing of where the text came from
//! or goes to.

use std::fmt::Write as _;

/// Returns whether a character joins or varies the one beside it. Persian and emoji need them; they are removed from
/// what we print, and are no reason to refuse a text.
fn is_joiner(character: char) -> bool {
    matches!(character, '\u{200C}' | '\u{200D}' | '\u{FE0F}')
}

/// Returns whether a character can change how the text around it is shown, or hide text from the reader: bidirectional
/// embeddings, overrides, isolates and marks, line and paragraph separators, fillers, joiners, musical and annotation
/// controls, and the invisible tag characters.
fn is_deceptive(character: char) -> bool {
    matches!(
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
    )
}

/// Returns whether a character cannot be shown as it is: a control character or a deceptive one.
fn is_hidden(character: char) -> bool {
    character.is_control() || is_deceptive(character)
}

/// Returns whether a text of a person's own, such as a label, can be shown: no control and no deceptive characters but
/// line breaks, tabs, and the joiners that emoji and Persian need.
pub fn is_plain(text: &str) -> bool {
    text.chars()
        .all(|one| matches!(one, '\n' | '\t') || is_joiner(one) || !is_hidden(one))
}

/// Returns a name or a path from outside on one line, as an error or a note shows it: like [`exact`], and double quotes
/// become typographic ones, since agents paste messages into a shell's.
///
/// ```
/// assert_eq!(claudex_loop_engine::text::shown("/a\u{1b}[2J\nb"), r"/a\u{1b}[2J\nb");
/// ```
pub fn shown(name: impl AsRef<str>) -> String {
    exact(name).replace('"', "”")
}

/// Returns a name or a path on one line for whoever is to open it: every visible character as it is, hidden ones spelled out, so
/// that two names that differ look different.
pub fn exact(name: impl AsRef<str>) -> String {
    let mut exact = String::new();
    for character in name.as_ref().chars() {
        match character {
            '\n' => exact.push_str("\\n"),
            _ if is_hidden(character) => exact.extend(character.escape_unicode()),
            _ => exact.push(character),
        }
    }
    exact
}

/// Returns a message in which nothing runs when it is pasted between a shell's quotes: apostrophes and command
/// substitutions are made typographic. Backquotes stay around one plain word, such as a field's name.
///
/// ```
/// use claudex_loop_engine::text::pasteable;
/// assert_eq!(pasteable("it's `$(x)` of `topic`"), "it’s ‘$ (x)’ of `topic`");
/// ```
pub fn pasteable(message: &str) -> String {
    let mut safe = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find('`') {
        safe.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        match rest.split_once('`') {
            Some((word, after)) if is_word(word) => {
                safe.extend(["`", word, "`"]);
                rest = after;
            }
            Some((words, after)) if !words.contains('\n') => {
                safe.extend(["‘", &words.replace('"', "”"), "’"]);
                rest = after;
            }
            _ => safe.push('‘'),
        }
    }
    safe.push_str(rest);
    let mut after_word = false;
    let quotes = safe.chars().map(|character| {
        let opens = character == '\'' && !after_word;
        after_word = character.is_alphanumeric() || ".,;:!?)]}>".contains(character);
        match character {
            '\'' if opens => '‘',
            '\'' => '’',
            other => other,
        }
    });
    let safe: String = quotes.collect();
    safe.replace("$(", "$ (").replace("${", "$ {")
}

/// What a command stands behind on its line of a message.
pub const COMMAND: &str = "    ";
/// The most commands of a note.
const COMMANDS: usize = 8;
/// The longest command of a note, in characters.
const LONGEST_COMMAND: usize = 300;

/// Returns a note: [`lines`] with typographic quotes in their sentences, so that nothing ends a shell's quotes around them.
pub fn note(text: &str, limit: usize) -> String {
    let text = lines(text, limit);
    let quoted = text.lines().map(|line| match line.starts_with(COMMAND) {
        true => line.to_owned(),
        false => line.replace('"', "”"),
    });
    quoted.collect::<Vec<_>>().join("\n")
}

/// Returns sentences of at most `limit` characters on one line, and each line that begins with [`COMMAND`] on a line of its own.
/// The commands stay, however long the sentences are: they say what is to be done.
///
/// ```
/// use claudex_loop_engine::text::lines;
/// assert_eq!(lines("a\nb:\n    run  it\nc", 80), "a b:\n    run it\nc");
/// assert_eq!(lines("abcdefgh:\n    run it", 6), "abc...\n    run it");
/// ```
pub fn lines(text: &str, limit: usize) -> String {
    let text = plain(text);
    let (mut lines, mut commands, mut left) = (Vec::new(), 0, limit);
    let is_command = |line: &str| line.starts_with(COMMAND);
    for part in text
        .lines()
        .collect::<Vec<_>>()
        .chunk_by(|a, b| is_command(a) == is_command(b))
    {
        if !is_command(part[0]) {
            let sentence = one_line(&part.join(" "), left);
            left -= sentence.chars().count();
            lines.push(sentence);
            continue;
        }
        let room = COMMANDS.saturating_sub(commands);
        let kept = part
            .iter()
            .map(|line| one_line(line, LONGEST_COMMAND))
            .filter(|line| !line.is_empty());
        for command in kept.take(room) {
            commands += 1;
            lines.push(format!("{COMMAND}{command}"));
        }
    }
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

/// Returns whether a text is one word without a meaning of its own in a shell.
fn is_word(text: &str) -> bool {
    let harmless = |one: char| one.is_alphanumeric() || "_-.:=+,#@%[]".contains(one);
    !text.is_empty() && text.chars().all(harmless)
}

/// Returns JSON in which every hidden character is written as an escape. It means the same.
pub fn plain_json(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    for character in json.chars() {
        if character != '\n' && is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(plain, "\\u{unit:04x}");
            }
        } else {
            plain.push(character);
        }
    }
    plain
}

/// Returns the text with `\r\n` and `\r` as `\n`, and without control characters (newline and tab stay), bidirectional
/// controls and invisible characters.
///
/// ```
/// assert_eq!(claudex_loop_engine::text::plain("a\u{1b}[31mb\r\nc\u{202e}d"), "a[31mb\ncd");
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
            _ if is_hidden(character) => {}
            _ => plain.push(character),
        }
    }
    plain
}

/// The text on one line of at most `limit` characters: plain, each run of white space as one space, none at the ends.
/// What is cut off ends in `...`, which counts.
///
/// ```
/// assert_eq!(claudex_loop_engine::text::one_line(" a\n\tb ", 80), "a b");
/// assert_eq!(claudex_loop_engine::text::one_line("abcdefgh", 6), "abc...");
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
    use super::*;
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
        assert_eq!(plain(text), text.replace('\u{200d}', ""));
        assert!(is_plain(text));
    }

    #[test]
    fn every_line_ending_becomes_a_newline() {
        assert_eq!(plain("a\r\nb\rc\n\rd"), "a\nb\nc\n\nd");
    }

    #[test]
    fn a_name_shows_what_hides_in_it_on_one_line() {
        assert_eq!(
            shown("a\u{202e}b\n\tc\u{200b}"),
            r"a\u{202e}b\n\u{9}c\u{200b}"
        );
        assert_eq!(shown("/tmp/plän 1"), "/tmp/plän 1");
    }

    #[test]
    fn json_with_escapes_means_the_same() {
        let text = "a\u{202e}b\u{e0041}\u{9b}\n";
        let json = serde_json::to_string(&[text]).unwrap();
        let plain_one = plain_json(&json);
        assert!(plain_one.is_ascii(), "{plain_one}");
        assert_eq!(
            serde_json::from_str::<[String; 1]>(&plain_one).unwrap(),
            [text]
        );
    }

    #[test]
    fn what_could_run_in_quotes_is_typographic_and_single_words_stay() {
        assert_eq!(pasteable("`a-b.c` and `x y`, `"), "`a-b.c` and ‘x y’, ‘");
        assert_eq!(pasteable("``; `a\nb` ``"), "‘’; ‘a\nb‘ ’‘");
        assert_eq!(pasteable("'${HOME}' `say \"x\"`"), "‘$ {HOME}’ ‘say ”x”’");
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
