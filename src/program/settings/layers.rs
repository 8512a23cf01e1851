//! The layers of the settings, each over those below it: the defaults, the user's file, the project's file, the
//! environment. Each is a list of rows: values with their sources.

use camino::Utf8Path;
use serde::Deserialize as _;
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::values::Values;
use super::{MAX_FAILURES, MAX_FAILURES_KEY, MAX_ROUNDS, Settings, SettingsError};
use crate::hooks::seen::Seen;
use crate::machine::declared_personas;
use crate::machine::table::{ModeInfo, Table};
use crate::process::limits::parse_duration;
use crate::program::info::ProgramInfo;
use crate::program::suggest;
use crate::review::personas::Personas;
use crate::text;

/// The keys of a project's file. An agent or a stranger's repository can write it. So it names no program, chooses no
/// reviewer, and makes no review shorter than the user's own settings do.
const PROJECT_KEYS: [&str; 2] = ["rounds", "limits"];
/// The keys that a variable of the environment sets, with its name after that of the program.
const VARIABLES: [(&str, &str); 4] = [
    ("reviewer", "REVIEWER"),
    ("evidence", "EVIDENCE"),
    (MAX_FAILURES_KEY, "MAX_FAILURES"),
    ("limits.stale-minutes", "STALE_MINUTES"),
];
/// The most dots in a project's file. Each may nest a table, and a tree of thousands overflows the stack.
const MAX_DOTS: usize = 500;
/// The longest error or help, in characters.
const MAX_ERROR_CHARS: usize = 500;
/// The help if there is no other.
const EXAMPLE_HELP: &str = "compare it with the example in docs/configuration.md";

/// One setting with its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The names that make the key, such as `reviewers.codex.model`.
    pub(super) path: Vec<String>,
    /// The value: text, a number, or a list of text.
    pub value: Value,
    /// The source: `user /home/me/.config/claudex-loop/config.toml:12`.
    pub source: String,
    /// The file with line and column, or the variable.
    place: String,
}

impl Row {
    /// Makes a row that no file has.
    fn new(key: &str, value: Value, source: String) -> Self {
        Self {
            path: key.split('.').map(str::to_owned).collect(),
            value,
            place: source.rsplit(' ').next().unwrap_or_default().to_owned(),
            source,
        }
    }

    /// Returns the key: `reviewers.codex.model`.
    pub fn key(&self) -> String {
        self.path.join(".")
    }
}

/// Makes an error. `place` is a file with line and column, or a variable.
fn error(place: &str, message: &str, help: &str) -> SettingsError {
    let message = text::one_line(message, MAX_ERROR_CHARS);
    let help = text::one_line(help, MAX_ERROR_CHARS);
    SettingsError::new(format!("{place}: {message}"), help)
}

/// Parses a file into rows, in their order. An empty table has none.
fn parse(owner: &str, file: &Utf8Path, text: &str) -> Result<Vec<Row>, SettingsError> {
    let file = text::exact(file);
    let position = |start: usize| {
        let before = &text[..text.floor_char_boundary(start)];
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    };
    let table = DeTable::parse(text).map_err(|problem| {
        let start = problem.span().map_or(text.len(), |span| span.start);
        let (line, column) = position(start);
        let place = format!("{file}:{line}:{column}");
        error(&place, problem.message(), EXAMPLE_HELP)
    })?;
    let mut values = Vec::new();
    flatten(table.get_ref(), &[], &mut values);
    values.sort_by_key(|(start, ..)| *start);
    let rows = values.into_iter().map(|(start, path, value)| {
        let (line, column) = position(start);
        Row {
            path,
            value,
            source: format!("{owner} {file}:{line}"),
            place: format!("{file}:{line}:{column}"),
        }
    });
    Ok(rows.collect())
}

/// Collects the values of a table, each with the place of its name and its path, which begins with `above`.
fn flatten(table: &DeTable<'_>, above: &[String], values: &mut Vec<(usize, Vec<String>, Value)>) {
    for (name, value) in table {
        let path = [above, &[name.get_ref().to_string()]].concat();
        if let DeValue::Table(inner) = value.get_ref() {
            flatten(inner, &path, values);
            continue;
        }
        // Every value of TOML has its like in JSON.
        let json = Value::deserialize(ValueDeserializer::from(value.clone()));
        values.push((name.span().start, path, json.unwrap_or_default()));
    }
}

impl Settings {
    /// Returns the defaults: ours, and those of the machine's file.
    pub fn usual(info: &'static ProgramInfo) -> Self {
        let ours = include_str!("defaults.toml");
        let mut rows = parse("", "".into(), ours).expect("the defaults are TOML");
        for row in &mut rows {
            row.source = "default".to_owned();
        }
        let table = info.table;
        let mut add_number = |key: &str, mode: &ModeInfo, field: &str| {
            if let Some(number) = start_value(table, mode, field) {
                let source = format!("default ({})", table.file);
                rows.push(Row::new(key, number.into(), source));
            }
        };
        for mode in table.modes {
            add_number(&format!("rounds.{}", mode.name), mode, MAX_ROUNDS);
        }
        if let Some(mode) = table.modes.first() {
            add_number(MAX_FAILURES_KEY, mode, MAX_FAILURES);
        }
        for (order, persona) in (1..).zip(Personas::declared(declared_personas(table)).all()) {
            for (key, value) in [
                ("label", text::plain(&persona.label).into()),
                ("prompt", text::plain(&persona.prompt).into()),
                ("focus", persona.focus.to_string().into()),
                ("order", Value::from(order)),
            ] {
                let key = format!("personas.{}.{key}", persona.name);
                rows.push(Row::new(&key, value, "default".to_owned()));
            }
        }
        rows.sort_by(|one, other| one.path.cmp(&other.path));
        Self {
            values: values(&rows, info).expect("the defaults are settings"),
            rows,
            ignored: Vec::new(),
            info,
        }
    }

    /// Puts a row over those below it. A value replaces a table of the same name, and a table a value.
    fn add(&mut self, row: Row) {
        self.rows.retain(|below| {
            !below.path.starts_with(&row.path) && !row.path.starts_with(&below.path)
        });
        self.rows.push(row);
    }

    /// Adds the user's file. In it, the table of this program goes over the tables for all programs.
    pub(super) fn add_user(&mut self, file: &Utf8Path, text: &str) -> Result<(), SettingsError> {
        let rows = parse("user", file, text)?.into_iter();
        let (of_programs, rows): (Vec<Row>, Vec<Row>) =
            rows.partition(|row| row.path[0] == "programs");
        for row in rows {
            let name = row.path[0].as_str();
            if ["rounds", "personas"].contains(&name) {
                let message = format!("`{name}` belongs to one program");
                let help = format!("write it below [programs.{}]", self.info.program);
                return Err(error(&row.place, &message, &help));
            }
            if name == "reviewers" && row.path.get(2).is_some_and(|key| key == "sandbox") {
                let why = "`sandbox`: it is retired; Codex and Claude run read-only";
                self.ignored.push(format!("{}: ignored {why}", row.place));
            } else {
                self.add(row);
            }
        }
        for mut row in of_programs {
            if row.path.len() < 3 {
                return Err(error(&row.place, "expected a table", EXAMPLE_HELP));
            }
            if row.path[1] == self.info.program {
                row.path.drain(..2);
                self.add(row);
            }
        }
        Ok(())
    }

    /// Adds a project's file. Anything but rounds and higher limits is ignored with one line.
    pub(super) fn add_project(&mut self, file: &Utf8Path, text: &str) -> Result<(), SettingsError> {
        if text.matches('.').count() > MAX_DOTS {
            return Err(error(&text::exact(file), "too many dots", EXAMPLE_HELP));
        }
        let rows = parse("project", file, text)?.into_iter();
        let is_allowed = |row: &Row| PROJECT_KEYS.contains(&row.path[0].as_str());
        let (rows, others): (Vec<Row>, Vec<Row>) = rows.partition(is_allowed);
        if let Some(first) = others.first() {
            let mut names: Vec<&str> = others.iter().map(|row| row.path[0].as_str()).collect();
            names.dedup();
            let list = text::one_line(&suggest::list(&names), 200);
            self.ignored.push(format!(
                "{}: ignored {list}: a project's file may set only `rounds` and `limits`",
                first.place
            ));
        }
        for row in rows {
            let key = row.key();
            let least = self.row(&key).and_then(|below| limit_size(&below.value));
            let size = limit_size(&row.value);
            if row.path[0] == "limits" && size.is_some() && size < least {
                let line = format!("{}: ignored `{key}`: it is less than yours", row.place);
                self.ignored.push(line);
            } else {
                self.add(row);
            }
        }
        Ok(())
    }

    /// Adds the environment: variables such as `CLAUDEX_MAX_FAILURES`, and `CLAUDEX_MAX_PLAN_ROUNDS` by the name of the mode.
    pub(super) fn add_environment(&mut self, seen: &Seen) {
        let variables = VARIABLES.map(|(key, name)| (key.to_owned(), name.to_owned()));
        let rounds = self.info.table.modes.iter().map(|mode| {
            let name = format!("MAX_{}_ROUNDS", mode.name.to_uppercase());
            (format!("rounds.{}", mode.name), name)
        });
        for (key, name) in variables.into_iter().chain(rounds) {
            let variable = self.info.variable(&name);
            let Some(text) = seen.variable(&variable) else {
                continue;
            };
            let value = match text.parse::<u64>() {
                // A typo must not open the gate.
                _ if key == "evidence" && text != "optional" => "required".into(),
                Ok(number) if key.contains('.') => number.into(),
                _ => text::plain(text).into(),
            };
            self.add(Row::new(&key, value, format!("environment {variable}")));
        }
    }

    /// Reads the values of all layers.
    pub(super) fn finish(mut self) -> Result<Self, SettingsError> {
        let values = values(&self.rows, self.info);
        self.values = values.map_err(|message| self.value_error(&message))?;
        self.rows.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(self)
    }

    /// Returns a description of an error at the row that brings it. A message of two lines has its help in the second.
    fn value_error(&self, message: &str) -> SettingsError {
        let has_error = |count: &usize| {
            let error = values(&self.rows[..*count], self.info).err();
            error.as_deref() == Some(message)
        };
        let counts = (1..=self.rows.len()).rev().take_while(has_error);
        let place = &self.rows[counts.last().unwrap_or(self.rows.len()) - 1].place;
        if let Some((message, help)) = message.split_once('\n') {
            return error(place, message, help);
        }
        match message.split_once(", expected ") {
            Some((start, names)) if start.starts_with("unknown ") => {
                let name = start.split('`').nth(1).unwrap_or_default();
                let known: Vec<&str> = names.split('`').skip(1).step_by(2).collect();
                error(place, start, &suggest::among(name, &known))
            }
            _ => {
                let message = message.replace("expected i64", "expected an integer");
                error(place, &message, EXAMPLE_HELP)
            }
        }
    }
}

/// Returns the values of rows, none of which is both a value and a table.
fn values(rows: &[Row], info: &ProgramInfo) -> Result<Values, String> {
    let mut table = json!({});
    for row in rows {
        let names = row.path.iter();
        let value = names.fold(&mut table, |table, name| &mut table[name.as_str()]);
        *value = row.value.clone();
    }
    let values: Values = serde_json::from_value(table).map_err(|error| error.to_string())?;
    values.check(info)?;
    Ok(values)
}

/// Returns the number that the machine file has in a field at the start of a mode.
fn start_value(table: &Table, mode: &ModeInfo, field: &str) -> Option<u64> {
    let value = mode.first(table.field(field)?);
    value.as_u64().filter(|count| *count > 0)
}

/// Returns the size of a limit, a number or a duration in milliseconds.
fn limit_size(limit: &Value) -> Option<u128> {
    let duration = || Some(parse_duration(limit.as_str()?).ok()?.as_millis());
    limit.as_u64().map(u128::from).or_else(duration)
}
