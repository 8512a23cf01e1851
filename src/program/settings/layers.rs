//! The layers of the settings, lowest first: defaults, user's file, project's file, environment.

use std::collections::BTreeMap;
use std::io;

use camino::Utf8Path;
use serde::Deserialize as _;
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::{FAILURES_FIELD, MAX_FAILURES_KEY, ROUNDS_FIELD, Settings, rounds_key, user_path};
use crate::files::{self, Folder};
use crate::hooks::session_records::SessionEnvironment;
use crate::process::limits::Spelled;
use crate::program::exit::{Exit, Failure};
use crate::program::info::ProgramInfo;
use crate::text;

const PROJECT_FOLDER: &str = ".claude";
/// The keys allowed in a project's file, which an agent or a foreign repository can write. So it
/// chooses no program or reviewer, and shortens no review.
const PROJECT_KEYS: [&str; 2] = ["rounds", "limits"];
/// The largest project's file, in bytes. Thousands of nested tables overflow the stack.
const MAX_PROJECT_BYTES: u64 = 4 * 1024;
/// The keys that environment variables set, with the end of each variable's name.
const VARIABLES: [(&str, &str); 4] = [
    ("reviewer", "REVIEWER"),
    ("evidence", "EVIDENCE"),
    (MAX_FAILURES_KEY, "MAX_FAILURES"),
    ("limits.stale-minutes", "STALE_MINUTES"),
];
const MAX_ERROR_CHARS: usize = 500;
const EXAMPLE_HELP: &str = "compare it with docs/configuration.md";

/// One setting with its source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The parts of the key, such as `reviewers.codex.model`.
    path: Vec<String>,
    /// The value: text, a number, or a list of text.
    pub value: Value,
    /// `default`, `user`, `project` or `environment`.
    pub layer: &'static str,
    /// The file with line and column, or the variable.
    place: String,
}

impl Row {
    /// Returns the key: `reviewers.codex.model`.
    pub fn key(&self) -> String {
        self.path.join(".")
    }

    /// Returns the source: `user /home/me/.config/claudex-loop/config.toml:12:1`.
    pub fn source(&self) -> String {
        let source = format!("{} {}", self.layer, self.place);
        source.trim_end().to_owned()
    }

    /// Returns a limit's number, or its duration in milliseconds.
    fn limit(&self) -> Option<u128> {
        let duration = || Some(Spelled::deserialize(&self.value).ok()?.0.as_millis());
        self.value.as_u64().map(u128::from).or_else(duration)
    }
}

/// Makes an error at a setting's place. The second line of a message is its help.
fn error(place: &str, message: &str) -> Failure {
    let (message, help) = message.split_once('\n').unwrap_or((message, EXAMPLE_HELP));
    let [message, help] = [message, help].map(|line| text::one_line(line, MAX_ERROR_CHARS));
    Failure::with_help(Exit::Usage, format!("{place}: {message}"), &help)
}

/// Parses a file into rows, in their order. An empty table has none.
fn parse(layer: &'static str, file: &Utf8Path, text: &str) -> Result<Vec<Row>, Failure> {
    let place = |start: usize| {
        let before = &text[..text.floor_char_boundary(start)];
        let lines: Vec<&str> = before.split('\n').collect();
        let column = lines[lines.len() - 1].chars().count() + 1;
        format!("{}:{}:{column}", text::escape_hidden(file), lines.len())
    };
    let table = DeTable::parse(text).map_err(|problem| {
        let start = problem.span().map_or(text.len(), |span| span.start);
        error(&place(start), &problem.message().replace('\n', " "))
    })?;
    // Recursion into a hostile file's tables could overflow the stack.
    let mut tables = vec![(Vec::new(), table.get_ref())];
    let mut rows = BTreeMap::new();
    while let Some((above, table)) = tables.pop() {
        for (name, value) in table {
            let path = [&above[..], &[name.get_ref().to_string()]].concat();
            if let DeValue::Table(inner) = value.get_ref() {
                tables.push((path, inner));
                continue;
            }
            // JSON can express every TOML value.
            let value = Value::deserialize(ValueDeserializer::from(value.clone()));
            let start = name.span().start;
            let row = Row {
                path,
                value: value.unwrap_or_default(),
                layer,
                place: place(start),
            };
            rows.insert(start, row);
        }
    }
    Ok(rows.into_values().collect())
}

/// Returns the text of a file, or no text if the file is missing.
fn text_of(read: io::Result<Vec<u8>>, path: &Utf8Path) -> Result<String, Failure> {
    let text = files::optional(read.and_then(files::text)).map_err(|error| {
        let message = format!("cannot read {}: {error}", text::escape_hidden(path));
        let help = "put a TOML file there, saved as UTF-8, or move it away";
        Failure::with_help(Exit::Usage, message, help)
    })?;
    Ok(text.unwrap_or_default())
}

pub(super) struct Layers<'i> {
    info: &'i ProgramInfo,
    rows: Vec<Row>,
    ignored: Vec<String>,
}

impl<'i> Layers<'i> {
    pub(super) fn defaults(info: &'i ProgramInfo) -> Self {
        let ours = parse("default", "".into(), include_str!("defaults.toml"));
        let mut rows = ours.expect("the defaults are TOML");
        rows.iter_mut().for_each(|row| row.place.clear());
        let mut layers = Self {
            info,
            rows,
            ignored: Vec::new(),
        };
        let table = info.table;
        let rounds = (table.modes.iter()).map(|mode| (rounds_key(mode), mode, ROUNDS_FIELD));
        let failures = (MAX_FAILURES_KEY.to_owned(), &table.modes[0], FAILURES_FIELD);
        for (key, mode, field) in rounds.chain([failures]) {
            let field = table.state.field(field);
            let initial = field.map(|field| mode.start_value(field));
            if let Some(number) = initial.filter(|value| value.as_u64() > Some(0)) {
                layers.set(&key, number, "default", format!("({})", table.file));
            }
        }
        layers
    }

    /// Sets a value that no file has, over those below it.
    fn set(&mut self, key: &str, value: Value, layer: &'static str, place: String) {
        self.add(Row {
            path: key.split('.').map(str::to_owned).collect(),
            value,
            layer,
            place,
        });
    }

    /// Puts a row over those below it. A value replaces a table of the same name, and vice versa.
    fn add(&mut self, row: Row) {
        self.rows.retain(|below| {
            !below.path.starts_with(&row.path) && !row.path.starts_with(&below.path)
        });
        self.rows.push(row);
    }

    /// Adds the user's file, in which this program's table goes over those for all programs.
    pub(super) fn add_user(&mut self, file: &Utf8Path, text: &str) -> Result<(), Failure> {
        let program = self.info.program;
        let mut rows = parse("user", file, text)?;
        rows.sort_by_key(|row| row.path[0] == "programs");
        for mut row in rows {
            let names: Vec<&str> = row.path.iter().map(String::as_str).collect();
            match names[..] {
                ["rounds", ..] => {
                    let help = format!("write it below [programs.{program}]");
                    let message = format!("`rounds` belongs to one program\n{help}");
                    return Err(error(&row.place, &message));
                }
                ["programs"] | ["programs", _] => {
                    return Err(error(&row.place, "expected a table"));
                }
                ["programs", name, ..] if name == program => {
                    row.path.drain(..2);
                    self.add(row);
                }
                ["programs", ..] => {}
                ["reviewers", _, "sandbox"] => {
                    let why = "`sandbox`: it is retired; Codex and Claude run read-only";
                    self.ignore(&row, why);
                }
                _ => self.add(row),
            }
        }
        Ok(())
    }

    /// Adds a project's file. Anything but rounds and higher limits is ignored with one line.
    pub(super) fn add_project(&mut self, file: &Utf8Path, text: &str) -> Result<(), Failure> {
        let mut others: Vec<Row> = Vec::new();
        for row in parse("project", file, text)? {
            let below = self.rows.iter().find(|below| below.path == row.path);
            let least = below.and_then(Row::limit);
            let is_lower = row.limit().is_some_and(|limit| Some(limit) < least);
            if !PROJECT_KEYS.contains(&&*row.path[0]) {
                others.push(row);
            } else if row.path[0] == "limits" && is_lower {
                self.ignore(&row, &format!("`{}`: it is less than yours", row.key()));
            } else {
                self.add(row);
            }
        }
        if let Some(first) = others.first() {
            let mut names: Vec<&str> = others.iter().map(|row| &*row.path[0]).collect();
            names.dedup();
            let names = text::one_line(&names.join("`, `"), 200);
            let why = "a project's file may set only `rounds` and `limits`";
            self.ignore(first, &format!("`{names}`: {why}"));
        }
        Ok(())
    }

    fn ignore(&mut self, row: &Row, why: &str) {
        self.ignored.push(format!("{}: ignored {why}", row.place));
    }

    /// Adds variables such as `CLAUDEX_MAX_FAILURES`, and `CLAUDEX_MAX_PLAN_ROUNDS` for a mode.
    fn add_environment(&mut self, seen: &SessionEnvironment) {
        let variables = VARIABLES.map(|(key, name)| (key.to_owned(), name.to_owned()));
        let rounds = self.info.table.modes.iter().map(|mode| {
            let name = format!("MAX_{}_ROUNDS", mode.name.to_uppercase());
            (rounds_key(mode), name)
        });
        for (key, name) in variables.into_iter().chain(rounds) {
            let variable = self.info.variable(&name);
            let Some(text) = seen.variable(&variable) else {
                continue;
            };
            let value = match text.parse::<u64>() {
                // A typo must not waive the evidence.
                _ if key == "evidence" && text != "optional" => "required".into(),
                Ok(number) if key.contains('.') => number.into(),
                _ => text::strip_hidden(text).into(),
            };
            self.set(&key, value, "environment", variable);
        }
    }

    /// Reads the values of all layers. An error names the place of its row.
    pub(super) fn finish(mut self) -> Result<Settings, Failure> {
        let settings = settings(&self.rows, self.info).map_err(|message| {
            // The row whose predecessors have another error, or none.
            let mut at = self.rows.len() - 1;
            while at > 0 && settings(&self.rows[..at], self.info).as_ref() == Err(&message) {
                at -= 1;
            }
            error(&self.rows[at].place, &message)
        })?;
        self.rows.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(Settings {
            rows: self.rows,
            ignored: self.ignored,
            ..settings
        })
    }
}

impl Settings {
    /// Returns the defaults.
    pub fn defaults(info: &ProgramInfo) -> Self {
        let defaults = Layers::defaults(info).finish();
        defaults.expect("the defaults are settings")
    }

    pub(crate) fn read(
        info: &ProgramInfo,
        root: &Utf8Path,
        seen: &SessionEnvironment,
    ) -> Result<Self, Failure> {
        let mut layers = Layers::defaults(info);
        if let Some(user) = seen.configuration.clone().or_else(user_path) {
            layers.add_user(&user, &text_of(files::read(&user), &user)?)?;
        }
        let name = format!("{}.toml", info.name);
        let path = root.join(PROJECT_FOLDER).join(&name);
        // No symlink below the root is followed.
        let folder = Folder::open(root).and_then(|root| root.subfolder(PROJECT_FOLDER));
        let bytes = folder.and_then(|folder| folder.read(&name, MAX_PROJECT_BYTES));
        layers.add_project(&path, &text_of(bytes, &path)?)?;
        layers.add_environment(seen);
        layers.finish()
    }
}

/// Returns the settings of rows, none of which is both a value and a table.
fn settings(rows: &[Row], info: &ProgramInfo) -> Result<Settings, String> {
    let mut table = json!({});
    for row in rows {
        let names = row.path.iter();
        let value = names.fold(&mut table, |table, name| &mut table[name.as_str()]);
        *value = row.value.clone();
    }
    let settings = Settings::deserialize(table).map_err(|error| error.to_string())?;
    settings.check(info)?;
    Ok(settings)
}
