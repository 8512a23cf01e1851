//! The SessionStart hook: one line about a waiting loop of this project, and how to continue it.
//!
//! The hook also names an unused or missing state folder. After a compaction the agent gets its loop's
//! message again. If the session then has a new id, the loop follows: the PreCompact hook noted the
//! old id. The line quotes no text of users or models. A project without a loop is not changed.

use std::env;
use std::time::Duration;

use camino::Utf8PathBuf;

use super::app::Program;
use super::durations::elapsed;
use super::exit::with_help;
use super::extension::Variables;
use super::info::ProgramInfo;
use super::locate::{StateFolders, archived_note, owner};
use super::{messages, next_action, open_error};
use crate::hooks::session_records::{Compacted, SessionEnvironment, SessionRecord as _};
use crate::hooks::{HookOutput, Input};
use crate::machine::Actor;
use crate::store::{ListedLoop, LoopId, Store};
use crate::text;

/// The variable with the client's process id. The plugin's hooks set it if the client does not.
const CLIENT: &str = "CLAUDE_PID";
/// The time after a loop's last change during which its session may still work.
pub(super) const MAX_QUIET_TIME: Duration = Duration::from_secs(15 * 60);
const MAX_REASON_CHARS: usize = 450;
const MAX_ACTION_CHARS: usize = 400;

pub(super) fn answer(program: &Program, input: &Input) -> HookOutput {
    if input.is_subagent() {
        return HookOutput::default();
    }
    let info = program.info;
    let source = input.source.as_deref().unwrap_or_default();
    let folders = StateFolders::find_for_hook(info.state, input);
    let mut notes = folders.vanished(Some("session-start"));
    if source == "compact" {
        let followed = follow_compaction(program, input, &folders);
        notes.extend(followed.into_iter().flatten().map(|id| {
            format!("the compaction gave this session a new id, and loop {id} belongs to it now")
        }));
    }
    let mut output = describe_loop(program, input, &folders, source);
    notes.extend(output.user_note);
    output.user_note = (!notes.is_empty()).then(|| info.line(&notes.join("; ")));
    output
}

/// Returns the user's folder of the program, the session, and its client's process id.
fn identify(info: &ProgramInfo, input: &Input) -> Option<(Utf8PathBuf, String, String)> {
    Some((
        info.home()?,
        input.session_id.clone()?,
        env::var(CLIENT).ok()?,
    ))
}

/// Notes, before a compaction, which session is compacted, if it has a loop here.
pub(super) fn note_compaction(program: &Program, input: &Input) -> HookOutput {
    let info = program.info;
    if let Some((home, session, client)) = identify(info, input)
        && let Some((store, id)) = StateFolders::find_for_hook(info.state, input)
            .owned(&session)
            .first()
        && let Err(error) = (Compacted { session }).save(&client, &home)
    {
        store.log(&format!("{id} cannot note the compaction: {error}"));
    }
    HookOutput::default()
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
    for (store, id) in folders.owned(&before) {
        // The next stop reports a loop that cannot be opened.
        let Ok(held) = program.app.open(&store, &id, Actor::Hook) else {
            continue;
        };
        match store.set_session(held.raw().record(), &session, "adopt", "hook") {
            Ok(_) => followed.push(id),
            Err(error) => store.log(&format!("{id} cannot follow its session: {error}")),
        }
    }
    // Without the record of the session, the next stop would make a new one.
    let _ = SessionEnvironment::load(&before, &home).map(|seen| seen.save(&session, &home));
    Some(followed)
}

/// Returns a description of the loop of this session, one that it can take, or another session's.
fn describe_loop(
    program: &Program,
    input: &Input,
    folders: &StateFolders,
    source: &str,
) -> HookOutput {
    let info = program.info;
    let is_compacted = source == "compact";
    let session = input.session_id.as_deref();
    let mut loops = folders.active();
    loops.retain(|(_, one)| one.problem.is_none());
    let is_own = |one: &ListedLoop| session.is_some() && owner(one) == session;
    if let Some((store, own)) = loops.iter().find(|(_, one)| is_own(one)) {
        return describe_own(program, store, &own.id, is_compacted);
    }
    if !is_compacted {
        let mut owned = loops.iter().filter(|(_, one)| owner(one).is_some());
        if let Some((store, listed)) = owned.find(|(_, one)| is_for_any_session(info, one)) {
            return describe_own(program, store, &listed.id, false);
        }
        if let Some((_, listed)) = loops.iter().find(|(_, one)| owner(one).is_none()) {
            let line = format!(
                "loop {} (phase {}) belongs to no session yet: the first turn that ends here takes it. To see where it is:{}",
                listed.id,
                phase(listed),
                info.command("status"),
            );
            return inform(info, &line, true);
        }
        if let Some((_, id)) = session.and_then(|session| folders.archived(session)) {
            let line = format!("loop {id} of this session {}", archived_note(info, &id));
            return inform(info, &line, true);
        }
    }
    let mut foreign = loops.iter().filter(|(_, one)| owner(one).is_some());
    if let Some((store, listed)) = foreign.find(|(_, one)| !is_for_any_session(info, one)) {
        return describe_foreign(info, store, listed, source == "clear");
    }
    folders.refusal().map_or_else(HookOutput::default, |error| {
        let line = text::note(&with_help(&error), MAX_REASON_CHARS);
        inform(info, &line, false)
    })
}

/// Returns a description of a loop that this session can continue. After a compaction it does.
fn describe_own(program: &Program, store: &Store, id: &LoopId, is_compacted: bool) -> HookOutput {
    let info = program.info;
    let held = match program.app.open(store, id, Actor::Hook) {
        Ok(held) => held,
        Err(error) => {
            let error = open_error::line(info, store, id, &error);
            let error = text::note(&error, 300);
            let line = format!("loop {id} of this session cannot continue: {error}");
            return inform(info, &line, true);
        }
    };
    let raw = held.raw();
    let action = next_action::describe(program, &*held);
    let next = text::note(&action.next, MAX_ACTION_CHARS);
    let is_for_any = messages::is_for_any_session(info.table, raw.phase());
    let owner = if is_for_any { "" } else { " of this session" };
    let place = format!(
        "loop {id}{owner} is in phase {} and waits for {}.",
        messages::phase(raw).name,
        text::one_line(&action.waits_for, MAX_ACTION_CHARS)
    );
    let repairs = raw.repairs().join("; ");
    if is_compacted {
        let message = program.render(&*held, messages::last(raw), Variables::new());
        return HookOutput {
            agent_note: Some(info.line(&format!("{place} Continue it: {next}"))),
            instruction: message.ok().flatten(),
            // The user sees that the loop continues.
            user_note: (!repairs.is_empty()).then(|| format!("loop {id}: {repairs}")),
            ..HookOutput::default()
        };
    }
    let mut resume = info.table.edges_at("resume", raw.phase());
    let step = if resume.next().is_some() || store.is_paused(id) {
        let resume = info.command(&format!("resume {id}"));
        format!("To continue it:{resume}")
    } else {
        let status = info.command("status");
        format!("The next stop of this session continues it. To see where it is:{status}")
    };
    let agent = format!("{place} If the user wants it to continue: {next}");
    let person = format!("{place} {step}\n{repairs}");
    HookOutput {
        agent_note: Some(info.line(&agent)),
        user_note: Some(person.trim_end().to_owned()),
        ..HookOutput::default()
    }
}

/// Returns a description of a loop of another session, which may be over: `/clear` makes a new id.
fn describe_foreign(
    info: &ProgramInfo,
    store: &Store,
    listed: &ListedLoop,
    is_cleared: bool,
) -> HookOutput {
    let id = &listed.id;
    if store.is_running(id) && !is_cleared {
        return HookOutput::default();
    }
    let idle = listed.modified.elapsed().unwrap_or_default();
    let line = format!(
        "another session has loop {id} (phase {}); its last sign of life was {} ago. If that session is over, this takes it over:{}",
        phase(listed),
        elapsed(idle.as_secs()),
        info.command(&format!("adopt {id}"))
    );
    inform(info, &line, is_cleared || idle >= MAX_QUIET_TIME)
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

/// Returns the phase of a listed loop that can be opened.
fn phase(listed: &ListedLoop) -> &str {
    listed.phase.as_deref().unwrap_or("unknown")
}

pub(super) fn is_for_any_session(info: &ProgramInfo, listed: &ListedLoop) -> bool {
    let phase = info.table.phase_position(phase(listed));
    phase.is_some_and(|phase| messages::is_for_any_session(info.table, phase))
}
