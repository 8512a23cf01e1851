//! `config show`: the settings that hold, with their sources.

use serde_json::json;

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::{loops, out};
use crate::text;

/// The most characters of a value that are shown on its line.
const MAX_VALUE_CHARS: usize = 60;

/// Prints every setting that holds here, with its source.
pub(super) fn show(info: &'static ProgramInfo, json: bool) -> Result<Exit, Failure> {
    let rows = loops::settings_here(info)?.rows;
    if json {
        let rows = rows
            .iter()
            .map(|row| json!({ "key": row.key(), "value": row.value, "source": row.source }));
        out::json(&rows.collect::<Vec<_>>());
        return Ok(Exit::Complete);
    }
    let rows = rows.iter().map(|row| {
        let value = text::one_line(&row.value.to_string(), MAX_VALUE_CHARS);
        format!("{} = {value}\t{}\n", row.key(), row.source)
    });
    out::line(&out::table(&rows.collect::<String>()));
    Ok(Exit::Complete)
}
