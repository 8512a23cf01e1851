//! The interactive client in a terminal: a tmux server on a private socket.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::check;
use super::launch::Launch;
use super::leftovers;
use super::pattern::Pattern;

/// Columns and rows. No scenario scrolls.
const SIZE: (&str, &str) = ("120", "180");

/// The time between two looks at the screen.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The longest wait for a screen.
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
    holder: Option<Child>,
}

/// The screen of a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Screen {
    pub(super) text: String,
    /// The text before the cursor, without white space.
    before: String,
}

/// Answers the questions of the client's first start: theme, API key, trust in the project.
pub(super) fn prepare(config: &Path, project: &Path, api_key: &str) -> miette::Result<()> {
    let path = config.join(".claude.json");
    let text = fs_err::read_to_string(&path).unwrap_or_else(|_| "{}".to_owned());
    let mut known: Map<String, Value> = serde_json::from_str(&text).into_diagnostic()?;
    let remembered = &api_key[api_key.len() - KEY_CHARS..];
    known.insert("hasCompletedOnboarding".to_owned(), json!(true));
    known.insert(
        "customApiKeyResponses".to_owned(),
        json!({ "approved": [remembered], "rejected": [] }),
    );
    let projects = known.entry("projects").or_insert_with(|| json!({}));
    projects[&*project.to_string_lossy()]["hasTrustDialogAccepted"] = json!(true);
    fs_err::write(path, Value::Object(known).to_string()).into_diagnostic()
}

impl Terminal {
    /// Starts the client in a new terminal, and waits until it takes input.
    pub(super) fn open(launch: &Launch) -> miette::Result<Self> {
        // Below the system's temporary folder: a socket's path must be short.
        let folder = tempfile::Builder::new()
            .prefix("e2e-")
            .tempdir()
            .into_diagnostic()?;
        let mut terminal = Self {
            folder,
            holder: None,
        };
        terminal.start(launch)?;
        let mut command = terminal.tmux();
        command.args(["-C", "attach-session", "-f", "no-output", ";"]);
        command.args(["set-option", "-g", "exit-unattached", "on"]);
        let holder = command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        terminal.holder = Some(holder.into_diagnostic()?);
        // The sign of an empty input line.
        terminal.wait_for_input("❯")?;
        Ok(terminal)
    }

    fn start(&self, launch: &Launch) -> miette::Result<()> {
        let mut command = self.tmux();
        // Not tmux's `-c`, which is a template.
        command.current_dir(&launch.folder);
        command.args(["-f", "/dev/null", "start-server", ";"]);
        command.args(["set-option", "-g", "status", "off", ";"]);
        command.args(["set-option", "-g", "remain-on-exit", "on", ";"]);
        command.args(["new-session", "-d", "-x", SIZE.0, "-y", SIZE.1]);
        command.args(["env", "-i", "TERM=tmux-256color"]);
        let variables = launch.env.iter();
        command.args(variables.map(|(name, value)| format!("{name}={value}")));
        let mark = self.folder.path().display();
        command.arg(format!("{}={mark}", leftovers::MARK));
        command.arg(&launch.program).args(&launch.arguments);
        run(command).map(drop)
    }

    /// Types a text, and waits until the program shows it before the cursor.
    pub(super) fn type_text(&self, text: &str) -> miette::Result<()> {
        let characters: Vec<char> = text.chars().collect();
        for burst in characters.chunks(BURST_CHARS) {
            let burst: String = burst.iter().collect();
            let mut command = self.tmux();
            command.args(["send-keys", "-H"]);
            command.args(burst.bytes().map(|byte| format!("{byte:02x}")));
            run(command)?;
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

    /// Presses keys by tmux's names.
    pub(super) fn press(&self, keys: &[String]) -> miette::Result<()> {
        for (index, key) in keys.iter().enumerate() {
            if index > 0 {
                std::thread::sleep(KEY_INTERVAL);
            }
            let mut command = self.tmux();
            command.args(["send-keys", "--", key]);
            run(command)?;
        }
        Ok(())
    }

    fn look(&self) -> miette::Result<Screen> {
        let mut command = self.tmux();
        // In one command, so that nothing is drawn in between.
        command.args(["capture-pane", "-p", ";"]);
        command.args(["display-message", "-p", "#{cursor_x} #{cursor_y}"]);
        let screen = run(command)?;
        Screen::parse(&screen).ok_or_else(|| miette!("tmux printed no cursor: {screen:?}"))
    }

    /// Returns the screen with the escapes for its colours.
    pub(super) fn look_in_colours(&self) -> miette::Result<String> {
        let mut command = self.tmux();
        command.args(["capture-pane", "-p", "-e"]);
        run(command)
    }

    /// Waits until the screen has all of `has` and nothing of `lacks`. Line breaks do not count.
    pub(super) fn wait_for(&self, has: &[Pattern], lacks: &[Pattern]) -> miette::Result<()> {
        self.wait_until(|screen| {
            let text = one_line(&screen.text);
            let is_in = |it: &&Pattern| Pattern(one_line(&it.0)).is_in(&text);
            if let Some(missing) = has.iter().find(|it| !is_in(it)) {
                return Err(format!("lacks {:?}", missing.0));
            }
            let found = lacks.iter().find(is_in);
            found.map_or(Ok(()), |found| Err(format!("has {:?}", found.0)))
        })
    }

    /// Waits until `judge` accepts the screen.
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

    fn socket(&self) -> PathBuf {
        self.folder.path().join("tmux")
    }

    /// Returns tmux with a small environment: a server passes its own on.
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
        kill.arg("kill-server");
        let _ = run(kill);
        if let Some(mut holder) = self.holder.take() {
            let _ = holder.kill();
            let _ = holder.wait();
        }
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

/// Runs a tmux command and returns its output.
fn run(mut command: Command) -> miette::Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .into_diagnostic()
        .wrap_err("cannot run tmux")?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(miette!("tmux failed: {}", message.trim()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
