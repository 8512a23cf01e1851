//! `rollback`: every loop of a project moves to the archive.

use std::io::{self, IsTerminal};

use super::arguments::Target;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::{consent, locate, loops, out};
use crate::store::Listed;
use crate::text;

/// Archives every loop. Asks first, unless the user said `--yes` or typed the slash command.
pub(super) fn rollback(info: &ProgramInfo, yes: bool, from_prompt: bool) -> Result<Exit, Failure> {
    let target = Target {
        id: None,
        from_prompt,
    };
    let (_, _, actor) = loops::named(info, &target, "rollback")?;
    loops::person_only(info, actor, "rollback", None)?;
    let stores = locate::stores(info.state, &[&loops::here()?]);
    let mut found: Vec<(String, bool)> = Vec::new();
    for store in &stores {
        let ours = |one: &Listed| store.is_for(one.root.as_deref());
        let loops = store.list().into_iter().filter(ours);
        found.extend(loops.map(|one| (one.id.to_string(), !one.terminal)));
        let by_hand = store.list_foreign().into_iter();
        found.extend(by_hand.map(|one| {
            (
                one.path.file_name().unwrap_or_default().to_owned(),
                !one.terminal,
            )
        }));
    }
    if found.is_empty() {
        out::line("There are no loops to roll back.");
        return Ok(Exit::Complete);
    }
    for store in &stores {
        if let Some(running) = store.list().iter().find(|one| store.is_running(&one.id)) {
            return Err(Failure::plain(
                Exit::Refused,
                "claudex::rollback::running",
                format!(
                    "a review of loop {} is running, and its findings would be lost",
                    running.id
                ),
                &format!(
                    "wait for it, or end it (`{} status` shows it); nothing was changed",
                    info.program
                ),
            ));
        }
    }
    if !yes && !from_prompt {
        if !io::stdin().is_terminal() {
            return Err(Failure::plain(
                Exit::Refused,
                "claudex::rollback::consent",
                format!(
                    "rollback would move {} aside, and there is no terminal to ask on",
                    counted(&found)
                ),
                &format!(
                    "nothing was changed; run it in a terminal, or say so beforehand:\n    {} rollback --yes",
                    info.program
                ),
            ));
        }
        if !asked(&found) {
            out::line("Nothing was changed.");
            return Ok(Exit::Refused);
        }
    }
    for store in stores {
        let moved = store
            .archive_all()
            .map_err(|error| Failure::new(Exit::Internal, error))?;
        let to = text::shown(store.folder());
        for name in &moved {
            store.log(&format!("{name} rolled back by {actor}"));
            let name = text::one_line(name, 100);
            out::line(&format!("Loop {name} was moved to {to}/archive/{name}"));
        }
    }
    Ok(Exit::Complete)
}

/// `3 loops (1 of them is not over)`
fn counted(found: &[(String, bool)]) -> String {
    let loops = if found.len() == 1 { "loop" } else { "loops" };
    let open = match found.iter().filter(|(_, open)| *open).count() {
        0 => String::new(),
        1 if found.len() == 1 => " (it is not over)".to_owned(),
        1 => " (1 of them is not over)".to_owned(),
        open => format!(" ({open} of them are not over)"),
    };
    format!("{} {loops}{open}", found.len())
}

/// Asks on the terminal, with the loops before the question; only a yes is one.
fn asked(found: &[(String, bool)]) -> bool {
    const SHOWN: usize = 10;
    let mut question = String::new();
    for (name, open) in found.iter().take(SHOWN) {
        let open = if *open { ", not over" } else { "" };
        question.push_str(&format!("  {}{open}\n", text::one_line(name, 100)));
    }
    if found.len() > SHOWN {
        question.push_str(&format!("  and {} more\n", found.len() - SHOWN));
    }
    question.push_str(&format!(
        "{}. Nothing is deleted.\nMove all of it to the archive?",
        counted(found)
    ));
    consent::asked(&question)
}
