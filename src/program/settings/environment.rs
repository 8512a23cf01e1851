//! The layer of the environment: variables that begin with the plugin's name, such as `CLAUDEX_REVIEWER`,
//! `CLAUDEX_EVIDENCE`, `CLAUDEX_MAX_PLAN_ROUNDS` (by the name of the mode), `CLAUDEX_MAX_FAILURES` and
//! `CLAUDEX_STALE_MINUTES`.

use serde_json::Value;

use super::{MOST_MINUTES, MOST_ROUNDS, SettingsError};
use crate::hooks::seen::Seen;
use crate::program::info::ProgramInfo;
use crate::text;

/// What the variables set.
pub(super) struct Environment {
    /// The text of a TOML file that sets the same.
    pub(super) text: String,
    /// The source of each key.
    pub(super) sources: Vec<(String, String)>,
}

impl Environment {
    /// Reads the variables of a program: `REVIEWER`, `EVIDENCE`, `MAX_FAILURES`, `STALE_MINUTES`, and `MAX_…_ROUNDS` for
    /// each mode.
    pub(super) fn read(info: &ProgramInfo, seen: &Seen) -> Result<Self, SettingsError> {
        let modes = info.table.modes.iter().map(|mode| {
            let variable = format!("MAX_{}_ROUNDS", mode.name.to_uppercase());
            (format!("rounds.{}", mode.name), variable, MOST_ROUNDS)
        });
        let others = [
            ("reviewer", "REVIEWER", 0),
            ("evidence", "EVIDENCE", 0),
            ("limits.max-failures", "MAX_FAILURES", MOST_ROUNDS),
            ("limits.stale-minutes", "STALE_MINUTES", MOST_MINUTES),
        ];
        let others = others.map(|(key, variable, most)| (key.into(), variable.into(), most));
        let mut environment = Self {
            text: String::new(),
            sources: Vec::new(),
        };
        for (key, variable, most) in modes.chain(others) {
            let variable = info.variable(&variable);
            let Some(value) = seen.variable(&variable) else {
                continue;
            };
            let value = match key.as_str() {
                "reviewer" => Value::from(text::one_line(value, 200)),
                // A typo must not open the gate.
                "evidence" if value == "optional" => Value::from("optional"),
                "evidence" => Value::from("required"),
                _ => Value::from(number(&variable, value, most)?),
            };
            environment.text += &format!("{key} = {value}\n");
            environment
                .sources
                .push((key, format!("environment {variable}")));
        }
        Ok(environment)
    }
}

fn number(variable: &str, value: &str, most: u64) -> Result<u64, SettingsError> {
    positive(value, most).ok_or_else(|| {
        let value = text::one_line(value, 40);
        SettingsError {
            message: format!("{variable} takes a positive integer up to {most}, and got `{value}`"),
            help: "unset it, or give it a positive integer".to_owned(),
        }
    })
}

/// Parses a number from 1 to `most`, in digits alone.
pub fn positive(text: &str, most: u64) -> Option<u64> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    let number = text.parse().ok().filter(|_| is_number)?;
    (1..=most).contains(&number).then_some(number)
}
