//! The layers of the settings, each merged over those below it: the defaults, the user's file, the project's file, the
//! environment. Each is the text of a TOML file.

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize as _;
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use super::layer::{Layer, PROJECT, SOURCE, merge_tables};
use super::values::Values;
use super::{AUTO, MAX_FAILURES, MAX_ROUNDS, Settings, SettingsError};
use crate::hooks::seen::Seen;
use crate::machine::table::{Constant, ModeInfo, Table};
use crate::program::info::ProgramInfo;
use crate::program::suggest;
use crate::review::personas::Personas;
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
    table: DeTable<'t>,
    /// The settings of these layers.
    pub(super) settings: Settings,
}

/// Returns the layer of the defaults: ours, and those of the machine's file.
pub(super) fn defaults(info: &ProgramInfo) -> String {
    let mut text = include_str!("defaults.toml").to_owned();
    let table = info.table;
    let source = format!("{SOURCE}({})", table.file);
    let first = table.modes.first();
    if let Some(failures) = first.and_then(|mode| start_value(table, mode, MAX_FAILURES)) {
        text += &format!("limits.max-failures = {failures}{source}\n");
    }
    for mode in table.modes {
        if let Some(rounds) = start_value(table, mode, MAX_ROUNDS) {
            text += &format!("rounds.{} = {rounds}{source}\n", mode.name);
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
fn start_value(table: &Table, mode: &ModeInfo, field: &str) -> Option<u64> {
    let of_mode = mode.initial.iter().find(|(name, _)| *name == field);
    let of_field = || table.field(field).map(|info| info.initial);
    match of_mode.map(|(_, value)| *value).or_else(of_field) {
        Some(Constant::Count(count)) if count > 0 => Some(count),
        _ => None,
    }
}

/// Returns the layer of the environment: `CLAUDEX_REVIEWER`, `CLAUDEX_EVIDENCE`, `CLAUDEX_MAX_FAILURES`,
/// `CLAUDEX_STALE_MINUTES`, and `CLAUDEX_MAX_PLAN_ROUNDS` by the name of the mode.
pub(super) fn environment(info: &ProgramInfo, seen: &Seen) -> String {
    let fixed = [
        ("reviewer", "REVIEWER"),
        ("evidence", "EVIDENCE"),
        ("limits.max-failures", "MAX_FAILURES"),
        ("limits.stale-minutes", "STALE_MINUTES"),
    ];
    let fixed = fixed.map(|(key, name)| (key.to_owned(), name.to_owned()));
    let rounds = info.table.modes.iter().map(|mode| {
        let name = format!("MAX_{}_ROUNDS", mode.name.to_uppercase());
        (format!("rounds.{}", mode.name), name)
    });
    let mut text = String::new();
    for (key, name) in fixed.into_iter().chain(rounds) {
        let variable = info.variable(&name);
        let Some(value) = seen.variable(&variable) else {
            continue;
        };
        let value = match key.as_str() {
            // A typo must not open the gate.
            "evidence" if value != "optional" => Value::from("required"),
            "reviewer" | "evidence" => Value::from(text::plain(value)),
            _ => value
                .parse::<u64>()
                .map_or_else(|_| text::plain(value).into(), Value::from),
        };
        text += &format!("{key} = {value}{SOURCE}{variable}\n");
    }
    text
}

impl<'t> Layers<'t> {
    /// Starts with the [`defaults`].
    pub(super) fn new(info: &'static ProgramInfo, defaults: &'t str) -> Self {
        let layer = Layer::parse("default", None, defaults).expect("the defaults are TOML");
        let values = values_of(&layer.table).expect("the defaults are settings");
        let mut settings = Settings {
            evidence_in_file: values.evidence,
            values,
            rows: BTreeMap::new(),
            ignored: Vec::new(),
            info,
        };
        layer.add_rows(&layer.table, "", &mut settings.rows);
        Self {
            table: layer.table,
            settings,
        }
    }

    /// Merges the user's file. In it, the table of this program goes over what the file has for all programs.
    pub(super) fn add_user(
        &mut self,
        path: &'t Utf8Path,
        text: &'t str,
    ) -> Result<(), SettingsError> {
        let mut layer = Layer::parse("user", Some(path), text)?;
        let mut table = std::mem::take(&mut layer.table);
        layer.check_keys(&table, &USER_KEYS)?;
        let mut programs = layer.take_table(&mut table, "programs")?;
        let own = layer.take_table(&mut programs, self.settings.info.program)?;
        layer.check_keys(&own, &PROGRAM_KEYS)?;
        merge_tables(&mut table, own);
        layer.table = table;
        self.merge(&layer)?;
        let settings = &mut self.settings;
        settings.evidence_in_file = settings.values.evidence;
        // A key of earlier builds.
        let retired = |key: &str| key.starts_with("reviewers.") && key.ends_with(".sandbox");
        for row in settings.rows.values().filter(|row| retired(&row.key)) {
            settings.ignored.push(format!(
                "{}: ignored `sandbox`: it is retired; Codex and Claude run read-only",
                row.place
            ));
        }
        Ok(())
    }

    /// Merges a project's file. Anything but rounds and higher limits is ignored with one line.
    pub(super) fn add_project(
        &mut self,
        path: &'t Utf8Path,
        text: &'t str,
    ) -> Result<(), SettingsError> {
        let mut layer = Layer::parse(PROJECT, Some(path), text)?;
        let mut others: Vec<_> = layer.table.keys().cloned().collect();
        others.retain(|name| !PROJECT_KEYS.contains(&name.get_ref().as_ref()));
        others.sort_by_key(|name| name.span().start);
        let names: Vec<&str> = others.iter().map(|name| name.get_ref().as_ref()).collect();
        if let Some(first) = others.first() {
            let place = layer.place(first.span().start);
            let list = text::one_line(&suggest::list(&names), 200);
            self.settings.ignored.push(format!(
                "{place}: ignored {list}: a project's file may set only `rounds` and `limits`"
            ));
        }
        for name in names {
            layer.table.remove(name);
        }

        let mut rows = BTreeMap::new();
        layer.add_rows(&layer.table, "", &mut rows);
        let (_, values) = self.with(&layer)?;
        let lower = values.limits.names_below(&self.settings.values.limits);
        let limits = layer.table.get_mut("limits").map(Spanned::get_mut);
        if let Some(DeValue::Table(limits)) = limits {
            for name in lower {
                limits.remove(name);
                let key = format!("limits.{name}");
                let place = rows.get(&key).map_or("", |row| row.place.as_str());
                let line = format!("{place}: ignored `{key}`: it is less than yours");
                self.settings.ignored.push(line);
            }
        }
        self.merge(&layer)
    }

    /// Merges the [`environment`].
    pub(super) fn add_environment(&mut self, text: &'t str) -> Result<(), SettingsError> {
        self.merge(&Layer::parse("environment", None, text)?)
    }

    fn merge(&mut self, layer: &Layer<'t>) -> Result<(), SettingsError> {
        let (table, values) = self.with(layer)?;
        self.table = table;
        self.settings.values = values;
        layer.add_rows(&layer.table, "", &mut self.settings.rows);
        self.check_reviewers()
    }

    /// Returns the table and the values with a layer, which is the one at fault if they do not fit.
    fn with(&self, layer: &Layer<'t>) -> Result<(DeTable<'t>, Values), SettingsError> {
        let modes = self.settings.info.table.modes.iter();
        let modes: Vec<&str> = modes.map(|mode| mode.name).collect();
        let rounds = layer.take_table(&mut layer.table.clone(), "rounds")?;
        layer.check_keys(&rounds, &modes)?;
        let mut table = self.table.clone();
        merge_tables(&mut table, layer.table.clone());
        let values = values_of(&table).map_err(|error| layer.toml_error(&error))?;
        Ok((table, values))
    }

    /// Checks that the reviewer's name means one, and that no reviewer has a setting without an effect.
    fn check_reviewers(&self) -> Result<(), SettingsError> {
        let values = &self.settings.values;
        let chosen = values.reviewer.as_str();
        let known = values.reviewer_names(self.settings.info);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        if !known.contains(&chosen) {
            let message = format!("`{chosen}` is not a reviewer");
            return Err(self.error("reviewer", &message, &suggest::among(chosen, &known)));
        }
        if values.reviewers.contains_key(AUTO) {
            let help = "`auto` means any installed reviewer; give yours another name";
            return Err(self.error("reviewers.auto.", "the name `auto` is reserved", help));
        }
        for (name, reviewer) in &values.reviewers {
            if let Some((key, message, help)) = reviewer.problem() {
                return Err(self.error(&format!("reviewers.{name}.{key}"), &message, help));
            }
        }
        Ok(())
    }

    /// Describes a problem at the first key that begins so.
    fn error(&self, key: &str, message: &str, help: &str) -> SettingsError {
        let mut rows = self.settings.rows.range(key.to_owned()..);
        let place = rows.next().map_or("", |(_, row)| row.place.as_str());
        SettingsError::new(place, message, help)
    }
}

fn values_of(table: &DeTable<'_>) -> Result<Values, toml::de::Error> {
    Values::deserialize(Deserializer::from(Spanned::new(0..0, table.clone())))
}
