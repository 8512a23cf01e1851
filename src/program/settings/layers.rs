//! The layers of the settings, each merged over those below it: the defaults, the user's file, the project's file, the
//! environment. Each is the text of a TOML file.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize as _;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::file::File;
use super::values::Values;
use super::{AUTO, Environment, MAX_FAILURES, MAX_ROUNDS, MOST_ROUNDS, Settings, SettingsError};
use crate::behaviours::verify;
use crate::machine::table::{Constant, ModeInfo, Table};
use crate::process::configured::ConfiguredCommand;
use crate::program::info::ProgramInfo;
use crate::program::suggest;
use crate::review::evidence::EvidencePolicy;
use crate::review::personas::Personas;
use crate::review::settings::ReviewerKind;
use crate::text;

/// The keys of the user's file.
const USER_KEYS: [&str; 7] = [
    "reviewer",
    "reviewers",
    "commands",
    "allow_commands",
    "limits",
    "evidence",
    "programs",
];
/// The keys of one program in the user's file.
const PROGRAM_KEYS: [&str; 5] = ["reviewer", "personas", "rounds", "limits", "evidence"];
/// The keys of a project's file. An agent or a stranger's repository can write it. So it names no program, chooses no
/// reviewer, and makes no review shorter than the user's own settings do.
const PROJECT_KEYS: [&str; 2] = ["rounds", "limits"];

/// Some layers, merged.
pub(super) struct Layers<'t> {
    info: &'static ProgramInfo,
    table: DeTable<'t>,
    values: Values,
    evidence_in_file: EvidencePolicy,
    sources: BTreeMap<String, String>,
    ignored: Vec<String>,
}

/// Returns the layer of the defaults: ours, and those of the machine's file.
pub(super) fn defaults(info: &ProgramInfo) -> String {
    let mut text = include_str!("defaults.toml").to_owned();
    let table = info.table;
    let first = table.modes.first();
    if let Some(failures) = first.and_then(|mode| initial(table, mode, MAX_FAILURES)) {
        text += &format!("limits.max-failures = {failures}\n");
    }
    for mode in table.modes {
        if let Some(rounds) = initial(table, mode, MAX_ROUNDS) {
            text += &format!("rounds.{} = {rounds}\n", mode.name);
        }
    }
    for (order, persona) in (1..).zip(Personas::declared(table.personas).all()) {
        let quoted = |value: &str| Value::from(text::plain(value)).to_string();
        let name = quoted(&persona.name);
        let label = quoted(&persona.label);
        let prompt = quoted(&persona.prompt);
        let focus = persona.focus;
        text += &format!("[personas.{name}]\nlabel = {label}\nprompt = {prompt}\n");
        text += &format!("focus = \"{focus}\"\norder = {order}\n");
    }
    text
}

/// Returns the number that the machine file has in a field at the start of a mode.
fn initial(table: &Table, mode: &ModeInfo, field: &str) -> Option<u64> {
    let of_mode = mode.initial.iter().find(|(name, _)| *name == field);
    let of_field = || table.field(field).map(|info| info.initial);
    match of_mode.map(|(_, value)| *value).or_else(of_field) {
        Some(Constant::Count(count)) => Some(count).filter(|it| (1..=MOST_ROUNDS).contains(it)),
        _ => None,
    }
}

impl<'t> Layers<'t> {
    /// Starts with the [`defaults`].
    pub(super) fn new(info: &'static ProgramInfo, defaults: &'t str) -> Self {
        let file = File::parse("defaults.toml".into(), defaults).expect("the defaults are TOML");
        let values = values_of(&file.table).expect("the defaults are settings");
        Self {
            info,
            evidence_in_file: values.evidence,
            values,
            table: file.table,
            sources: BTreeMap::new(),
            ignored: Vec::new(),
        }
    }

    /// Merges the user's file. In it, the table of this program goes over what the file has for all programs.
    pub(super) fn add_user(
        &mut self,
        path: &'t Utf8Path,
        text: &'t str,
    ) -> Result<(), SettingsError> {
        let mut file = File::parse(path, text)?;
        let mut table = std::mem::take(&mut file.table);
        file.check_keys(&table, &USER_KEYS)?;
        let mut programs = file.take_table(&mut table, "programs")?;
        let own = file.take_table(&mut programs, self.info.program)?;
        file.check_keys(&own, &PROGRAM_KEYS)?;
        merge_tables(&mut table, own);
        file.table = table;
        self.merge(&file, "user")?;
        self.evidence_in_file = self.values.evidence;
        self.check_user_values(&file)
    }

    /// Checks what only the user's file may set.
    fn check_user_values(&mut self, file: &File<'_>) -> Result<(), SettingsError> {
        let values = &self.values;
        let known = values.reviewer_names(self.info);
        if !known.contains(&values.reviewer) {
            let message = format!("`{}` is no reviewer", text::one_line(&values.reviewer, 60));
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let help = suggest::among(&values.reviewer, &known);
            return Err(file.error("reviewer", &message, &help));
        }
        for (name, reviewer) in &values.reviewers {
            let key = format!("reviewers.{name}");
            if name == AUTO {
                let help = "`auto` means whichever reviewer is there; give yours another name";
                return Err(file.error(&key, "the name `auto` is reserved", help));
            }
            if reviewer.kind == ReviewerKind::Command && reviewer.program.is_none() {
                let message = format!("the reviewer `{name}` is a command, and has no `program`");
                let help = "say which one: program = \"/absolute/path\", or a name in PATH";
                return Err(file.error(&key, &message, help));
            }
            if reviewer.sandbox.is_some() {
                let what = "`sandbox`: it is retired; Codex and Claude run read-only";
                let line = file.ignored(&format!("{key}.sandbox"), what);
                self.ignored.push(line);
            }
        }
        for (name, command) in &values.commands {
            if command.timeout > ConfiguredCommand::LONGEST_TIMEOUT {
                let message = "a command runs within a stop, for 9m at most";
                let help = "give it less to do, or have the agent run what takes longer";
                return Err(file.error(&format!("commands.{name}.timeout"), message, help));
            }
        }
        let of_reviewers = values.reviewers.iter();
        let of_reviewers = of_reviewers.map(|(name, it)| ("reviewers", name, &it.environment));
        let of_commands = values.commands.iter();
        let of_commands = of_commands.map(|(name, it)| ("commands", name, &it.environment));
        for (table, name, variables) in of_reviewers.chain(of_commands) {
            if let Some(variable) = variables.iter().find(|variable| variable.contains('=')) {
                let message = format!("`{variable}` is not the name of a variable");
                let help = "give names alone; the values are taken from your environment";
                return Err(file.error(&format!("{table}.{name}.environment"), &message, help));
            }
        }
        for line in &values.allow_commands {
            if let Some(problem) = verify::line_problem(line) {
                let message = format!("the command `{}` {problem}", text::shown(line));
                let help = "write one line of visible characters";
                return Err(file.error("allow_commands", &message, help));
            }
        }
        Ok(())
    }

    /// Merges a project's file. What else it has than rounds and higher limits is ignored with one line each.
    pub(super) fn add_project(
        &mut self,
        path: &'t Utf8Path,
        text: &'t str,
    ) -> Result<(), SettingsError> {
        let mut file = File::parse(path, text)?;
        let mut others: Vec<_> = file.table.keys().cloned().collect();
        others.retain(|name| !PROJECT_KEYS.contains(&name.get_ref().as_ref()));
        others.sort_by_key(|name| name.span().start);
        if let Some(first) = others.first() {
            let names: Vec<&str> = others.iter().map(|name| name.get_ref().as_ref()).collect();
            let names = text::one_line(&suggest::list(&names), 200);
            let what = format!("{names}: a project's file may set only `rounds` and `limits`");
            self.ignored.push(file.ignored(first.get_ref(), &what));
        }
        for name in others {
            file.table.remove(name.get_ref().as_ref());
        }

        let (_, values) = self.with(&file)?;
        let (own, new) = (&self.values.limits, &values.limits);
        let limits = [
            ("timeout", new.timeout < own.timeout),
            ("idle-timeout", new.idle_timeout < own.idle_timeout),
            ("max-failures", new.max_failures < own.max_failures),
            ("stale-minutes", new.stale_minutes < own.stale_minutes),
        ];
        for (name, _) in limits.into_iter().filter(|(_, is_lower)| *is_lower) {
            let key = format!("limits.{name}");
            let line = file.ignored(&key, &format!("`{key}`: it is less than yours"));
            self.ignored.push(line);
            let table = file.table.get_mut("limits").map(Spanned::get_mut);
            if let Some(DeValue::Table(limits)) = table {
                limits.remove(name);
            }
        }
        self.merge(&file, "project")
    }

    /// Merges the environment.
    pub(super) fn add_environment(
        &mut self,
        environment: &'t Environment,
    ) -> Result<(), SettingsError> {
        let file = File::parse("environment".into(), &environment.text)?;
        self.merge(&file, "environment")?;
        self.sources.extend(environment.sources.clone());
        Ok(())
    }

    /// Returns the settings that hold.
    pub(super) fn finish(self) -> Settings {
        let table = Deserializer::from(Spanned::new(0..0, self.table));
        Settings {
            values: self.values,
            table: Value::deserialize(table).unwrap_or_default(),
            sources: self.sources,
            evidence_in_file: self.evidence_in_file,
            ignored: self.ignored,
            info: self.info,
        }
    }

    fn merge(&mut self, file: &File<'t>, whose: &str) -> Result<(), SettingsError> {
        let (table, values) = self.with(file)?;
        self.table = table;
        self.values = values;
        let sources = file.sources();
        self.sources
            .extend(sources.map(|(key, source)| (key, format!("{whose} {source}"))));
        Ok(())
    }

    /// Returns the table and the values with a layer, which is the one at fault if they do not fit.
    fn with(&self, file: &File<'t>) -> Result<(DeTable<'t>, Values), SettingsError> {
        let modes: Vec<&str> = self.info.table.modes.iter().map(|mode| mode.name).collect();
        let rounds = file.table.get("rounds");
        if let Some(rounds) = rounds.and_then(|rounds| rounds.get_ref().as_table()) {
            file.check_keys(rounds, &modes)?;
        }
        let mut table = self.table.clone();
        merge_tables(&mut table, file.table.clone());
        let values = values_of(&table).map_err(|error| file.toml_error(&error))?;
        Ok((table, values))
    }
}

fn values_of(table: &DeTable<'_>) -> Result<Values, toml::de::Error> {
    Values::deserialize(Deserializer::from(Spanned::new(0..0, table.clone())))
}

/// Merges a table over another one.
fn merge_tables<'t>(lower: &mut DeTable<'t>, upper: DeTable<'t>) {
    for (name, value) in upper {
        let key = name.get_ref().as_ref();
        let below = lower.get_mut(key).map(Spanned::get_mut);
        if let (Some(DeValue::Table(lower)), DeValue::Table(upper)) = (below, value.get_ref()) {
            merge_tables(lower, upper.clone());
        } else {
            lower.remove(key);
            lower.insert(name, value);
        }
    }
}
