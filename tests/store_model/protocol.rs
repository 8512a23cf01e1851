//! The store's protocol as a model that stateright walks through: what is on disk, where each process stands, what may
//! happen next, and what must hold in every state. The steps themselves are `steps`; what a loop is, `reference`.
//!
//! Processes are alike, so a state keeps them sorted: two states that differ in their order are one.

use std::collections::BTreeSet;

use stateright::{Model, Property};

use crate::reference::{Content, Document, Journal, Judged, NoLoop, What, judge};

/// One step of the protocol left out or done wrong. A model that cannot fail proves nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    Nothing,
    NoLock,
    NoRevisionCheck,
    RenameBeforeJournal,
    NoJournalSync,
    HealDropsALine,
    NoRollForward,
    HealDoesNotSync,
    SweepLooksBeforeTheLock,
    SweepWithoutRunLock,
    TouchWithoutLock,
    StartRefusesNothing,
    FailedStartTakesNothingBack,
    StartSeesNoLostState,
    StartShowsBeforeItSyncs,
}

/// How much may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Budget {
    /// Crashes of a process, and power losses.
    pub(crate) crashes: u8,
    /// Renames that the system refuses.
    pub(crate) refusals: u8,
    /// Changes that keep the phase.
    pub(crate) steps: u8,
    pub(crate) sweeps: u8,
    /// How often all that is there grows old.
    pub(crate) ages: u8,
    /// Reviews that are begun.
    pub(crate) reviews: u8,
}

/// The bounds within which the model is walked through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Protocol {
    pub(crate) processes: usize,
    /// How many ids there are; each is given once.
    pub(crate) ids: usize,
    /// Whether a process may already want the lock while another has it. A call that waits does nothing, so this adds
    /// states, and nothing that can happen.
    pub(crate) queues: bool,
    /// Whether the first loop is there and held by everyone at the beginning.
    pub(crate) begun: bool,
    pub(crate) budget: Budget,
    pub(crate) broken: Broken,
}

/// Where a loop's folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Place {
    Nowhere,
    Here,
    Swept,
}

/// The files of one loop, and what was told about it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Files {
    pub(crate) used: bool,
    /// The state document in the folder.
    pub(crate) document: Option<Content>,
    /// The one in `swept/`.
    pub(crate) swept: Option<Content>,
    /// Where the loop's own folder is, the journal within.
    pub(crate) folder: Place,
    pub(crate) journal: Journal,
    /// The journal's last line may not survive a power loss.
    pub(crate) unsynced_line: bool,
    /// The journal's name may not.
    pub(crate) unsynced_name: bool,
    /// The document was cut off by a power loss.
    pub(crate) is_begun: bool,
    /// What a power loss may bring back in the place of the document: nothing that was renamed since is synced.
    pub(crate) before: BTreeSet<Option<Content>>,
    pub(crate) document_is_old: bool,
    pub(crate) journal_is_old: bool,
    /// What callers were told is done.
    pub(crate) acknowledged: Vec<Content>,
    /// The revisions on which a change was won, a bit each.
    pub(crate) won: u16,
}

impl Files {
    const NONE: Self = Self {
        used: false,
        document: None,
        swept: None,
        folder: Place::Nowhere,
        journal: Journal {
            lines: Vec::new(),
            torn: false,
        },
        unsynced_line: false,
        unsynced_name: false,
        is_begun: false,
        before: BTreeSet::new(),
        document_is_old: false,
        journal_is_old: false,
        acknowledged: Vec::new(),
        won: 0,
    };

    /// What the loop in the folder is.
    pub(crate) fn judge(&self) -> Result<Judged, NoLoop> {
        let document = match self.document {
            Some(_) if self.is_begun => Document::Begun,
            there => there.map_or(Document::Missing, Document::Whole),
        };
        if self.folder == Place::Here {
            judge(document, &self.journal)
        } else {
            judge(document, &Journal::default())
        }
    }

    pub(crate) fn is_active(&self) -> bool {
        self.judge()
            .is_ok_and(|judged| !judged.content.phase.is_terminal())
    }
}

/// What a process wants of the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Call {
    Start,
    Commit(What),
    Open(usize),
    Touch(usize),
    Sweep,
    BringBack(usize),
}

/// The next step of a process that is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Next {
    /// Read and judge one loop: to be refused by it, or to change it.
    Read {
        id: usize,
        refusing: bool,
    },
    /// Cut a torn line, then write the document if it must be.
    Cut {
        id: usize,
        refusing: bool,
        judged: Judged,
    },
    Fix {
        id: usize,
        refusing: bool,
        judged: Judged,
    },
    Decide {
        id: usize,
        refusing: bool,
        found: Content,
    },
    /// A start's folder.
    Folder,
    Write(Part, Write),
    /// The rename was refused: the line is taken back.
    TakeBack {
        id: usize,
    },
    /// Take the run lock of the next loop that the sweep saw to be stale; a bit each.
    TakeRunLock {
        stale: u8,
    },
    MoveDocument {
        id: usize,
        stale: u8,
    },
    MoveFolder {
        id: usize,
        stale: u8,
    },
    FolderBack {
        id: usize,
    },
    DocumentBack {
        id: usize,
    },
}

/// The steps of a write, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Part {
    /// The new document is prepared beside the old one by now; nobody reads that file.
    HalfALine,
    Line,
    SyncLine,
    /// Of a start: the names of the journal and its folder are synced before anyone can see the loop.
    SyncNames,
    Rename,
    /// The caller is told.
    Finish,
}

/// What a write makes of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Write {
    pub(crate) id: usize,
    pub(crate) base: Content,
    pub(crate) new: Content,
}

/// Where a process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum At {
    Idle,
    /// It wants the project's lock.
    Waiting(Call, Option<u8>),
    /// It has the lock.
    Inside(Call, Next),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Process {
    pub(crate) at: At,
    pub(crate) held: Option<(usize, Content)>,
    /// The loop whose run lock it has.
    pub(crate) reviews: Option<usize>,
}

impl Process {
    pub(crate) const NEW: Self = Self {
        at: At::Idle,
        held: None,
        reviews: None,
    };
}

/// What went wrong on the way to a state, where the state alone does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Wrong {
    pub(crate) two_winners: bool,
    pub(crate) opened_apart: bool,
    pub(crate) crash_taken_for_edit: bool,
    pub(crate) took_touched: bool,
    pub(crate) took_reviewed: bool,
    pub(crate) failed_start_left_something: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) files: Vec<Files>,
    pub(crate) processes: Vec<Process>,
    pub(crate) budget: Budget,
    pub(crate) wrong: Wrong,
}

impl State {
    pub(crate) fn is_locked(&self) -> bool {
        self.processes
            .iter()
            .any(|process| matches!(process.at, At::Inside(..)))
    }

    /// Whether someone has the run lock of a loop: a review, or a move of it.
    pub(crate) fn is_running(&self, id: usize) -> bool {
        self.processes.iter().any(|process| {
            process.reviews == Some(id)
                || matches!(process.at, At::Inside(_, Next::MoveDocument { id: moved, .. } | Next::MoveFolder { id: moved, .. }) if moved == id)
        })
    }

    /// Nobody is in the middle of anything, and every loop that there is has come to its end.
    pub(crate) fn is_at_an_end(&self) -> bool {
        let is_at_an_end = |files: &Files| match files.folder {
            Place::Swept => files.journal.lines.is_empty(),
            Place::Here | Place::Nowhere => !files.is_active(),
        };
        self.processes.iter().all(|process| process.at == At::Idle)
            && self.files.iter().all(is_at_an_end)
    }
}

/// What may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// A process calls the store.
    Call(usize, Call),
    /// It takes the lock, and looks at what is there.
    Lock(usize),
    /// Both at once.
    Enter(usize, Call),
    /// It does its next step.
    Step(usize),
    /// The system refuses its rename.
    Refuse(usize),
    /// It dies and begins anew.
    Crash(usize),
    BeginReview(usize),
    EndReview(usize),
    /// Everyone dies. What was not synced is there, or half of it, or not.
    PowerLoss {
        line: Kept,
        document: Left,
    },
    /// All that stands there is older now than a sweep asks for.
    Age,
}

/// What a power loss leaves of a document that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Left {
    All,
    Begin,
    /// This one of those before it.
    Before(usize),
}

/// What a power loss leaves of a line that was not synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kept {
    All,
    Half,
    None,
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut files = vec![Files::NONE; self.ids];
        let mut process = Process::NEW;
        if self.begun {
            files[0] = Files {
                used: true,
                document: Some(Content::FIRST),
                folder: Place::Here,
                journal: Journal {
                    lines: vec![Content::FIRST],
                    torn: false,
                },
                acknowledged: vec![Content::FIRST],
                won: 1,
                ..Files::NONE
            };
            process.held = Some((0, Content::FIRST));
        }
        vec![State {
            files,
            processes: vec![process; self.processes],
            budget: self.budget,
            wrong: Wrong::default(),
        }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        let may_enter = !state.is_locked() || self.broken == Broken::NoLock;
        for (at, process) in state.processes.iter().enumerate() {
            // Of processes in the same place, one is as good as the other.
            if at > 0 && state.processes[at - 1] == *process {
                continue;
            }
            match process.at {
                At::Idle if self.queues || may_enter => self.calls(state, at, actions),
                At::Idle => self.without_lock(state, at, actions),
                At::Waiting(..) if may_enter => actions.push(Action::Lock(at)),
                At::Waiting(..) => {}
                At::Inside(_, next) => {
                    actions.push(Action::Step(at));
                    if matches!(next, Next::Write(Part::Rename, _)) && state.budget.refusals > 0 {
                        actions.push(Action::Refuse(at));
                    }
                }
            }
            let has_something = matches!(process.at, At::Inside(..)) || process.reviews.is_some();
            if has_something && state.budget.crashes > 0 {
                actions.push(Action::Crash(at));
            }
        }
        let unsynced = |files: &Files| {
            (
                files.unsynced_line || files.unsynced_name,
                files.before.len(),
            )
        };
        let (line, before) = state
            .files
            .iter()
            .map(unsynced)
            .fold((false, 0), |all, one| (all.0 || one.0, all.1.max(one.1)));
        // Where everything is synced, a power loss is a crash.
        if state.budget.crashes > 0 && (line || before > 0) {
            for line in if line {
                &[Kept::None, Kept::Half, Kept::All][..]
            } else {
                &[Kept::All]
            } {
                let begun = (before > 0).then_some(Left::Begin);
                for document in [Left::All]
                    .into_iter()
                    .chain(begun)
                    .chain((0..before).map(Left::Before))
                {
                    actions.push(Action::PowerLoss {
                        line: *line,
                        document,
                    });
                }
            }
        }
        let is_young =
            |files: &Files| files.used && !(files.document_is_old && files.journal_is_old);
        if state.budget.ages > 0 && state.files.iter().any(is_young) {
            actions.push(Action::Age);
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        self.act(&mut state, action);
        state.processes.sort_unstable();
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        let mut properties = crate::promises::promises();
        properties.extend(crate::promises::happenings());
        properties
    }
}

impl Protocol {
    /// What an idle process may ask of the store.
    fn calls(&self, state: &State, at: usize, actions: &mut Vec<Action>) {
        let process = state.processes[at];
        let mut call = |call| {
            let waits = self.queues
                || call == Call::Sweep && self.broken == Broken::SweepLooksBeforeTheLock;
            actions.push(if waits {
                Action::Call(at, call)
            } else {
                Action::Enter(at, call)
            });
        };
        if state.files.iter().any(|files| !files.used) {
            call(Call::Start);
        }
        let is_free = process
            .held
            .is_none_or(|(_, held)| held.phase.is_terminal());
        for (id, files) in state.files.iter().enumerate() {
            if files.folder == Place::Here && is_free {
                call(Call::Open(id));
            }
            if files.swept.is_some() || files.folder == Place::Swept {
                call(Call::BringBack(id));
            }
        }
        if let Some((id, held)) = process.held {
            if !held.phase.is_terminal() {
                if state.budget.steps > 0 {
                    call(Call::Commit(What::Step));
                }
                call(Call::Commit(What::Finish));
                call(Call::Commit(What::Cancel));
            }
            if state.budget.sweeps > 0 || self.budget.sweeps > 0 {
                call(Call::Touch(id));
            }
        }
        if state.budget.sweeps > 0 {
            call(Call::Sweep);
        }
        self.without_lock(state, at, actions);
    }

    /// What an idle process may do whoever has the lock.
    fn without_lock(&self, state: &State, at: usize, actions: &mut Vec<Action>) {
        let process = state.processes[at];
        if self.broken == Broken::TouchWithoutLock
            && let Some((id, _)) = process.held
            && state.is_locked()
        {
            actions.push(Action::Enter(at, Call::Touch(id)));
        }
        match (process.reviews, process.held) {
            (Some(_), _) => actions.push(Action::EndReview(at)),
            (None, Some((id, _))) => {
                let files = &state.files[id];
                if state.budget.reviews > 0 && files.folder == Place::Here && !state.is_running(id)
                {
                    actions.push(Action::BeginReview(at));
                }
            }
            (None, None) => {}
        }
    }
}
