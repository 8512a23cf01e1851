//! The commands that show loops: status, list, journal, report, personas and the status line.

mod history;
mod listing;
mod loop_facts;
mod past;
mod report;
mod status;
mod statusline;

use super::app::HeldLoop;
use super::arguments::Target;
use super::builder::Program;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::settings::Settings;
use super::{loops, out};
use crate::machine::Actor;
use crate::text;

pub(super) use history::journal;
pub(super) use listing::list;
pub(super) use past::Past;
pub(super) use report::report;
pub(super) use status::status;
pub(super) use statusline::statusline;

/// Opens the loop that a command shows, with its settings and its journal. Settings that cannot be used are replaced by the
/// defaults.
fn open(
    program: &Program,
    target: &Target,
    command: &str,
) -> Result<(HeldLoop, Settings, Past), Failure> {
    let info = program.info;
    let id = loops::id_to_show(info, target, &[command])?;
    let (store, id) = loops::find_to_look(info, id.as_deref())?;
    let store = store.to_look();
    let held = loops::open(program, &store, &id, Actor::Person)?;
    let settings = Settings::load(info, store.root()).unwrap_or_else(|_| Settings::usual(info));
    program.prepare(&*held, &settings, Actor::Person);
    let journal = held.raw().journal();
    let journal = journal.map_err(|error| Failure::new(Exit::Internal, error))?;
    Ok((held, settings, Past::of(&store, &id, journal)))
}

/// Prints the persona of each round.
pub(super) fn personas(info: &'static ProgramInfo) -> Result<Exit, Failure> {
    let settings = loops::settings_here(info)?;
    let all = settings.personas.all();
    for (index, persona) in all.iter().enumerate() {
        let last = if index + 1 == all.len() {
            " and later"
        } else {
            ""
        };
        out::line(&format!("Round {}{last}: {}", index + 1, persona.label));
        out::line(&format!("  {}", text::one_line(&persona.prompt, 1000)));
    }
    Ok(Exit::Complete)
}
