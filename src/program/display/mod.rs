//! The commands that show loops: status, list, journal, report, personas and the status line.

mod history;
mod listing;
mod loop_facts;
mod report;
mod status;
mod statusline;

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::{loops, out};
use crate::text;

pub(super) use history::{Past, journal};
pub(super) use listing::list;
pub(super) use report::report;
pub(super) use status::status;
pub(super) use statusline::statusline;

/// Prints the persona of each round.
pub(super) fn personas(info: &'static ProgramInfo) -> Result<Exit, Failure> {
    let settings = loops::settings_here(info)?;
    let all = settings.personas.all();
    for (round, persona) in (1..).zip(all) {
        let later = if round == all.len() { " and later" } else { "" };
        out::line(&format!("Round {round}{later}: {}", persona.label));
        out::line(&format!("  {}", text::one_line(&persona.prompt, 1000)));
    }
    Ok(Exit::Complete)
}
