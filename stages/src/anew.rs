//! `start --anew`: moves the state document and the summaries of another program aside, on the user's word.

use std::io;

use camino::Utf8Path;
use clap::{Arg, ArgAction, Command};
use claudex_loop::Timestamp;
use claudex_loop::files::{Folder, if_there};
use claudex_loop::program::caller::Caller;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::start::StartRequest;
use claudex_loop::program::{TypedApp as _, loops, out};

use crate::typestate::Stages;

/// Flag of `start` that moves aside what another program wrote.
const ANEW: &str = "anew";
/// Names in `requirements` that are moved.
const MOVED_NAMES: [&str; 2] = [".stage-summaries", ".requirements-state.local.md"];

/// Adds the flag to `start`.
pub(crate) fn arguments(command: Command) -> Command {
    let anew = Arg::new(ANEW).long(ANEW).action(ArgAction::SetTrue);
    let anew = anew.help("Move aside the state and the summaries of another program");
    command.mut_subcommand("start", |start| start.arg(anew))
}

/// Moves what another program wrote aside if `--anew` asks for it and no pipeline of ours is under way.
pub(crate) fn before_start(request: &StartRequest<'_>) -> Result<(), Failure> {
    let store = request.store;
    let is_under_way = || {
        let active = store.list_active();
        active.iter().any(|one| store.loop_folder(&one.id).exists())
    };
    if !request.flag(ANEW) || is_under_way() {
        return Ok(());
    }
    let actor = Caller::from_env().actor(request.flag("from_prompt"));
    loops::person_only(Stages::INFO, actor, "start --anew", None)?;

    let moved = move_aside(store.root()).map_err(|error| {
        let message = format!("cannot move aside what another program wrote: {error}");
        let help = "nothing was started; make the folder requirements writable and start again";
        Failure::plain(Exit::Internal, "claudex::start::anew", message, help)
    })?;
    if let Some(folder) = moved {
        let line = format!("what another program wrote was moved to requirements/{folder}.");
        out::note(&Stages::INFO.line(&line));
    }
    Ok(())
}

/// Moves the state document and the summaries to a dated folder and returns its name.
fn move_aside(root: &Utf8Path) -> io::Result<Option<String>> {
    let Some(folder) = if_there(Folder::open(root)?.below("requirements"))? else {
        return Ok(None);
    };
    let mut moved = MOVED_NAMES.to_vec();
    moved.retain(|name| folder.has(name));
    if moved.is_empty() {
        return Ok(None);
    }
    let now = Timestamp::now();
    let name = now.strftime("before-%Y%m%dT%H%M%S%3fZ").to_string();
    let aside = folder.make(&name)?;
    for name in moved {
        folder.rename(name, &aside, name)?;
    }
    Ok(Some(name))
}
