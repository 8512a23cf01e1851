//! Looking at loops: status, list, journal, personas. Nothing here changes one, but for what opening heals.

mod history;
mod listing;
mod status;
pub(crate) mod words;

use claudex_loop::plan::caller::Caller;
use claudex_loop::text;

use super::exit::{Exit, Failure};
use super::{hooks, out};

pub(crate) use history::journal;
pub(crate) use listing::list;
pub(crate) use status::status;

/// The id that a look is about: typed here, or after one of these slash commands. A look needs no person behind it, so
/// that nothing was stored means that nothing was typed.
fn asked(id: Option<&str>, from_prompt: bool, commands: &[&str]) -> Result<Option<String>, Failure> {
    if !from_prompt {
        return Ok(id.map(str::to_owned));
    }
    let caller = Caller::from_env();
    for command in commands {
        if let Some(typed) = hooks::take(command, &caller)? {
            return Ok(Some(typed.trim().to_owned()).filter(|id| !id.is_empty()));
        }
    }
    Ok(None)
}

/// Who reviews in which round.
pub(crate) fn personas() -> Result<Exit, Failure> {
    let settings = super::settings_here()?;
    let all = settings.personas.all();
    for (index, persona) in all.iter().enumerate() {
        let last = if index + 1 == all.len() { " and later" } else { "" };
        out::line(&format!("Round {}{last}: {}", index + 1, persona.label));
        out::line(&format!("  {}", text::one_line(&persona.prompt, 1000)));
    }
    Ok(Exit::Complete)
}
