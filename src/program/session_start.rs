//! The SessionStart hook: one line about a waiting loop of this project, and how to continue it.
//!
//! The hook also names an unused or missing state folder. After a compaction the agent gets the
//! message of its loop again. If the session then has a new id, the loop follows: PreCompact noted
//! the old id. The line quotes no text of users or models. A project without a loop is not changed.

use std::env;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::app::Program;
use super::exit::with_help;
use super::extension::Variables;
use super::info::ProgramInfo;
use super::locate::{FoundLoop, StateFolders, archived_note, is_for_any_session};
use super::{last_message, next_action, open_error};
use crate::hooks::session_records::{Compacted, SessionEnvironment, SessionRecord as _};
use crate::hooks::{HookOutput, Input};
use crate::machine::Actor;
use crate::store::LoopId;
use crate::text;

/// The variable with the client's process id. The plugin's hooks set it if the client does not.
const CLIENT: &str = "CLAUDE_PID";
/// The time after a loop's last change during which its session may still work.
pub(super) const MAX_QUIET_TIME: Duration = Duration::from_secs(15 * 60);
const MAX_REASON_CHARS: usize = 450;
const MAX_ACTION_CHARS: usize = 400;

pub(super) fn answer(program: &Program, input: &Input) -> Option<HookOutput> {
    if input.is_subagent() {
        return None;
    }
    let info = program.info;
    let folders = StateFolders::find_for_hook(info.state, input);
    let mut notes = folders.vanished(Some("session-start"));
    if input.source.as_deref() == Some("compact") {
        let followed = follow_compaction(program, input, &folders);
        notes.extend(followed.into_iter().flatten().map(|id| {
            format!("the compaction gave this session a new id, and loop {id} belongs to it now")
        }));
    }
    let mut output = describe_loop(program, input, &folders).unwrap_or_default();
    notes.extend(output.user_note);
    output.user_note = (!notes.is_empty()).then(|| info.line(&notes.join("; ")));
    Some(output)
}

/// Returns the user's folder of the program, the session, and its client's process id.
fn identify(info: &ProgramInfo, input: &Input) -> Option<(Utf8PathBuf, String, String)> {
    Some((
        info.home()?,
        input.session_id.clone()?,
        env::var(CLIENT).ok()?,
    ))
}

/// Notes, before a compaction, which session is compacted, if it or the one before has a loop.
pub(super) fn note_compaction(program: &Program, input: &Input) -> Option<HookOutput> {
    let info = program.info;
    let (home, session, client) = identify(info, input)?;
    let owned = StateFolders::find_for_hook(info.state, input).owned(&session);
    // A note of another session of this client must not stay.
    if owned.is_empty() && Compacted::load(&client, &home).is_none() {
        return None;
    }
    if let Err(error) = (Compacted { session }).save(&client, &home) {
        let line = format!("cannot note the compaction: {error}");
        owned.iter().for_each(|own| own.log(&line));
    }
    None
}

/// Moves the loops of the session that this client has just compacted to the new session.
fn follow_compaction(
    program: &Program,
    input: &Input,
    folders: &StateFolders,
) -> Option<Vec<LoopId>> {
    let (home, session, client) = identify(program.info, input)?;
    let before = Compacted::load(&client, &home)?.session;
    if before == session {
        return None;
    }
    let mut followed = Vec::new();
    for own in folders.owned(&before) {
        // The next stop reports a loop that cannot be opened.
        let Ok(held) = program.app.open(&own.store, &own.id, Actor::Hook) else {
            continue;
        };
        let record = held.raw().record();
        match own.store.set_session(record, &session, "adopt", "hook") {
            Ok(_) => followed.push(own.id.clone()),
            Err(error) => own.log(&format!("cannot follow its session: {error}")),
        }
    }
    // Without the record of the session, the next stop would make a new one.
    let _ = SessionEnvironment::load(&before, &home).map(|seen| seen.save(&session, &home));
    Some(followed)
}

/// Returns a description of the loop of this session, one that it can take, or another session's.
fn describe_loop(program: &Program, input: &Input, folders: &StateFolders) -> Option<HookOutput> {
    let info = program.info;
    let source = input.source.as_deref();
    let is_compacted = source == Some("compact");
    let session = input.session_id.as_deref();
    let mut loops = folders.active();
    loops.retain(FoundLoop::is_usable);
    let is_own = |one: &&FoundLoop| session.is_some() && one.owner() == session;
    if let Some(own) = loops.iter().find(is_own) {
        return Some(describe_own(program, own, is_compacted));
    }
    let owned = loops.iter().filter(|one| one.owner().is_some());
    let (for_any, foreign): (Vec<_>, Vec<_>) =
        owned.partition(|one| one.is_for_any_session(info.table));
    if !is_compacted {
        if let Some(found) = for_any.first() {
            return Some(describe_own(program, found, false));
        }
        if let Some(found) = loops.iter().find(|one| one.is_for(None)) {
            let line = format!(
                "loop {} (phase {}) belongs to no session yet: the first turn that ends here takes it. To see where it is:{}",
                found.id,
                phase(found),
                info.command("status"),
            );
            return Some(inform(info, &line, true));
        }
        if let Some(found) = session.and_then(|session| folders.archived(session)) {
            let line = archived_note(info, &found.id, " of this session");
            return Some(inform(info, &line, true));
        }
    }
    if let Some(found) = foreign.first() {
        return describe_foreign(info, found, source == Some("clear"));
    }
    let line = text::note(&with_help(&folders.refusal()?), MAX_REASON_CHARS);
    Some(inform(info, &line, false))
}

/// Returns a description of a loop that this session can continue. After a compaction it does.
fn describe_own(program: &Program, found: &FoundLoop, is_compacted: bool) -> HookOutput {
    let info = program.info;
    let store = &found.store;
    let id = &found.id;
    let held = match program.app.open(store, id, Actor::Hook) {
        Ok(held) => held,
        Err(error) => {
            let error = open_error::line(info, &error);
            let error = text::note(&error, 300);
            let line = format!("loop {id} of this session cannot continue: {error}");
            return inform(info, &line, true);
        }
    };
    let raw = held.raw();
    let action = next_action::describe(program, &*held);
    let next = text::note(&action.next, MAX_ACTION_CHARS);
    let is_for_any = is_for_any_session(info.table, raw.phase());
    let owner = if is_for_any { "" } else { " of this session" };
    let phase = raw.phase_info().name;
    let waits_for = text::one_line(&action.waits_for, MAX_ACTION_CHARS);
    let place = format!("loop {id}{owner} is in phase {phase} and waits for {waits_for}.");
    let repairs = raw.record().repairs().join("; ");
    if is_compacted && !store.is_paused(id) {
        let message = program.render(&*held, last_message::find(raw), Variables::new());
        return HookOutput {
            agent_note: Some(info.line(&format!("{place} Continue it: {next}"))),
            instruction: message.ok().flatten(),
            // The user sees that the loop continues.
            user_note: (!repairs.is_empty()).then(|| format!("loop {id}: {repairs}")),
            ..HookOutput::default()
        };
    }
    let mut resume = info.table.edges_at("resume", raw.phase());
    let is_resumed = resume.next().is_some() || store.is_paused(id);
    let step = if is_resumed && !action.is_choice {
        let resume = info.command(&format!("resume {id}"));
        format!("To continue it:{resume}")
    } else if action.is_choice || is_for_any {
        format!("Next: {next}")
    } else {
        let status = info.command("status");
        format!("The next stop of this session continues it. To see where it is:{status}")
    };
    HookOutput {
        agent_note: Some(info.line(&format!("{place} If the user wants it to continue: {next}"))),
        user_note: Some(format!("{place} {step}\n{repairs}").trim_end().to_owned()),
        ..HookOutput::default()
    }
}

/// Returns a description of a loop of another session, which may be over: `/clear` makes a new id.
fn describe_foreign(info: &ProgramInfo, found: &FoundLoop, is_cleared: bool) -> Option<HookOutput> {
    let id = &found.id;
    if found.store.is_running(id) && !is_cleared {
        return None;
    }
    let idle = found.modified.elapsed().unwrap_or_default();
    let line = format!(
        "another session has loop {id} (phase {}); its last sign of life was {} ago. If that session is over, this takes it over:{}",
        phase(found),
        text::elapsed(idle.as_secs()),
        info.command(&format!("adopt {id}"))
    );
    Some(inform(info, &line, is_cleared || idle >= MAX_QUIET_TIME))
}

/// Returns a line for the user, and for the agent that it has nothing to do.
fn inform(info: &ProgramInfo, line: &str, to_agent: bool) -> HookOutput {
    let agent = format!("{line}\nThe user decides about it: do nothing unless asked");
    HookOutput {
        agent_note: to_agent.then(|| info.line(&agent)),
        user_note: Some(line.to_owned()),
        ..HookOutput::default()
    }
}

fn phase(found: &FoundLoop) -> &str {
    found.phase.as_deref().unwrap_or("unknown")
}
