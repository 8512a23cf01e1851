//! Random sequences of calls, crashes and damage, and what the reference says to each.

use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;

use crate::folder::Answer;
use crate::reference::{Content, Document, Fix, Journal, Judged, NoLoop, What, accepts, judge};

/// Something that happens to the folder. Loops and held records are numbered in their order; numbers wrap around.
#[derive(Debug, Clone)]
pub(crate) enum Happens {
    Start,
    Open(usize),
    /// A change of what was once held, whether that is still what is on disk or not.
    Commit(usize, What),
    /// The newest loop is opened and changed.
    Go(What),
    Note(usize, u8),
    Touch(usize),
    Age(usize),
    Sweep,
    BringBack(usize),
    /// A program that starts a loop, or changes the newest, is killed there.
    CrashInStart(Point),
    CrashInCommit(What, Point),
    /// A sweep that has moved the state file and not the rest.
    CrashInSweep(usize),
    Damage(usize, Damage),
}

/// Where a program is killed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Point {
    /// After so many bytes of the journal's line, or before if there is not yet room for the new document.
    Line(u8),
    /// The line is there, the document is the old one.
    Journaled,
    /// All is done, and nobody was told.
    Renamed,
}

/// What people and disks do to files.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Damage {
    Garbled,
    CutOff,
    Deleted,
    Count(u8),
    PhaseByHand,
    Note(u8),
    /// The document as it was some revisions ago.
    OldOneBack(u8),
    TornLine,
}

/// One loop, as it must be on disk.
#[derive(Debug, Clone)]
pub(crate) struct Loop {
    pub(crate) document: Document,
    /// In `swept/`.
    pub(crate) swept: Document,
    pub(crate) is_here: bool,
    pub(crate) swept_folder: bool,
    pub(crate) journal: Journal,
    document_is_old: bool,
    journal_is_old: bool,
    /// Since the last change the journal has a note that the document was missing: the same is not noted twice.
    missing_is_noted: bool,
    /// A start that was refused may have repaired it before, or not; one that is over by any start.
    pub(crate) may_be_repaired: bool,
}

/// The folder, as it must be, and what the last call must have answered.
#[derive(Debug, Clone)]
pub(crate) struct Folder {
    pub(crate) loops: Vec<Loop>,
    /// What callers were given.
    pub(crate) held: Vec<(usize, Content)>,
    pub(crate) answer: Answer,
    /// The loops that the last sweep moved.
    pub(crate) moved: Vec<usize>,
}

impl Loop {
    fn new(document: Document) -> Self {
        Self {
            document,
            swept: Document::Missing,
            is_here: true,
            swept_folder: false,
            journal: Journal {
                lines: vec![Content::FIRST],
                torn: false,
            },
            document_is_old: false,
            journal_is_old: false,
            missing_is_noted: false,
            may_be_repaired: false,
        }
    }

    fn judge(&self) -> Result<Judged, NoLoop> {
        let none = Journal::default();
        judge(
            self.document,
            if self.is_here { &self.journal } else { &none },
        )
    }

    pub(crate) fn is_active(&self) -> bool {
        self.judge()
            .is_ok_and(|judged| !judged.content.phase.is_terminal())
    }

    fn is_whole(&self) -> bool {
        self.is_here && !self.journal.torn && self.judge().is_ok_and(|judged| judged.fix.is_none())
    }

    fn heal(&mut self) -> Result<Content, Answer> {
        let judged = match self.judge() {
            Ok(judged) => judged,
            Err(NoLoop::Nothing) => return Err(Answer::NoLoop),
            Err(other) => return Err(Answer::Other(format!("{other:?}"))),
        };
        if std::mem::take(&mut self.journal.torn) {
            self.journal_is_old = false;
        }
        if let Some(fix) = judged.fix {
            // What no crash leaves is noted in the journal, unless the loop is over.
            if fix != Fix::RollForward && !judged.content.phase.is_terminal() {
                let is_missing = self.document == Document::Missing;
                self.journal_is_old &= is_missing && self.missing_is_noted;
                self.missing_is_noted |= is_missing;
            }
            self.document = Document::Whole(judged.content);
            self.document_is_old = false;
        }
        self.may_be_repaired = false;
        Ok(judged.content)
    }

    fn journal(&mut self, new: Content) {
        self.journal.lines.push(new);
        self.journal_is_old = false;
        self.missing_is_noted = false;
    }

    fn write(&mut self, new: Content) {
        self.journal(new);
        self.document = Document::Whole(new);
        self.document_is_old = false;
    }

    fn put_away(&mut self) {
        if self.document != Document::Missing {
            self.swept = std::mem::replace(&mut self.document, Document::Missing);
        }
        self.is_here = false;
        self.swept_folder = true;
    }
}

impl Folder {
    /// The loop that a number means.
    pub(crate) fn at(&self, number: usize) -> usize {
        number % self.loops.len().max(1)
    }

    fn refuse_active(&mut self) -> Result<(), Answer> {
        for one in &mut self.loops {
            if one.document == Document::Missing && one.is_active() {
                one.put_away();
            }
        }
        let is_refused = self.loops.iter().any(Loop::is_active);
        for one in self
            .loops
            .iter_mut()
            .filter(|one| one.document != Document::Missing)
        {
            let is_sure = one.is_whole() && !one.may_be_repaired;
            if !one.is_active() {
                // What the index knows as over is not looked at.
                one.may_be_repaired = !is_sure;
                continue;
            }
            one.heal()?;
            one.may_be_repaired = is_refused && !is_sure;
        }
        if is_refused {
            Err(Answer::Active)
        } else {
            Ok(())
        }
    }

    fn open(&mut self, id: usize) -> Result<Content, Answer> {
        let one = self.loops.get_mut(id).ok_or(Answer::NoLoop)?;
        one.heal()
    }

    fn change(&mut self, id: usize, held: Option<Content>, what: What) -> Result<Content, Answer> {
        let found = self.open(id)?;
        if held.is_some_and(|held| !accepts(found, held, what)) {
            return Err(Answer::Stale(found.revision));
        }
        let new = what.of(found);
        self.loops[id].write(new);
        Ok(new)
    }

    fn bring_back(&mut self, id: usize) -> Result<Content, Answer> {
        if !self.loops.get(id).is_some_and(|one| one.swept_folder) {
            return Err(Answer::NoLoop);
        }
        self.refuse_active()?;
        let one = &mut self.loops[id];
        if one.document != Document::Missing {
            return Err(Answer::Exists);
        }
        if !one.is_here && judge(one.swept, &one.journal).is_err() {
            return Err(Answer::NoLoop);
        }
        one.is_here = true;
        one.swept_folder = false;
        one.document = std::mem::replace(&mut one.swept, Document::Missing);
        self.change(id, None, What::BringBack)
    }

    fn sweep(&mut self) {
        for (id, one) in self
            .loops
            .iter_mut()
            .enumerate()
            .filter(|(_, one)| one.is_here)
        {
            let goes = if one.document == Document::Missing {
                one.journal_is_old
            } else {
                one.document_is_old && one.is_active()
            };
            if goes {
                one.put_away();
                self.moved.push(id);
            }
        }
    }

    /// The call's answer is kept, and what it gave is held from now on.
    fn told(&mut self, id: usize, result: Result<Content, Answer>) {
        self.answer = match result {
            Ok(content) => {
                self.held.push((id, content));
                Answer::Loop(content)
            }
            Err(answer) => answer,
        };
    }

    fn damage(&mut self, id: usize, damage: Damage) {
        let one = &mut self.loops[id];
        one.document_is_old = false;
        let edit = |one: &mut Loop, edit: &dyn Fn(&mut Content)| {
            if let Document::Whole(content) = &mut one.document {
                edit(content);
            }
        };
        match damage {
            Damage::Garbled => one.document = Document::Garbled,
            Damage::CutOff => one.document = Document::Cut,
            Damage::Deleted => one.document = Document::Missing,
            Damage::Count(count) => edit(one, &|content| content.count = count),
            Damage::PhaseByHand => edit(one, &|content| {
                content.phase = crate::reference::Phase::Over
            }),
            Damage::Note(note) => edit(one, &|content| content.note = note),
            Damage::OldOneBack(ago) => {
                let last = one.journal.lines.len() - 1;
                one.document =
                    Document::Whole(one.journal.lines[last.saturating_sub(usize::from(ago))]);
            }
            Damage::TornLine => {
                one.journal.torn = true;
                one.journal_is_old = false;
            }
        }
    }
}

impl ReferenceStateMachine for Folder {
    type State = Self;
    type Transition = Happens;

    fn init_state() -> BoxedStrategy<Self> {
        Just(Self {
            loops: Vec::new(),
            held: Vec::new(),
            answer: Answer::Done,
            moved: Vec::new(),
        })
        .boxed()
    }

    fn transitions(_: &Self) -> BoxedStrategy<Happens> {
        let what =
            || prop_oneof![4 => Just(What::Step), 1 => Just(What::Finish), 1 => Just(What::Cancel)];
        let point = || {
            prop_oneof![
                (0..=200_u8).prop_map(Point::Line),
                Just(Point::Journaled),
                Just(Point::Renamed)
            ]
        };
        let damage = prop_oneof![
            Just(Damage::Garbled),
            Just(Damage::CutOff),
            Just(Damage::Deleted),
            (0..9_u8).prop_map(Damage::Count),
            Just(Damage::PhaseByHand),
            (0..9_u8).prop_map(Damage::Note),
            (1..4_u8).prop_map(Damage::OldOneBack),
            Just(Damage::TornLine),
        ];
        prop_oneof![
            3 => Just(Happens::Start),
            2 => (0..4_usize).prop_map(Happens::Open),
            3 => (0..64_usize, what()).prop_map(|(held, what)| Happens::Commit(held, what)),
            5 => what().prop_map(Happens::Go),
            1 => (0..4_usize, 0..9_u8).prop_map(|(id, note)| Happens::Note(id, note)),
            1 => (0..4_usize).prop_map(Happens::Touch),
            3 => (0..4_usize).prop_map(Happens::Age),
            3 => Just(Happens::Sweep),
            3 => (0..4_usize).prop_map(Happens::BringBack),
            1 => point().prop_map(Happens::CrashInStart),
            2 => (what(), point()).prop_map(|(what, point)| Happens::CrashInCommit(what, point)),
            1 => (0..4_usize).prop_map(Happens::CrashInSweep),
            4 => (0..4_usize, damage).prop_map(|(id, damage)| Happens::Damage(id, damage)),
        ]
        .boxed()
    }

    fn preconditions(state: &Self, happens: &Happens) -> bool {
        let one = |number: usize| state.loops.get(state.at(number));
        let newest = state.loops.last();
        match *happens {
            Happens::Start | Happens::Sweep => true,
            Happens::Open(id)
            | Happens::Note(id, _)
            | Happens::Touch(id)
            | Happens::BringBack(id) => one(id).is_some(),
            Happens::Age(id) => one(id).is_some_and(|one| one.is_here),
            Happens::Commit(..) => !state.held.is_empty(),
            Happens::Go(_) => newest.is_some(),
            Happens::CrashInStart(_) => {
                // The crash is to come in the start itself, not in a repair before it.
                let needs_nothing = |one: &Loop| {
                    one.document == Document::Missing || one.is_whole() && !one.may_be_repaired
                };
                state
                    .loops
                    .iter()
                    .all(|one| !one.is_active() && needs_nothing(one))
            }
            Happens::CrashInCommit(..) => {
                newest.is_some_and(|one| one.is_whole() && one.is_active())
            }
            Happens::CrashInSweep(id) => {
                one(id).is_some_and(|one| one.document != Document::Missing && one.is_active())
            }
            Happens::Damage(id, damage) => one(id).is_some_and(|one| {
                let is_there =
                    one.is_here && one.document != Document::Missing && !one.may_be_repaired;
                let is_edit = matches!(
                    damage,
                    Damage::Count(_)
                        | Damage::PhaseByHand
                        | Damage::Note(_)
                        | Damage::OldOneBack(_)
                );
                let is_readable = matches!(one.document, Document::Whole(_));
                is_there && (is_readable || !is_edit)
            }),
        }
    }

    fn apply(mut state: Self, happens: &Happens) -> Self {
        state.answer = Answer::Done;
        state.moved.clear();
        let newest = state.loops.len().saturating_sub(1);
        match *happens {
            Happens::Start => {
                let result = state.refuse_active().map(|()| Content::FIRST);
                if result.is_ok() {
                    state.loops.push(Loop::new(Document::Whole(Content::FIRST)));
                }
                state.told(state.loops.len().saturating_sub(1), result);
            }
            Happens::Open(number) => {
                let id = state.at(number);
                let result = state.open(id);
                state.told(id, result);
            }
            Happens::Commit(number, what) => {
                let (id, held) = state.held[number % state.held.len()];
                let result = state.change(id, Some(held), what);
                state.told(id, result);
            }
            Happens::Go(what) => {
                let result = state
                    .open(newest)
                    .and_then(|held| state.change(newest, Some(held), what));
                state.told(newest, result);
            }
            Happens::Note(number, note) => {
                let id = state.at(number);
                let result = state.change(id, None, What::Note(note));
                state.told(id, result);
            }
            Happens::Touch(number) => {
                let id = state.at(number);
                let one = &mut state.loops[id];
                state.answer = match one.document {
                    Document::Missing if one.is_here => Answer::NoFile,
                    Document::Missing => Answer::NoLoop,
                    _ => {
                        one.document_is_old = false;
                        Answer::Done
                    }
                };
            }
            Happens::Age(number) => {
                let id = state.at(number);
                let one = &mut state.loops[id];
                (one.document_is_old, one.journal_is_old) = (true, true);
            }
            Happens::Sweep => state.sweep(),
            Happens::BringBack(number) => {
                let id = state.at(number);
                let result = state.bring_back(id);
                state.told(id, result);
            }
            Happens::CrashInStart(point) => {
                let _ = state.refuse_active();
                match point {
                    Point::Line(_) => {}
                    Point::Journaled => state.loops.push(Loop::new(Document::Missing)),
                    Point::Renamed => state.loops.push(Loop::new(Document::Whole(Content::FIRST))),
                }
            }
            Happens::CrashInCommit(what, point) => {
                let one = &mut state.loops[newest];
                if let Ok(Judged { content: found, .. }) = one.judge() {
                    match point {
                        Point::Line(bytes) => {
                            one.journal.torn = bytes > 0;
                            one.journal_is_old &= bytes == 0;
                        }
                        Point::Journaled => one.journal(what.of(found)),
                        Point::Renamed => one.write(what.of(found)),
                    }
                }
                one.document_is_old &= matches!(point, Point::Line(_));
            }
            Happens::CrashInSweep(number) => {
                let id = state.at(number);
                let one = &mut state.loops[id];
                one.swept = std::mem::replace(&mut one.document, Document::Missing);
                one.swept_folder = true;
            }
            Happens::Damage(number, damage) => {
                let id = state.at(number);
                state.damage(id, damage);
            }
        }
        state
    }
}
