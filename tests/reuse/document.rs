//! Follows a page as a reader does: writes its files, types its commands, compares the output.
//!
//! A block below `<!-- file: PATH -->` is a file. Below `<!-- change: PATH -->` its lines with `-`
//! are replaced by those with `+`. A `console` block is a shell session: a command after `$ `, then
//! its output. In `console fails` the last command fails. `[…]` matches any text, alone on a line
//! any lines. Ids, times and hashes are equal.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

/// A fenced block, and the line of the document on which it begins.
#[derive(Debug)]
pub(crate) struct Block {
    line: usize,
    kind: Kind,
    text: String,
}

#[derive(Debug, PartialEq)]
enum Kind {
    File(String),
    Change(String),
    Console { fails: bool },
}

pub(crate) fn blocks(document: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut open, mut marker): (Option<(String, Block)>, Option<Kind>) = (None, None);
    for (number, line) in document.lines().enumerate() {
        if let Some((fence, mut block)) = open.take() {
            if line == fence {
                found.push(block);
            } else {
                block.text.push_str(line);
                block.text.push('\n');
                open = Some((fence, block));
            }
            continue;
        }
        let ticks = line.bytes().take_while(|byte| *byte == b'`').count();
        if ticks < 3 {
            marker = parse_mark(line);
            continue;
        }
        let kind = match (marker.take(), line[ticks..].trim()) {
            (Some(kind), _) => kind,
            (None, "console") => Kind::Console { fails: false },
            (None, "console fails") => Kind::Console { fails: true },
            (None, info) => panic!(
                "line {}: this `{info}` block is neither run nor written",
                number + 1
            ),
        };
        let block = Block {
            line: number + 1,
            kind,
            text: String::new(),
        };
        open = Some((line[..ticks].to_owned(), block));
    }
    assert!(open.is_none(), "a fence is not closed");
    found
}

fn parse_mark(line: &str) -> Option<Kind> {
    let (what, path) = line
        .strip_prefix("<!-- ")?
        .strip_suffix(" -->")?
        .split_once(": ")?;
    let path = path.to_owned();
    match what {
        "file" => Some(Kind::File(path)),
        "change" => Some(Kind::Change(path)),
        _ => None,
    }
}

/// A reader's folder, and a shell that keeps its folder and variables between commands.
pub(crate) struct Reader {
    home: PathBuf,
    shell: Child,
    printed: BufReader<ChildStdout>,
    /// The crate's folder, where files without a `~` go.
    pub(crate) work: PathBuf,
}

/// The mark before and after a command's exit status.
const END: char = '\u{1e}';

impl Reader {
    /// Creates a reader with this home. `shell` still needs its streams and its folder.
    pub(crate) fn new(mut shell: Command, home: &Path) -> Self {
        let mut shell = shell
            .current_dir(home)
            .env("HOME", home)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        writeln!(shell.stdin.as_mut().unwrap(), "exec 2>&1").unwrap();
        let printed = BufReader::new(shell.stdout.take().unwrap());
        Self {
            home: home.to_owned(),
            shell,
            printed,
            work: home.to_owned(),
        }
    }

    pub(crate) fn follow(&mut self, block: &Block) {
        match &block.kind {
            Kind::File(path) => self.write(path, &block.text),
            Kind::Change(path) => {
                let there = fs::read_to_string(self.place(path)).unwrap();
                self.write(path, &apply_change(&there, &block.text, block.line));
            }
            Kind::Console { fails } => self.type_all(block, *fails),
        }
    }

    fn place(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(path) => self.home.join(path),
            None => self.work.join(path),
        }
    }

    fn write(&self, path: &str, text: &str) {
        let place = self.place(path);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        fs::write(place, text).unwrap();
    }

    fn type_all(&mut self, block: &Block, fails: bool) {
        let mut commands: Vec<(String, String)> = Vec::new();
        let mut goes_on = false;
        for line in block.text.lines() {
            match (line.strip_prefix("$ "), commands.last_mut()) {
                (Some(command), _) => commands.push((format!("{command}\n"), String::new())),
                (None, Some((command, _))) if goes_on => command.push_str(&format!("{line}\n")),
                (None, Some((_, printed))) => printed.push_str(&format!("{line}\n")),
                (None, None) => panic!("line {}: the block begins without a command", block.line),
            }
            goes_on = line.ends_with('\\');
        }
        let last = commands.len() - 1;
        for (index, (command, expected)) in commands.iter().enumerate() {
            let (status, printed) = self.run_line(command);
            let as_it_should =
                (status != 0) == (fails && index == last) && matches(&printed, expected);
            assert!(
                as_it_should,
                "the block at line {}: $ {command}exit status {status}, and printed:\n{printed}\nbut should have:\n{expected}",
                block.line
            );
        }
    }

    /// Returns the exit status and the output of a command, with /home/you as the reader's home.
    fn run_line(&mut self, command: &str) -> (i32, String) {
        let input = self.shell.stdin.as_mut().unwrap();
        write!(
            input,
            "{{ {command}}} </dev/null\nprintf '\\036%d\\036\\n' $?\n"
        )
        .unwrap();
        let mut printed = String::new();
        loop {
            let before = printed.len();
            let read = self.printed.read_line(&mut printed).unwrap();
            assert!(read > 0, "the shell is gone after: {command}{printed}");
            if let Some(status) = printed
                .strip_suffix(&format!("{END}\n"))
                .filter(|text| text[before..].contains(END))
            {
                let (text, status) = status.rsplit_once(END).unwrap();
                let text = text.replace(self.home.to_str().unwrap(), "/home/you");
                return (status.parse().unwrap(), text);
            }
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        let _ = self.shell.wait();
    }
}

fn apply_change(there: &str, change: &str, line: usize) -> String {
    let mut old = String::new();
    let mut new = String::new();
    for line in change.lines() {
        let (sign, text) = line.split_at_checked(1).unwrap_or((" ", ""));
        for (wanted, side) in [("-", &mut old), ("+", &mut new)] {
            if sign == " " || sign == wanted {
                side.push_str(text);
                side.push('\n');
            }
        }
    }
    let times = there.matches(&old).count();
    assert_eq!(
        times, 1,
        "the change at line {line} fits {times} times:\n{there}"
    );
    there.replace(&old, &new)
}

/// Whether a text matches the document.
fn matches(printed: &str, expected: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        text.lines()
            .map(|line| replace_ids(line.trim_end()))
            .collect()
    };
    fit(&lines(printed), &lines(expected))
}

fn fit(printed: &[String], expected: &[String]) -> bool {
    match expected {
        [] => printed.is_empty(),
        [first, rest @ ..] if first == "[…]" => {
            (0..=printed.len()).any(|left| fit(&printed[left..], rest))
        }
        [first, rest @ ..] => {
            printed.first().is_some_and(|line| fits(line, first)) && fit(&printed[1..], rest)
        }
    }
}

/// Whether a line matches, `[…]` being any text.
fn fits(line: &str, expected: &str) -> bool {
    match expected.split_once("[…]") {
        None => line == expected,
        Some((before, after)) => line.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| fits(rest, after)))
        }),
    }
}

/// Replaces each id, time and graph hash of a line by the same one. In the patterns, `9` is any
/// digit and `f` any hexadecimal digit.
fn replace_ids(line: &str) -> String {
    const FORMS: [&str; 3] = [
        "99999999-999999-ffffff",
        "9999-99-99T99:99:99Z",
        "ffffffffffffffff",
    ];
    let mut plain = String::new();
    let mut rest = line;
    while let Some(next) = rest.chars().next() {
        let form = FORMS.into_iter().find(|form| {
            rest.get(..form.len()).is_some_and(|text| {
                text.bytes()
                    .zip(form.bytes())
                    .all(|(byte, wanted)| match wanted {
                        b'9' => byte.is_ascii_digit(),
                        b'f' => byte.is_ascii_hexdigit(),
                        wanted => byte == wanted,
                    })
            })
        });
        plain.push_str(form.unwrap_or(&rest[..next.len_utf8()]));
        rest = &rest[form.map_or(next.len_utf8(), str::len)..];
    }
    plain
}
