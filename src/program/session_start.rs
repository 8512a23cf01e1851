//! The hook at the start of a session: one line where a loop of this project waits, and how it is taken up, or
//! where the state folder is not used, or another plugin works on it; else nothing.
//!
//! A session starts, is taken up again, is cleared (and goes on under another id), or was compacted. The model has lost then
//! what a block told it, so it is told again. The line quotes nothing that people or models wrote, and a project without a
//! loop stays as it is.

use std::time::{Duration, SystemTime};

use super::app::{App, Program};
use super::caller::UNKNOWN;
use super::client_files::ClientFiles;
use super::durations::elapsed;
use super::info::ProgramInfo;
use super::loops::with_help;
use super::surroundings::Surroundings;
use super::{
    compaction, incompatible, last_message, locate, messages, next_action, session_loops, vanished,
};
use crate::hooks::{HookOutput, Input};
use crate::machine::Actor;
use crate::machine::LoopHandle;
use crate::store::{Listed, LoopId, Store};
use crate::text;

/// A loop of another session that was touched since then is in that session's hands.
pub(super) const RECENT: Duration = Duration::from_secs(15 * 60);
/// Limits the line of why a state folder is not used, in characters.
const LONGEST: usize = 450;
/// Longest part of a line that the driver says, in characters.
const PART: usize = 150;

/// A loop that is not over, as it stands to the session that starts.
enum Waiting {
    /// It belongs to the session.
    Own(Store, Listed),
    /// It waits for a person, whichever session it belongs to.
    Anyones(Store, Listed),
    /// It belongs to nobody: the next stop takes it up.
    Nobodys(Listed),
    /// It belongs to the session, and was put aside.
    PutAside(LoopId),
    /// It belongs to another session.
    Anothers(Store, Listed),
}

/// What is said at the start of a session.
pub(super) fn tell<M: App>(
    program: &Program<M>,
    input: &Input,
    surroundings: &Surroundings,
) -> HookOutput {
    if surroundings.reviewer_child || input.is_subagent() {
        return HookOutput::default();
    }
    let info = program.info;
    let stores = surroundings.stores(info, input);
    let source = input.source.as_deref().unwrap_or_default();
    let followed = match source {
        "compact" => compaction::follow::<M>(info, input, surroundings),
        _ => Vec::new(),
    };
    let mut output = about_loops(program, input, &stores, source);
    if !followed.is_empty() {
        let ids: Vec<&str> = followed.iter().map(LoopId::as_str).collect();
        let line = info.line(&format!(
            "the compaction gave this session a new id, and loop {} has come along",
            ids.join(", ")
        ));
        let rest = output.person.map(|rest| format!("\n{rest}"));
        output.person = Some(line + &rest.unwrap_or_default());
    }
    let folders = surroundings.folders(input);
    let mut lines = vanished::name_once(info, &folders, "session-start");
    if source != "compact" {
        lines.extend(rival(info, input, surroundings));
    }
    for line in lines {
        let rest = output.person.take();
        let rest = rest
            .as_deref()
            .and_then(|rest| rest.strip_prefix(&info.line("")));
        let rest = rest.map(|rest| format!("; {rest}")).unwrap_or_default();
        output.person = Some(info.line(&format!("{line}{rest}")));
    }
    output
}

/// Names another plugin that works on our state folder, and the command that switches it off.
fn rival(info: &ProgramInfo, input: &Input, surroundings: &Surroundings) -> Option<String> {
    let here = surroundings.folders(input).into_iter().next()?;
    let client = ClientFiles::read(here, &locate::root(info.state, here));
    let plugin = client.rival(info)?;
    Some(format!(
        "the plugin {plugin} works on {} too, so keep one of the two (claude plugin disable {plugin} switches it off)",
        info.state.folder
    ))
}

/// Says where a loop waits.
fn about_loops<M: App>(
    program: &Program<M>,
    input: &Input,
    stores: &[Store],
    source: &str,
) -> HookOutput {
    let info = program.info;
    let waiting = waiting(info, stores, input.session_id.as_deref());
    match waiting {
        Some(Waiting::Own(store, listed)) => own(program, &store, &listed, source == "compact"),
        // A compaction may have given the session a new id, so it may be about a loop of its own.
        Some(Waiting::Anothers(store, listed)) => {
            anothers(info, &store, &listed, source == "clear")
        }
        // Compaction is no start: the rest was said when the session began.
        _ if source == "compact" => HookOutput::default(),
        Some(Waiting::Anyones(store, listed)) => own(program, &store, &listed, false),
        Some(Waiting::Nobodys(listed)) => both(
            info,
            &format!(
                "loop {} (phase {}) belongs to no session yet: the first turn that ends here takes it up. Where it is:{}",
                listed.id,
                phase(info, &listed),
                info.command("status"),
            ),
        ),
        Some(Waiting::PutAside(id)) => both(
            info,
            &format!(
                "loop {id} of this session was put aside after it had been idle for too long. To take it up:{}",
                info.command(&format!("resume {id}")),
            ),
        ),
        None => HookOutput {
            person: stores
                .iter()
                .find_map(Store::refusal)
                .map(|refusal| info.line(&text::note(&with_help(&refusal), LONGEST))),
            ..HookOutput::default()
        },
    }
}

/// The loop to speak of: the session's own before one that waits for whoever comes, that before one of nobody's, that before one
/// of the session's that was put aside, that before another session's.
fn waiting(info: &ProgramInfo, stores: &[Store], session: Option<&str>) -> Option<Waiting> {
    let session = session.filter(|session| *session != UNKNOWN);
    let (mut own, mut waits, mut nobodys, mut anothers) = (Vec::new(), None, None, None);
    for store in stores {
        for listed in store.list_active() {
            let usable = listed.problem.is_none() && listed.ours && !listed.terminal;
            if !usable || !store.is_for(listed.root.as_deref()) {
                continue;
            }
            match listed.session.as_deref().unwrap_or(UNKNOWN) {
                UNKNOWN | "" => _ = nobodys.get_or_insert(listed),
                owner if Some(owner) == session => own.push((store.clone(), listed)),
                _ if is_for_any_session(info, &listed) => {
                    waits = waits.or(Some((store.clone(), listed)))
                }
                _ => _ = anothers.get_or_insert_with(|| (store.clone(), listed)),
            }
        }
    }
    session_loops::order(info, session.unwrap_or_default(), &mut own);
    let own = own.into_iter().next();
    let is_own = |listed: &Listed| {
        session.is_some()
            && listed.session.as_deref() == session
            && listed.problem.is_none()
            && !listed.terminal
    };
    let put_aside = || stores.iter().flat_map(Store::archived).find(is_own);
    own.map(|(store, listed)| Waiting::Own(store, listed))
        .or_else(|| waits.map(|(store, listed)| Waiting::Anyones(store, listed)))
        .or_else(|| nobodys.map(Waiting::Nobodys))
        .or_else(|| put_aside().map(|listed| Waiting::PutAside(listed.id)))
        .or_else(|| anothers.map(|(store, listed)| Waiting::Anothers(store, listed)))
}

/// The session's own loop, or one that waits for whoever comes. After compaction the agent goes on with it; at a start that is the person's to say.
fn own<M: App>(
    program: &Program<M>,
    store: &Store,
    listed: &Listed,
    compacted: bool,
) -> HookOutput {
    let (info, id) = (program.info, &listed.id);
    let held = match M::open(store, id, Actor::Hook) {
        Ok(held) => held,
        Err(error) => {
            let said = incompatible::line(info, &store.path_of(id), &error);
            let line = format!(
                "loop {id} of this session cannot go on: {}",
                text::note(&said, 300)
            );
            return both(info, &line);
        }
    };
    let raw = held.raw();
    let next = next_action::of(program, &held);
    let phase = messages::phase(raw).name;
    let named = match messages::is_for_any_session(info.table, raw.phase()) {
        true => format!("loop {id}"),
        false => format!("loop {id} of this session"),
    };
    let (waits_for, next) = (
        text::one_line(&next.waits_for, PART),
        text::note(&next.next, PART),
    );
    let resume = info.table.edges_at("resume", raw.phase()).next();
    let resume = (resume.is_some() || store.is_paused(id)).then(|| format!("resume {id}"));
    let agent = match (compacted, &resume, info.plugin) {
        (true, ..) => format!(
            "this session drives loop {id}, which is in phase {phase} and waits for {waits_for}. Go on with it: {next}"
        ),
        // What a command permits, it permits for its own turn.
        (false, Some(resume), Some(plugin)) => format!(
            "{named} is in phase {phase} and waits for {waits_for}. To go on, the person types /{plugin}:{resume}, \
             which also permits its commands; if they ask for it in words: {next}"
        ),
        (false, ..) => format!(
            "{named} is in phase {phase} and waits for {waits_for}. Once the person wants it to go on: {next}"
        ),
    };
    let how = match &resume {
        Some(resume) => format!("To take it up:{}", info.command(resume)),
        None => {
            format!(
                "The next stop of this session goes on with it. Where it is:{}",
                info.command("status")
            )
        }
    };
    let person = format!("{named} is in phase {phase} and waits for {waits_for}. {how}");
    // Opening it was the one time that this can be told.
    let repairs: Vec<String> = raw.repairs().iter().map(ToString::to_string).collect();
    let repaired = (!repairs.is_empty()).then(|| repairs.join("; "));
    HookOutput {
        agent: Some(info.line(&agent)),
        more: compacted
            .then(|| last_message::render(program, &held))
            .flatten(),
        person: match (compacted, repaired) {
            (false, None) => Some(info.line(&person)),
            (false, Some(repaired)) => Some(info.line(&format!("{person}\n{repaired}"))),
            // The person sees the loop go on.
            (true, repaired) => {
                repaired.map(|repaired| info.line(&format!("loop {id}: {repaired}")))
            }
        },
    }
}

/// Speaks of a loop of another session, which may be at work, or over: `/clear` gave this session its id.
fn anothers(info: &ProgramInfo, store: &Store, listed: &Listed, cleared: bool) -> HookOutput {
    let idle = SystemTime::now()
        .duration_since(listed.modified)
        .unwrap_or_default();
    let running = store.is_running(&listed.id);
    if running && !cleared {
        return HookOutput::default();
    }
    let (id, phase) = (&listed.id, phase(info, listed));
    let age = elapsed(idle.as_secs());
    let adopt = info.command(&format!("adopt {id}"));
    if cleared {
        return both(
            info,
            &format!(
                "loop {id} (phase {phase}) belongs to another session, such as the one that /clear ended. To take it over into this one:{adopt}"
            ),
        );
    }
    if idle < RECENT {
        let line = format!(
            "another session has loop {id} (phase {phase}) in its hands; its last sign of life was {age} ago. If that session is over, this takes it over:{adopt}"
        );
        return HookOutput {
            person: Some(info.line(&line)),
            ..HookOutput::default()
        };
    }
    both(
        info,
        &format!(
            "loop {id} of another session waits in phase {phase}; its last sign of life was {age} ago. If that session is over, this takes it over:{adopt}"
        ),
    )
}

/// A line for the person; the agent gets it as news, not as work.
fn both(info: &ProgramInfo, line: &str) -> HookOutput {
    HookOutput {
        agent: Some(info.line(&format!(
            "{line}\nThis is for the person to decide: do nothing about it unasked"
        ))),
        more: None,
        person: Some(info.line(line)),
    }
}

/// The name of a phase that a list shows.
fn phase(info: &ProgramInfo, listed: &Listed) -> &'static str {
    place(info, listed).map_or("unknown", |at| info.table.phases[at].name)
}

/// Returns whether the loop waits in a phase that no session has in its hands.
pub(super) fn is_for_any_session(info: &ProgramInfo, listed: &Listed) -> bool {
    place(info, listed).is_some_and(|at| messages::is_for_any_session(info.table, at))
}

/// Where the phase that a list shows stands in the machine.
fn place(info: &ProgramInfo, listed: &Listed) -> Option<usize> {
    let stored = listed.phase.as_deref().unwrap_or_default();
    let mut phases = info.table.phases.iter();
    phases.position(|phase| phase.stored == stored)
}
