//! Printed text: notes, messages to paste into a shell, durations, columns, JSON for a terminal.
//!
//! All printing functions call these. Line breaks matter only in quoted text, since our own texts
//! have line breaks, too.

use std::fmt::Write as _;

pub use claudex_loop_engine::text::*;

/// Returns a message in which nothing runs when it is pasted between a shell's quotes: apostrophes
/// and command substitutions are made typographic. Backquotes stay around one plain word. Lines
/// with a command, which begin with [`COMMAND`], stay unchanged.
///
/// ```
/// use claudex_loop::text::pasteable;
/// assert_eq!(pasteable("it's `$(x)` of `topic`"), "it’s ‘$ (x)’ of `topic`");
/// ```
pub fn pasteable(message: &str) -> String {
    change_sentences(message, pasteable_line)
}

/// Changes each line that is no command.
fn change_sentences(text: &str, change: fn(&str) -> String) -> String {
    let lines = text.split_inclusive('\n').map(|line| {
        if line.starts_with(COMMAND) {
            line.to_owned()
        } else {
            change(line)
        }
    });
    lines.collect()
}

fn pasteable_line(message: &str) -> String {
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
            Some((words, after)) => {
                // The quotes of TOML stay, so that it can be copied.
                let mut parts = words.split([' ', '"', '{', '}', '<']);
                let is_toml = parts.all(|part| part.is_empty() || is_word(part));
                let quoted = Some(words.to_owned()).filter(|_| is_toml);
                safe.extend(["‘", &quoted.unwrap_or_else(|| curl_quotes(words)), "’"]);
                rest = after;
            }
            None => safe.push('‘'),
        }
    }
    safe.push_str(rest);
    let mut after_word = false;
    let quotes = safe.chars().map(|character| {
        let mark = if after_word { '’' } else { '‘' };
        after_word = character.is_alphanumeric() || ".,;:!?)]}>".contains(character);
        if character == '\'' { mark } else { character }
    });
    let safe: String = quotes.collect();
    safe.replace("$(", "$ (").replace("${", "$ {")
}

/// The indentation of a message's command lines.
pub const COMMAND: &str = "    ";
/// Returns commands for the end of a message, each on its own line.
pub fn command_lines(commands: &[String]) -> String {
    let line = |command: &String| format!("\n{COMMAND}{command}");
    commands.iter().map(line).collect()
}

const MAX_COMMANDS: usize = 8;
const MAX_COMMAND_CHARS: usize = 300;

/// Returns [`lines`] with typographic quotes in sentences, so that nothing ends a shell's quotes.
pub fn note(text: &str, limit: usize) -> String {
    change_sentences(&lines(text, limit), curl_quotes)
}

/// Returns sentences of at most `limit` characters on one line, and each line that begins with
/// [`COMMAND`] on its own line. The commands stay, however long the sentences are.
///
/// ```
/// use claudex_loop::text::lines;
/// assert_eq!(lines("a\nb:\n    run  it\nc", 80), "a b:\n    run it\nc");
/// assert_eq!(lines("abcdefgh:\n    run it", 6), "abc...\n    run it");
/// ```
pub fn lines(text: &str, limit: usize) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut commands = 0;
    let mut left = limit;
    for line in strip_hidden(text).lines() {
        if line.starts_with(COMMAND) {
            let command = one_line(line, MAX_COMMAND_CHARS);
            if commands < MAX_COMMANDS && !command.is_empty() {
                commands += 1;
                lines.push(format!("{COMMAND}{command}"));
            }
            continue;
        }
        let sentence = one_line(line, left);
        left -= sentence.chars().count();
        match lines.last_mut() {
            _ if sentence.is_empty() => {}
            Some(last) if !last.starts_with(COMMAND) => {
                last.push(' ');
                last.push_str(&sentence);
            }
            _ => lines.push(sentence),
        }
    }
    lines.join("\n")
}

/// Returns whether a text is one word that means nothing special in a shell.
fn is_word(text: &str) -> bool {
    let harmless = |one: char| one.is_alphanumeric() || "_-.:=+,#@%[]".contains(one);
    !text.is_empty() && text.chars().all(harmless)
}

/// Returns JSON in which hidden characters are escaped. It means the same.
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

/// Aligns the tab-separated cells of lines in columns. A line without a tab stays as it is.
pub fn table(lines: &str) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in lines.lines().filter(|line| line.contains('\t')) {
        for (column, cell) in row.split('\t').enumerate() {
            widths.resize(widths.len().max(column + 1), 0);
            widths[column] = cell.chars().count().max(widths[column]);
        }
    }
    let align = |line: &str| {
        if !line.contains('\t') {
            return line.to_owned();
        }
        let cells = line.split('\t').zip(&widths);
        let padded = cells.map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    lines.lines().map(align).collect::<Vec<_>>().join("\n")
}

/// Returns a duration as `Ns`, `Nm Ns` or `Nh Nm`.
pub fn elapsed(seconds: u64) -> String {
    let minutes = seconds / 60 % 60;
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{minutes}m {}s", seconds % 60),
        _ => format!("{}h {minutes}m", seconds / 3600),
    }
}

/// Returns an age in one unit, for a column: `5s`, `12m`, `3h`, `9d`.
pub fn age(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

/// Quotes a text as one word of a shell. No path has the NUL that a shell cannot take.
pub fn shell_word(text: &str) -> String {
    shlex::try_quote(text).unwrap_or_default().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn substitutions_are_typographic_and_single_words_stay() {
        assert_eq!(pasteable("`a-b.c` and `x y`, `"), "`a-b.c` and ‘x y’, ‘");
        assert_eq!(pasteable("``; `a\nb` ``"), "‘’; ‘a\nb‘ ’‘");
        assert_eq!(pasteable("'${HOME}' `say \"x\"`"), "‘$ {HOME}’ ‘say \"x\"’");
    }

    #[test]
    fn durations_have_few_units() {
        for (seconds, long, short) in [
            (0, "0s", "0s"),
            (59, "59s", "59s"),
            (60, "1m 0s", "1m"),
            (3_599, "59m 59s", "59m"),
            (3_600, "1h 0m", "1h"),
            (90_061, "25h 1m", "25h"),
            (172_799, "47h 59m", "47h"),
            (172_800, "48h 0m", "2d"),
        ] {
            assert_eq!(elapsed(seconds), long);
            assert_eq!(age(seconds), short);
        }
    }

    #[test]
    fn quoted_path_is_one_shell_word() {
        for path in ["/a/b-c.sh", "/a b", "it's $(x)`y`", "", "naïve", "a\nb!"] {
            assert_eq!(shlex::split(&shell_word(path)).unwrap(), [path]);
        }
    }
}
