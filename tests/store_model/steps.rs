//! The steps of the store, one by one, as `src/store/` does them: `with_lock`, `heal`, `commit`, `write`, `start_held`,
//! `refuse_active`, `sweep_held`, `move_away`, `bring_back`, `touch`. A crash may come before each of them.

use crate::protocol::{
    Action, At, Broken, Call, Files, Kept, Left, Next, Part, Place, Process, Protocol, State, Write,
};
use crate::reference::{Content, Document, Fix, Judged, What, accepts, judge};

impl Protocol {
    pub(crate) fn act(&self, state: &mut State, action: Action) {
        match action {
            Action::Call(at, call) => {
                let looks = call == Call::Sweep && self.broken == Broken::SweepLooksBeforeTheLock;
                let seen = looks.then(|| stale(state));
                state.processes[at].at = At::Waiting(call, seen);
            }
            Action::Enter(at, call) => self.lock(state, at, call, None),
            Action::Lock(at) => {
                if let At::Waiting(call, seen) = state.processes[at].at {
                    self.lock(state, at, call, seen);
                }
            }
            Action::Step(at) => {
                if let At::Inside(call, next) = state.processes[at].at {
                    self.step(state, at, call, next);
                }
            }
            Action::Refuse(at) => {
                if let At::Inside(call, Next::Write(Part::Rename, Write { id, .. })) =
                    state.processes[at].at
                {
                    state.budget.refusals -= 1;
                    state.processes[at].at = At::Inside(call, Next::TakeBack { id });
                }
            }
            Action::Crash(at) => {
                state.budget.crashes -= 1;
                crash(state, at);
            }
            Action::BeginReview(at) => {
                state.budget.reviews -= 1;
                state.processes[at].reviews = state.processes[at].held.map(|(id, _)| id);
            }
            Action::EndReview(at) => state.processes[at].reviews = None,
            Action::PowerLoss { line, document } => {
                state.budget.crashes -= 1;
                for at in 0..state.processes.len() {
                    crash(state, at);
                }
                for files in &mut state.files {
                    lose_power(files, line, document);
                }
            }
            Action::Age => {
                state.budget.ages -= 1;
                for files in state.files.iter_mut().filter(|files| files.used) {
                    (files.document_is_old, files.journal_is_old) = (true, true);
                }
            }
        }
    }

    /// Takes the lock and does the first step, which is to look: a crash in between would leave nothing.
    fn lock(&self, state: &mut State, at: usize, call: Call, seen: Option<u8>) {
        let first = Next::Read {
            id: 0,
            refusing: true,
        };
        let next = match call {
            Call::Start if self.broken == Broken::StartRefusesNothing => Next::Folder,
            Call::Start | Call::BringBack(_) => first,
            Call::Commit(_) => match state.processes[at].held {
                Some((id, _)) => Next::Read {
                    id,
                    refusing: false,
                },
                None => return release(state, at),
            },
            Call::Open(id) => Next::Read {
                id,
                refusing: false,
            },
            Call::Touch(id) => {
                if state.files[id].document.is_some() {
                    state.files[id].document_is_old = false;
                }
                return release(state, at);
            }
            Call::Sweep => {
                state.budget.sweeps = state.budget.sweeps.saturating_sub(1);
                return take_next(state, at, seen.unwrap_or_else(|| stale(state)));
            }
        };
        state.processes[at].at = At::Inside(call, next);
        if matches!(next, Next::Read { .. }) {
            self.step(state, at, call, next);
        }
    }

    fn step(&self, state: &mut State, at: usize, call: Call, next: Next) {
        let go = |state: &mut State, next| state.processes[at].at = At::Inside(call, next);
        match next {
            Next::Read { id, refusing: true } => self.read_refusing(state, at, call, id),
            Next::Read {
                id,
                refusing: false,
            } => heal(state, at, call, id, false),
            Next::Cut {
                id,
                refusing,
                judged,
            } => {
                state.files[id].journal.torn = false;
                if self.broken == Broken::HealDropsALine {
                    state.files[id].journal.lines.pop();
                }
                go(state, after_cut(id, refusing, judged));
            }
            Next::Fix {
                id,
                refusing,
                judged,
            } => {
                state.wrong.crash_taken_for_edit |= judged.fix == Some(Fix::Undo);
                let files = &mut state.files[id];
                if self.broken != Broken::NoRollForward || judged.fix != Some(Fix::RollForward) {
                    rename(files, judged.content);
                }
                if self.broken != Broken::HealDoesNotSync {
                    (files.unsynced_line, files.unsynced_name) = (false, false);
                }
                files.document_is_old = false;
                let found = judged.content;
                go(
                    state,
                    Next::Decide {
                        id,
                        refusing,
                        found,
                    },
                );
            }
            Next::Decide {
                id,
                refusing,
                found,
            } => self.decide(state, at, call, id, refusing, found),
            Next::Folder => match state.files.iter().position(|files| !files.used) {
                Some(id) => {
                    state.files[id].used = true;
                    state.files[id].folder = Place::Here;
                    state.files[id].unsynced_name = true;
                    let new = Content::FIRST;
                    let base = Content { revision: 0, ..new };
                    go(state, Next::Write(Part::HalfALine, Write { id, base, new }));
                }
                None => release(state, at),
            },
            Next::Write(part, write) => self.write(state, at, call, part, write),
            Next::TakeBack { id } => {
                let stays = self.broken == Broken::FailedStartTakesNothingBack;
                let files = &mut state.files[id];
                if !stays {
                    files.journal.lines.pop();
                    files.unsynced_line = false;
                }
                if call == Call::Start {
                    if !stays {
                        files.folder = Place::Nowhere;
                        files.unsynced_name = false;
                    }
                    state.wrong.failed_start_left_something |=
                        files.document.is_some() || files.judge().is_ok();
                }
                release(state, at);
            }
            Next::TakeRunLock { stale } => {
                let id = stale.trailing_zeros() as usize;
                let stale = stale & (stale - 1);
                let is_ours = !state.is_running(id) || self.broken == Broken::SweepWithoutRunLock;
                let is_ours = is_ours || state.files[id].folder != Place::Here;
                if is_ours {
                    go(state, Next::MoveDocument { id, stale });
                } else {
                    take_next(state, at, stale);
                }
            }
            Next::MoveDocument { id, stale } => {
                state.wrong.took_reviewed |= is_reviewed(state, id);
                let files = &mut state.files[id];
                state.wrong.took_touched |= match files.document {
                    Some(_) => !files.document_is_old,
                    None => files.folder == Place::Here && !files.journal_is_old,
                };
                files.before.clear();
                if let Some(document) = files.document.take() {
                    files.swept = Some(document);
                }
                go(state, Next::MoveFolder { id, stale });
            }
            Next::MoveFolder { id, stale } => {
                state.wrong.took_reviewed |= is_reviewed(state, id);
                if state.files[id].folder == Place::Here {
                    state.files[id].folder = Place::Swept;
                }
                match call {
                    Call::Sweep => take_next(state, at, stale),
                    _ => go(state, after_refusing(state, call, id)),
                }
            }
            Next::FolderBack { id } => {
                let files = &mut state.files[id];
                let is_cut_off = files.folder == Place::Here;
                let is_in_the_way = files.document.is_some();
                let there = files.swept.map_or(Document::Missing, Document::Whole);
                let is_there = files.swept.is_some() || files.folder == Place::Swept;
                let is_loop = is_cut_off || judge(there, &files.journal).is_ok();
                if !is_there || is_in_the_way || !is_loop {
                    return release(state, at);
                }
                files.folder = Place::Here;
                go(state, Next::DocumentBack { id });
            }
            Next::DocumentBack { id } => {
                let files = &mut state.files[id];
                if let Some(document) = files.swept.take() {
                    files.document = Some(document);
                }
                go(
                    state,
                    Next::Read {
                        id,
                        refusing: false,
                    },
                );
            }
        }
    }

    /// One loop of those that a start or a way back looks at before.
    fn read_refusing(&self, state: &mut State, at: usize, call: Call, id: usize) {
        let files = &state.files[id];
        let next = if files.document.is_some() {
            if files.judge().is_ok() {
                return heal(state, at, call, id, true);
            }
            // No start made it here: it is set aside.
            state.files[id].document = None;
            after_refusing(state, call, id)
        } else if !files.is_active() || self.broken == Broken::StartSeesNoLostState {
            after_refusing(state, call, id)
        } else if state.is_running(id) {
            return heal(state, at, call, id, true);
        } else {
            // Its state is lost: it is put away, so that no open makes it active beside the new one.
            Next::MoveFolder { id, stale: 0 }
        };
        state.processes[at].at = At::Inside(call, next);
    }

    fn decide(
        &self,
        state: &mut State,
        at: usize,
        call: Call,
        id: usize,
        refusing: bool,
        found: Content,
    ) {
        let files = &state.files[id];
        state.wrong.opened_apart |= files.document.as_ref() != files.journal.lines.last();
        let (base, what) = match (call, state.processes[at].held) {
            _ if refusing => {
                if !found.phase.is_terminal() {
                    return release(state, at);
                }
                state.processes[at].at = At::Inside(call, after_refusing(state, call, id));
                return;
            }
            (Call::Commit(what), Some((_, held))) => {
                if !accepts(found, held, what) && self.broken != Broken::NoRevisionCheck {
                    state.processes[at].held = None;
                    return release(state, at);
                }
                (held, what)
            }
            (Call::BringBack(_), _) => (found, What::BringBack),
            _ => {
                state.processes[at].held = Some((id, found));
                return release(state, at);
            }
        };
        if what == What::Step {
            state.budget.steps = state.budget.steps.saturating_sub(1);
        }
        let new = what.of(found);
        let first = Next::Write(self.first_of_write(), Write { id, base, new });
        state.processes[at].at = At::Inside(call, first);
    }

    fn first_of_write(&self) -> Part {
        if self.broken == Broken::RenameBeforeJournal {
            Part::Rename
        } else {
            Part::HalfALine
        }
    }

    /// Journal first, document second.
    fn write(&self, state: &mut State, at: usize, call: Call, part: Part, write: Write) {
        let rename_first = self.broken == Broken::RenameBeforeJournal;
        let Write { id, base, new } = write;
        let files = &mut state.files[id];
        let next = match part {
            Part::HalfALine => {
                files.journal.torn = true;
                files.journal_is_old = false;
                Part::Line
            }
            Part::Line => {
                files.journal.torn = false;
                files.journal.lines.push(new);
                files.unsynced_line = true;
                match self.broken {
                    Broken::NoJournalSync => Part::Rename,
                    _ => Part::SyncLine,
                }
            }
            Part::SyncLine => {
                files.unsynced_line = false;
                match call {
                    _ if rename_first => Part::Finish,
                    Call::Start if self.broken != Broken::StartShowsBeforeItSyncs => {
                        Part::SyncNames
                    }
                    _ => Part::Rename,
                }
            }
            Part::SyncNames => {
                files.unsynced_name = false;
                Part::Rename
            }
            Part::Rename => {
                rename(files, new);
                files.document_is_old = false;
                if rename_first {
                    Part::HalfALine
                } else {
                    Part::Finish
                }
            }
            Part::Finish => {
                if call == Call::Start {
                    // The folder is synced, for the names in it.
                    files.before.clear();
                    files.unsynced_name = false;
                }
                files.acknowledged.push(new);
                let bit = 1 << base.revision;
                state.wrong.two_winners |= files.won & bit != 0;
                files.won |= bit;
                state.processes[at].held = Some((id, new));
                return release(state, at);
            }
        };
        state.processes[at].at = At::Inside(call, Next::Write(next, write));
    }
}

/// Reads a loop and writes what is needed for document and journal to agree; then the caller decides.
fn heal(state: &mut State, at: usize, call: Call, id: usize, refusing: bool) {
    let next = match state.files[id].judge() {
        Err(_) => {
            state.processes[at].held = None;
            return release(state, at);
        }
        Ok(judged) if state.files[id].journal.torn => Next::Cut {
            id,
            refusing,
            judged,
        },
        Ok(judged) => after_cut(id, refusing, judged),
    };
    state.processes[at].at = At::Inside(call, next);
}

fn after_cut(id: usize, refusing: bool, judged: Judged) -> Next {
    let found = judged.content;
    match judged.fix {
        Some(_) => Next::Fix {
            id,
            refusing,
            judged,
        },
        None => Next::Decide {
            id,
            refusing,
            found,
        },
    }
}

/// What comes once the loop `id` does not refuse a start or a way back.
fn after_refusing(state: &State, call: Call, id: usize) -> Next {
    match call {
        _ if id + 1 < state.files.len() => Next::Read {
            id: id + 1,
            refusing: true,
        },
        Call::BringBack(id) => Next::FolderBack { id },
        _ => Next::Folder,
    }
}

fn release(state: &mut State, at: usize) {
    state.processes[at].at = At::Idle;
}

/// The sweep goes on with the loops that are left.
fn take_next(state: &mut State, at: usize, stale: u8) {
    state.processes[at].at = match stale {
        0 => At::Idle,
        _ => At::Inside(Call::Sweep, Next::TakeRunLock { stale }),
    };
}

/// The loops that a sweep may take, a bit each.
fn stale(state: &State) -> u8 {
    let is_stale = |(id, files): (usize, &Files)| {
        let lost = files.document.is_none() && files.folder == Place::Here;
        let has_journal = files.journal.torn || !files.journal.lines.is_empty();
        let is_terminal = files
            .judge()
            .map_or(files.document, |judged| Some(judged.content))
            .is_some_and(|content| content.phase.is_terminal());
        let is_old = if lost {
            has_journal && files.journal_is_old
        } else {
            files.document.is_some() && files.document_is_old && !is_terminal
        };
        is_old && !state.is_running(id)
    };
    state
        .files
        .iter()
        .enumerate()
        .filter(|one| is_stale(*one))
        .fold(0, |stale, (id, _)| stale | 1 << id)
}

fn is_reviewed(state: &State, id: usize) -> bool {
    state
        .processes
        .iter()
        .any(|process| process.reviews == Some(id))
}

/// The process is gone, its locks are free; what it had written stays.
fn crash(state: &mut State, at: usize) {
    state.processes[at] = Process::NEW;
}

/// Puts a document in the place of the one that is there. Nothing of it is synced.
fn rename(files: &mut Files, new: Content) {
    files.before.insert(files.document);
    files.document = Some(new);
    files.is_begun = false;
}

fn lose_power(files: &mut Files, line: Kept, document: Left) {
    if files.unsynced_line && line != Kept::All {
        files.journal.lines.pop();
        files.journal.torn = line == Kept::Half;
    }
    match document {
        Left::All => {}
        Left::Begin => files.is_begun |= !files.before.is_empty(),
        Left::Before(at) => {
            if let Some(before) = files.before.iter().nth(at) {
                files.document = *before;
            }
        }
    }
    if files.unsynced_name && line == Kept::None {
        files.journal = crate::reference::Journal::default();
        files.folder = Place::Nowhere;
    }
    files.unsynced_line = false;
    files.unsynced_name = false;
    files.before.clear();
}
