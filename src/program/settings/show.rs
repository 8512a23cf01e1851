//! Every setting that holds, and where it comes from.

use serde::Serialize;
use serde_json::{Value, json};

use super::origin::Origin;
use super::{MAX_FAILURES, MAX_ROUNDS, Settings};
use crate::machine::table::{Constant, ModeInfo, Table};
use crate::process::limits::Spelled;
use crate::review::evidence::EvidencePolicy;

/// One setting.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shown {
    /// Its key, as the user's file has it: `rounds.plan`.
    pub key: String,
    /// Its value: text, a number, or a list of text.
    pub value: Value,
    /// Where it comes from.
    #[serde(serialize_with = "as_object")]
    pub origin: Origin,
}

fn as_object<S: serde::Serializer>(origin: &Origin, serializer: S) -> Result<S::Ok, S::Error> {
    match origin {
        Origin::Environment(variable) => json!({ "from": "environment", "variable": variable }),
        Origin::File { whose, file, line } => {
            json!({ "from": whose.to_string(), "file": file, "line": line })
        }
        Origin::Default => json!({ "from": "default" }),
        Origin::Machine(file) => json!({ "from": "default", "file": file }),
    }
    .serialize(serializer)
}

/// Returns the failures of a reviewer that end a loop by the machine file, if it has such a field.
pub(super) fn initial_failures(table: &Table) -> Option<u64> {
    initial(table, table.modes.first()?, MAX_FAILURES)
}

/// Returns what the machine file has in a count field at the start of a mode.
fn initial(table: &Table, mode: &ModeInfo, field: &str) -> Option<u64> {
    let of_mode = mode.initial.iter().find(|(name, _)| *name == field);
    let of_field = || table.field(field).map(|info| info.initial);
    match of_mode.map(|(_, value)| *value).or_else(of_field) {
        Some(Constant::Count(count)) => Some(count),
        _ => None,
    }
}

/// Every setting, in the order of the documentation.
pub fn shown(settings: &Settings) -> Vec<Shown> {
    let mut all = Vec::new();
    let origin = |key: &str| settings.origins.of(key).clone();
    let mut add = |key: &str, value: Value| {
        all.push(Shown {
            key: key.to_owned(),
            value,
            origin: origin(key),
        });
    };
    add("reviewer", json!(settings.reviewer));
    let evidence = match settings.evidence {
        EvidencePolicy::Required => "required",
        EvidencePolicy::Optional => "optional",
    };
    add("evidence", json!(evidence));
    for (name, reviewer) in &settings.reviewers {
        let mut add = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                add(&format!("reviewers.{name}.{key}"), value);
            }
        };
        let list = |list: &[String]| (!list.is_empty()).then(|| json!(list));
        add("kind", Some(json!(reviewer.kind.to_string())));
        add(
            "program",
            reviewer.program.as_ref().map(|program| json!(program)),
        );
        add("arguments", list(&reviewer.arguments));
        add("model", reviewer.model.as_ref().map(|model| json!(model)));
        add("environment", list(&reviewer.environment));
        let time = |time: std::time::Duration| json!(Spelled(time).to_string());
        add("timeout", reviewer.timeout.map(time));
        add("idle-timeout", reviewer.idle_timeout.map(time));
    }
    let personas = settings.personas.all();
    let names: Vec<&str> = personas
        .iter()
        .map(|persona| persona.name.as_str())
        .collect();
    add("personas", json!(names));
    for persona in personas {
        let key = |key: &str| format!("personas.{}.{key}", persona.name);
        add(&key("label"), json!(persona.label));
        add(&key("prompt"), json!(persona.prompt));
        add(&key("focus"), json!(persona.focus.to_string()));
    }
    for (name, command) in &settings.commands {
        let key = |key: &str| format!("commands.{name}.{key}");
        add(&key("program"), json!(command.program));
        if !command.arguments.is_empty() {
            add(&key("arguments"), json!(command.arguments));
        }
        if !command.environment.is_empty() {
            add(&key("environment"), json!(command.environment));
        }
        add(&key("timeout"), json!(Spelled(command.timeout).to_string()));
    }
    if !settings.allow_commands.is_empty() {
        add("allow_commands", json!(settings.allow_commands));
    }
    let table = settings.info.table;
    let mut machine = |key: String, value: Option<u64>, mode: &ModeInfo, field: &str| {
        if let Some(value) = value.or_else(|| initial(table, mode, field)) {
            let origin = match settings.origins.of(&key) {
                Origin::Default => Origin::Machine(table.file),
                given => given.clone(),
            };
            all.push(Shown {
                key,
                value: json!(value),
                origin,
            });
        }
    };
    for mode in table.modes {
        let given = settings.rounds.get(mode.name).copied();
        machine(format!("rounds.{}", mode.name), given, mode, MAX_ROUNDS);
    }
    if let Some(mode) = table.modes.first() {
        machine(
            "limits.max-failures".to_owned(),
            settings.max_failures,
            mode,
            MAX_FAILURES,
        );
    }
    let mut add = |key: &str, value: Value| {
        all.push(Shown {
            key: key.to_owned(),
            value,
            origin: origin(key),
        });
    };
    add(
        "limits.timeout",
        json!(Spelled(settings.limits.timeout).to_string()),
    );
    add(
        "limits.idle-timeout",
        json!(Spelled(settings.limits.idle).to_string()),
    );
    add(
        "limits.stale-minutes",
        json!(settings.stale_after.as_secs() / 60),
    );
    all
}
