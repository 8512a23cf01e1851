//! `archive`, `sweep` and `rollback`: one, the inactive, or all loops of a project are archived.

use std::time::SystemTime;

use super::caller::Caller;
use super::exit::{CommandResult, Exit, Failure};
use super::info::ProgramInfo;
use super::locate::StateFolders;
use super::{loops, out, ownership};
use crate::store::{LoopId, Store};
use crate::text;

const MAX_NAMED_LOOPS: usize = 10;

pub(super) fn archive(info: &ProgramInfo, id: Option<&str>) -> CommandResult {
    loops::check_person(info, "archive", id)?;
    let (store, id) = loops::find(info, id)?;
    move_to_archive(&store, &id, "archived by the user")?;
    let resume = info.command(&format!("resume {id}"));
    out::line(&format!("To bring it back:{resume}"));
    Ok(Exit::Complete)
}

fn move_to_archive(store: &Store, id: &LoopId, why: &str) -> Result<(), Failure> {
    store.archive(id).map_err(Failure::refusal)?;
    store.log(&format!("{id} {why}"));
    let name = text::one_line(id.as_str(), 100);
    let folder = text::printable(store.folder());
    out::line(&format!("Loop {name} was moved to {folder}/archive/{name}"));
    Ok(())
}

pub(super) fn sweep(info: &'static ProgramInfo) -> CommandResult {
    let stale_after = loops::settings_here(info)?.stale_after();
    let mut is_empty = true;
    for store in StateFolders::find_in_project(info.state)?.stores {
        for id in store.archive_stale(SystemTime::now(), stale_after) {
            is_empty = false;
            let folder = text::printable(store.folder());
            let resume = info.command(&format!("resume {id}"));
            let line = format!("Loop {id} was moved to {folder}/archive; this brings it back:");
            out::line(&(line + &resume));
        }
    }
    if is_empty {
        out::line("Nothing to archive.");
    }
    Ok(Exit::Complete)
}

pub(super) fn rollback(info: &ProgramInfo, yes: bool) -> CommandResult {
    loops::check_person(info, "rollback", None)?;
    let program = info.program;
    let folders = StateFolders::find_in_project(info.state)?;
    let mut loops = folders.list(|store| store.list().collect());
    loops.extend(folders.list(Store::list_foreign));
    if loops.is_empty() {
        out::line("No loops to archive.");
        return Ok(Exit::Complete);
    }
    if let Some(one) = loops.iter().find(|one| one.store.is_running(&one.id)) {
        let problem = format!("cannot archive loop {}: it is running", one.id);
        let help = format!("wait for it, or stop it; `{program} status` shows it");
        return Err(Failure::refuse(problem, &help));
    }
    if !yes && !Caller::from_env().is_slash_command {
        let active = loops.iter().filter(|one| !one.terminal).count();
        let noun = if loops.len() == 1 { "loop" } else { "loops" };
        let counted = format!("{} {noun}, {active} of them active", loops.len());
        let named = loops.iter().take(MAX_NAMED_LOOPS);
        let list: String = named
            .map(|one| format!("  {}\n", text::one_line(one.id.as_str(), 100)))
            .collect();
        ownership::confirm(
            &format!("{list}{counted}. Move all to the archive? Nothing is deleted."),
            &format!("{counted}, would be archived; without a terminal you cannot be asked"),
            &format!("run it in a terminal, or confirm with:\n    {program} rollback --yes"),
        )?;
    }
    for one in loops {
        move_to_archive(&one.store, &one.id, "rolled back by the user")?;
    }
    Ok(Exit::Complete)
}
