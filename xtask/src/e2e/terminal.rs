//! The interactive client in a terminal: a tmux server on a private socket.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::check;
use super::leftovers;
use super::pattern::Pattern;

/// Columns and rows. No scenario scrolls.
const SIZE: (&str, &str) = ("120", "180");

const POLL_INTERVAL: Duration = Duration::from_millis(50);

const SCREEN_TIMEOUT: Duration = Duration::from_secs(60);

/// The time for which a screen at rest has not changed.
const REST_TIME: Duration = Duration::from_secs(1);

/// The time between two keys. Escape and another key at once would be Alt and that key.
const KEY_INTERVAL: Duration = Duration::from_millis(150);

/// The number of characters typed at once. The client takes a much longer burst for a paste.
const BURST_CHARS: usize = 64;

/// The number of an API key's last characters that the client remembers.
const KEY_CHARS: usize = 20;

/// A program in a terminal. It ends, with everything it started, when this is dropped.
#[derive(Debug)]
pub(super) struct Terminal {
    folder: TempDir,
    /// A tmux client that ends with this process; the server ends with its last client.
    holder: Child,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) text: String,
    /// The text before the cursor, without white space.
    before: String,
}

/// Answers the questions of the client's first start in its file: theme, API key, trust.
pub(super) fn prepare(file: &Path, project: &Path, api_key: &str) -> miette::Result<()> {
    let text = fs_err::read_to_string(file).unwrap_or_else(|_| "{}".to_owned());
    let mut known: Value = serde_json::from_str(&text).into_diagnostic()?;
    let remembered = &api_key[api_key.len() - KEY_CHARS..];
    known["hasCompletedOnboarding"] = json!(true);
    known["customApiKeyResponses"] = json!({ "approved": [remembered], "rejected": [] });
    known["projects"][&*project.to_string_lossy()]["hasTrustDialogAccepted"] = json!(true);
    fs_err::write(file, known.to_string()).into_diagnostic()
}

impl Terminal {
    /// Starts the client in a new terminal, and waits until it takes input.
    pub(super) fn open(client: &Command) -> miette::Result<Self> {
        // Below the system's temporary folder: a socket's path must be short.
        let folder = tempfile::Builder::new()
            .prefix("e2e-")
            .tempdir()
            .into_diagnostic()?;
        let mut command = tmux(&folder);
        // Not tmux's `-c`, which is a template.
        command.current_dir(client.get_current_dir().unwrap_or(folder.path()));
        command.args(["-f", "/dev/null", "-C", "start-server", ";"]);
        command.args(["set-option", "-g", "status", "off", ";"]);
        command.args(["set-option", "-g", "remain-on-exit", "on", ";"]);
        command.args(["set-option", "-g", "exit-unattached", "on", ";"]);
        command.args(["new-session", "-f", "no-output", "-x", SIZE.0, "-y", SIZE.1]);
        command.args(["env", "-i", "TERM=tmux-256color"]);
        for (name, value) in client.get_envs() {
            let mut variable = name.to_owned();
            variable.push("=");
            variable.push(value.unwrap_or_default());
            command.arg(variable);
        }
        let mark = folder.path().display();
        command.arg(format!("{}={mark}", leftovers::MARK));
        command.arg(client.get_program()).args(client.get_args());
        let holder = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .into_diagnostic()
            .wrap_err("cannot run tmux")?;
        let terminal = Self { folder, holder };
        // The sign of an empty input line.
        terminal.wait_for_input("❯")?;
        Ok(terminal)
    }

    /// Types a text, and waits until the program shows it before the cursor.
    pub(super) fn type_text(&self, text: &str) -> miette::Result<()> {
        let characters: Vec<char> = text.chars().collect();
        for burst in characters.chunks(BURST_CHARS) {
            let burst: String = burst.iter().collect();
            let mut command = tmux(&self.folder);
            command.args(["send-keys", "-H"]);
            command.args(burst.bytes().map(|byte| format!("{byte:02x}")));
            crate::output(&mut command)?;
            self.wait_for_input(&without_space(&burst))?;
        }
        Ok(())
    }

    /// Waits until the text before the cursor ends so.
    fn wait_for_input(&self, end: &str) -> miette::Result<()> {
        self.wait_until(|screen| {
            let is_shown = screen.before.ends_with(end);
            let problem = || format!("has no {end:?} before the cursor");
            is_shown.then_some(()).ok_or_else(problem)
        })
    }

    pub(super) fn press(&self, keys: &[String]) -> miette::Result<()> {
        for (index, key) in keys.iter().enumerate() {
            if index > 0 {
                std::thread::sleep(KEY_INTERVAL);
            }
            let mut command = tmux(&self.folder);
            command.args(["send-keys", "--", key]);
            crate::output(&mut command)?;
        }
        Ok(())
    }

    fn look(&self) -> miette::Result<Screen> {
        let mut command = tmux(&self.folder);
        // In one command, so that nothing is drawn in between.
        command.args(["capture-pane", "-p", ";"]);
        command.args(["display-message", "-p", "#{cursor_x} #{cursor_y}"]);
        let screen = crate::output(&mut command)?;
        Screen::parse(&screen).ok_or_else(|| miette!("tmux printed no cursor: {screen:?}"))
    }

    /// Returns the screen with the escapes for its colours.
    pub(super) fn look_in_colours(&self) -> miette::Result<String> {
        let mut command = tmux(&self.folder);
        command.args(["capture-pane", "-p", "-e"]);
        crate::output(&mut command)
    }

    /// Waits until the screen has all of `has` and nothing of `lacks`. Line breaks do not count.
    pub(super) fn wait_for(&self, has: &[Pattern], lacks: &[Pattern]) -> miette::Result<()> {
        self.wait_until(|screen| {
            let text = one_line(&screen.text);
            let is_in = |it: &&Pattern| Pattern(one_line(&it.0)).end_in(&text).is_some();
            if let Some(missing) = has.iter().find(|it| !is_in(it)) {
                return Err(format!("lacks {:?}", missing.0));
            }
            let found = lacks.iter().find(is_in);
            found.map_or(Ok(()), |found| Err(format!("has {:?}", found.0)))
        })
    }

    pub(super) fn wait_until(
        &self,
        judge: impl Fn(&Screen) -> Result<(), String>,
    ) -> miette::Result<()> {
        check::until(SCREEN_TIMEOUT, || {
            let screen = self.look()?;
            judge(&screen).map_err(|why| miette!("the screen {why}:\n{}", screen.text))
        })
    }

    /// Waits until nothing changes on the screen, and returns it.
    pub(super) fn rest(&self) -> miette::Result<Screen> {
        let deadline = Instant::now() + SCREEN_TIMEOUT;
        let mut screen = self.look()?;
        let mut since = Instant::now();
        while since.elapsed() < REST_TIME && Instant::now() < deadline {
            std::thread::sleep(POLL_INTERVAL);
            let now = self.look()?;
            if now != screen {
                screen = now;
                since = Instant::now();
            }
        }
        Ok(screen)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let mut kill = tmux(&self.folder);
        kill.arg("kill-server");
        let _ = crate::output(&mut kill);
        let _ = self.holder.kill();
        let _ = self.holder.wait();
        leftovers::end(self.folder.path().as_os_str());
    }
}

impl Screen {
    /// Parses the output of `capture-pane` and the line with the cursor after it.
    fn parse(shown: &str) -> Option<Self> {
        let (rows, cursor) = shown.trim_end().rsplit_once('\n')?;
        let (column, row) = cursor.split_once(' ')?;
        let (column, row): (usize, usize) = (column.parse().ok()?, row.parse().ok()?);
        let rows: Vec<&str> = rows.split('\n').collect();
        let mut before = rows.get(..row)?.concat();
        before.extend(rows.get(row)?.chars().take(column));
        Some(Self {
            text: rows.join("\n"),
            before: without_space(&before),
        })
    }
}

fn without_space(text: &str) -> String {
    text.split_whitespace().collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns tmux with a small environment: a server passes its own on.
fn tmux(folder: &TempDir) -> Command {
    let mut command = Command::new("tmux");
    command.env_clear();
    for name in ["PATH", "LANG", "HOME"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::null());
    command.arg("-u").arg("-S").arg(folder.path().join("tmux"));
    command
}
