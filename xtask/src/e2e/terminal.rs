//! A program in a terminal of its own: what a person at a keyboard does to it, and what they see. The terminal is a tmux server
//! on a private socket. It knows nothing of the program, but for one thing: how Claude Code shows a long paste.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use derive_more::{Display, Error};
use miette::Diagnostic;
use tempfile::TempDir;
use unicode_width::UnicodeWidthChar as _;

use super::launch::Launch;
use super::leftovers;
use super::scenario::Pattern;

/// Between two looks at the screen.
const LOOK: Duration = Duration::from_millis(50);

/// How long a program may take to show what was typed.
const ECHO: Duration = Duration::from_secs(30);

/// How long a screen that rests has not changed.
const REST: Duration = Duration::from_secs(1);

/// Between two keys. An Escape and a key at once are another key (Alt), and a program may draw its answer to one key before it
/// looks at the next.
const STROKE: Duration = Duration::from_millis(150);

/// Characters typed at once. A burst that is much longer counts as a paste in some programs.
const BURST: usize = 64;

/// A system's limit for a socket's path is 104 bytes or more.
const SOCKET: usize = 100;

/// What the keeper calls the terminal when the program is over; its exit status follows.
const OVER: &str = "xtask-e2e-over:";

/// Runs the program and then keeps the terminal open: tmux may lose the last words, and the exit status, of a program that leaves
/// it. That it is over is said in the terminal itself, as its title, so that it comes after all that was printed.
const KEEPER: &str = r#"trap : INT QUIT
"$@"
printf '\033\\\033]2;%s%d\007' "$0" "$?"
exec sleep 2147483647"#;

/// A terminal that does not do what is asked of it.
#[derive(Debug, Display, Error, Diagnostic)]
pub(super) enum TerminalError {
    /// tmux is not installed, or cannot be started.
    #[display("cannot start tmux")]
    #[diagnostic(
        code(xtask::terminal::missing),
        help("scenarios with an interactive client need tmux 3.3 or later on PATH")
    )]
    Missing { source: std::io::Error },
    /// tmux refuses.
    #[display("tmux {verb} failed: {said}")]
    #[diagnostic(code(xtask::terminal::refused))]
    Refused { verb: String, said: String },
    /// There is no place for the terminal's socket.
    #[display("cannot make a folder for the terminal's socket")]
    #[diagnostic(
        code(xtask::terminal::no_folder),
        help("TMPDIR names the place: a writable folder")
    )]
    Folder { source: std::io::Error },
    /// The program is to be started where nothing is.
    #[display("there is no folder {} to start the program in", path.display())]
    #[diagnostic(
        code(xtask::terminal::nowhere),
        help("`folder` is relative to the project's")
    )]
    Nowhere { path: PathBuf },
    /// The socket's path would be too long for the system.
    #[display("the path {} is too long for a socket", path.display())]
    #[diagnostic(
        code(xtask::terminal::long_path),
        help("let TMPDIR name a folder with a shorter path")
    )]
    Long { path: PathBuf },
    /// What was typed does not show where the cursor is.
    #[display("typed, but not shown before the cursor: {text:?}\n{screen}")]
    #[diagnostic(
        code(xtask::terminal::no_echo),
        help(
            "does the program take text here? `see` its prompt first; what selects at once belongs in `keys`"
        )
    )]
    Echo { text: String, screen: Screen },
    /// What was waited for does not show.
    #[display("after {} s the screen {why}\n{screen}", within.as_secs())]
    #[diagnostic(code(xtask::terminal::not_seen))]
    NotSeen {
        within: Duration,
        why: String,
        screen: Screen,
    },
    /// The program is over, and what was waited for is not on its last screen.
    #[display("the program ended with exit status {status}, and its last screen {why}\n{screen}")]
    #[diagnostic(code(xtask::terminal::ended))]
    Over {
        status: i32,
        why: String,
        screen: Screen,
    },
}

/// What a terminal shows, and where its cursor is.
#[derive(Debug, Clone, PartialEq, Eq, Display)]
#[display("--- the screen ---\n{}\n------------------", text)]
pub(super) struct Screen {
    /// Its lines, without the blanks at their ends and without the empty ones at its end.
    pub(super) text: String,
    /// The text before the cursor, without white space: a program breaks long lines where it likes.
    before: String,
    /// Column and row, from 0.
    cursor: (usize, usize),
    /// Where the program is over: its exit status, as a shell has it (of a signal 128 and more).
    pub(super) ended: Option<i32>,
}

/// A program in a terminal. It is ended, with all that it started, when this is dropped; also when this process is killed.
#[derive(Debug)]
pub(super) struct Terminal {
    folder: TempDir,
    /// A client of the server that ends, and the server with it, when this process does.
    holder: Option<Child>,
    /// The value of [`leftovers::MARK`] in the environment of all that runs in the terminal.
    mark: OsString,
}

impl Terminal {
    /// Starts the program in a terminal of so many columns and rows.
    ///
    /// # Errors
    /// tmux is missing or refuses; there is no place for its socket. A program that cannot be started is none: its screen says so.
    pub(super) fn open(launch: &Launch, size: (u16, u16)) -> Result<Self, TerminalError> {
        let folder = tempfile::Builder::new()
            .prefix("e2e-")
            .tempdir()
            .map_err(|source| TerminalError::Folder { source })?;
        let mark = folder.path().as_os_str().to_owned();
        // From here on dropping it clears up, whatever fails.
        let mut terminal = Self {
            folder,
            holder: None,
            mark,
        };
        let socket = terminal.socket();
        if socket.as_os_str().len() > SOCKET {
            return Err(TerminalError::Long { path: socket });
        }
        terminal.start(launch, size)?;
        terminal.hold()?;
        Ok(terminal)
    }

    fn start(&self, launch: &Launch, size: (u16, u16)) -> Result<(), TerminalError> {
        if !launch.folder.is_dir() {
            let path = launch.folder.clone();
            return Err(TerminalError::Nowhere { path });
        }
        let mut command = self.tmux();
        // Not by tmux's `-c`, which is a template of its own.
        command.current_dir(&launch.folder);
        command.args(["-f", "/dev/null", "start-server", ";"]);
        command.args(["set-option", "-g", "status", "off", ";"]);
        command.args(["new-session", "-d"]);
        command.args(["-x", &size.0.to_string(), "-y", &size.1.to_string()]);
        command.args(["--", "sh", "-c", KEEPER, OVER]);
        // tmux adds variables of its own (TMUX, TERM_PROGRAM, SHELL), which programs look at.
        command.args(["env", "-i", "TERM=tmux-256color"]);
        let mark = (OsString::from(leftovers::MARK), self.mark.clone());
        for (name, value) in launch.env.iter().chain([&mark]) {
            let mut pair = name.clone();
            pair.push("=");
            pair.push(value);
            command.arg(word(&pair));
        }
        command.arg(word(launch.program.as_os_str()));
        command.args(launch.arguments.iter().map(|argument| word(argument)));
        done("new-session", command).map(drop)
    }

    /// Ties the server to this process: its one client reads our pipe, and the server ends with its last client.
    fn hold(&mut self) -> Result<(), TerminalError> {
        let mut command = self.tmux();
        command.args(["-C", "attach-session", "-f", "no-output", ";"]);
        command.args(["set-option", "-g", "exit-unattached", "on"]);
        let holder = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|source| TerminalError::Missing { source })?;
        self.holder = Some(holder);
        Ok(())
    }

    /// Types the text as a person does, and comes back when the program shows it. A text of several lines is pasted, as nobody
    /// types one; a text without line ends is typed, a piece at a time.
    ///
    /// # Errors
    /// The text does not show before the cursor.
    pub(super) fn type_text(&self, text: &str) -> Result<(), TerminalError> {
        self.type_within(text, ECHO)
    }

    fn type_within(&self, text: &str, within: Duration) -> Result<(), TerminalError> {
        if text.contains('\n') {
            return self.paste(text, within);
        }
        let characters: Vec<char> = text.chars().collect();
        // An empty text has no burst, so nothing is waited for.
        for burst in characters.chunks(BURST) {
            let burst: String = burst.iter().collect();
            let before = self.look()?;
            let mut command = self.tmux();
            command.args(["send-keys", "-H"]);
            command.args(burst.bytes().map(|byte| format!("{byte:02x}")));
            done("send-keys", command)?;
            self.echoed(&burst, &before, within)?;
        }
        Ok(())
    }

    /// Pastes the text, in brackets where the program asks for them.
    fn paste(&self, text: &str, within: Duration) -> Result<(), TerminalError> {
        let before = self.look()?;
        let file = self.folder.path().join("paste");
        fs_err::write(&file, text).map_err(|source| TerminalError::Folder { source })?;
        let mut command = self.tmux();
        command.arg("load-buffer").arg(&file).arg(";");
        command.args(["paste-buffer", "-d", "-p"]);
        done("paste-buffer", command)?;
        self.echoed(text, &before, within)
    }

    fn echoed(&self, text: &str, before: &Screen, within: Duration) -> Result<(), TerminalError> {
        let tail = bare(text);
        let until = Instant::now() + within;
        loop {
            let screen = self.look()?;
            let folded = text.contains('\n') && is_folded_paste(&screen.before);
            let shown = screen.before.ends_with(&tail) || folded;
            if shown && screen.cursor != before.cursor {
                return Ok(());
            }
            if Instant::now() > until || screen.ended.is_some() {
                let text = text.to_owned();
                return Err(TerminalError::Echo { text, screen });
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Presses keys by tmux's names (`Enter`, `Escape`, `C-c`, `Down`), one after the other and no faster than a person does;
    /// a name that it does not know is typed letter by letter.
    ///
    /// # Errors
    /// tmux refuses.
    pub(super) fn keys(&self, keys: &[String]) -> Result<(), TerminalError> {
        for (index, key) in keys.iter().enumerate() {
            if index > 0 {
                std::thread::sleep(STROKE);
            }
            let mut command = self.tmux();
            command.args(["send-keys", "--"]).arg(word(OsStr::new(key)));
            done("send-keys", command)?;
        }
        Ok(())
    }

    /// Returns what is shown now.
    ///
    /// # Errors
    /// tmux refuses.
    pub(super) fn look(&self) -> Result<Screen, TerminalError> {
        let mut command = self.tmux();
        // Both in one go: nothing is drawn in between.
        command.args(["capture-pane", "-p", ";"]);
        command.args(["display-message", "-p"]);
        command.arg("#{cursor_x} #{cursor_y} #{pane_title}");
        let shown = done("capture-pane", command)?;
        Screen::read(&shown).ok_or_else(|| TerminalError::Refused {
            verb: "capture-pane".to_owned(),
            said: format!("no place of the cursor after the screen: {shown:?}"),
        })
    }

    /// Returns what is shown now, with the escapes for its colours.
    ///
    /// # Errors
    /// tmux refuses.
    pub(super) fn in_colours(&self) -> Result<String, TerminalError> {
        let mut command = self.tmux();
        command.args(["capture-pane", "-p", "-e"]);
        done("capture-pane", command)
    }

    /// Waits for a screen that has all of `has` and none of `lacks`, wherever the program breaks its lines.
    ///
    /// # Errors
    /// None came in time, or the program ended before.
    pub(super) fn wait_for(
        &self,
        has: &[Pattern],
        lacks: &[Pattern],
        within: Duration,
    ) -> Result<Screen, TerminalError> {
        self.wait_until(within, |screen| holds(&screen.text, has, lacks))
    }

    /// Waits for a screen that `judge` takes.
    ///
    /// # Errors
    /// None came in time, or the program ended before; with what `judge` said last, which goes on after "the screen".
    pub(super) fn wait_until(
        &self,
        within: Duration,
        mut judge: impl FnMut(&Screen) -> Result<(), String>,
    ) -> Result<Screen, TerminalError> {
        let until = Instant::now() + within;
        loop {
            let screen = self.look()?;
            let Err(why) = judge(&screen) else {
                return Ok(screen);
            };
            if let Some(status) = screen.ended {
                return Err(TerminalError::Over {
                    status,
                    why,
                    screen,
                });
            }
            if Instant::now() > until {
                return Err(TerminalError::NotSeen {
                    within,
                    why,
                    screen,
                });
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Returns the screen once nothing on it has changed for a while; a program that never rests is looked at in mid-work.
    ///
    /// # Errors
    /// tmux refuses.
    pub(super) fn at_rest(&self) -> Result<Screen, TerminalError> {
        let until = Instant::now() + ECHO;
        let (mut screen, mut since) = (self.look()?, Instant::now());
        while since.elapsed() < REST && Instant::now() < until {
            std::thread::sleep(LOOK);
            let now = self.look()?;
            if now != screen {
                (screen, since) = (now, Instant::now());
            }
        }
        Ok(screen)
    }

    /// Waits for the program's end.
    ///
    /// # Errors
    /// It goes on.
    pub(super) fn wait_for_end(&self, within: Duration) -> Result<Screen, TerminalError> {
        self.wait_until(within, |screen| match screen.ended {
            Some(_) => Ok(()),
            None => Err("is still a running program's".to_owned()),
        })
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux")
    }

    /// tmux without this process's environment: a server hands its own on.
    fn tmux(&self) -> Command {
        let mut command = Command::new("tmux");
        command.env_clear();
        for name in ["PATH", "LANG", "HOME"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.arg("-u").arg("-S").arg(self.socket());
        command
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let mut kill = self.tmux();
        kill.arg("kill-server")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // Without a server it fails, and that is as well.
        let _ = kill.status();
        if let Some(mut holder) = self.holder.take() {
            let _ = holder.kill();
            let _ = holder.wait();
        }
        leftovers::end(&self.mark);
    }
}

impl Screen {
    /// Returns the text before the cursor, without white space.
    pub(super) fn before(&self) -> &str {
        &self.before
    }

    /// Returns what `capture-pane` and the line after it say.
    fn read(shown: &str) -> Option<Self> {
        let (rows, state) = shown.trim_end_matches('\n').rsplit_once('\n')?;
        let mut words = state.splitn(3, ' ');
        let column: usize = words.next()?.parse().ok()?;
        let row: usize = words.next()?.parse().ok()?;
        let ended = words
            .next()?
            .strip_prefix(OVER)
            .and_then(|status| status.parse().ok());
        let rows: Vec<&str> = rows.split('\n').map(str::trim_end).collect();
        let mut before: String = rows.iter().take(row).flat_map(|row| [row, "\n"]).collect();
        before.push_str(columns(rows.get(row).unwrap_or(&""), column));
        Some(Self {
            text: rows.join("\n").trim_end().to_owned(),
            before: bare(&before),
            cursor: (column, row),
            ended,
        })
    }
}

/// Returns the row's first so many columns; a character may take two, or none.
fn columns(row: &str, columns: usize) -> &str {
    let mut at = 0;
    for (index, character) in row.char_indices() {
        at += character.width().unwrap_or(0);
        if at > columns {
            return &row[..index];
        }
    }
    row
}

/// Without white space.
fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns whether the text ends with Claude Code's sign for a paste that it does not show: `[Pasted text #1 +4 lines]`.
fn is_folded_paste(bare: &str) -> bool {
    bare.rsplit_once("[Pastedtext#")
        .and_then(|(_, rest)| rest.strip_suffix(']'))
        .is_some_and(|rest| {
            rest.chars()
                .all(|it| it.is_ascii_digit() || "+lines".contains(it))
        })
}

/// Says why the text is not as it should be, to go on after "the screen".
pub(super) fn holds(text: &str, has: &[Pattern], lacks: &[Pattern]) -> Result<(), String> {
    let text = spaced(text);
    let mut why: Vec<String> = Vec::new();
    let is_there = |pattern: &Pattern| {
        pattern
            .rendered(|pattern| Ok(spaced(pattern)))
            .is_ok_and(|pattern| pattern.is_in(&text))
    };
    why.extend(
        has.iter()
            .filter(|it| !is_there(it))
            .map(|it| format!("has no \"{it}\"")),
    );
    why.extend(
        lacks
            .iter()
            .filter(|it| is_there(it))
            .map(|it| format!("has \"{it}\"")),
    );
    if why.is_empty() {
        Ok(())
    } else {
        Err(why.join(" and "))
    }
}

/// With one blank for all white space in a row, since a program breaks lines where the terminal ends.
fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns an argument that tmux takes as it is: a `;` at its end would end the command.
fn word(argument: &OsStr) -> OsString {
    match argument.as_bytes().strip_suffix(b";") {
        Some(rest) => OsString::from_vec([rest, b"\\;"].concat()),
        None => argument.to_owned(),
    }
}

/// Runs a command of tmux's to its end; what it printed.
fn done(verb: &str, mut command: Command) -> Result<String, TerminalError> {
    let Output {
        status,
        stdout,
        stderr,
    } = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| TerminalError::Missing { source })?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&stdout).into_owned());
    }
    Err(TerminalError::Refused {
        verb: verb.to_owned(),
        said: String::from_utf8_lossy(&stderr).trim().to_owned(),
    })
}

#[cfg(all(test, tmux))]
mod tests;
