//! What the store promises, as plain functions over values: what a loop is, given what stands on disk, which change of it
//! may be made, and which journals are possible. The model (`protocol`) and the tests of the implementation (`random`,
//! `programs`) are both judged by this file. It knows no file and no process.

/// A phase of the machine that these tests keep in the store: one that goes on, two that do not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Phase {
    On,
    Over,
    Cancelled,
}

impl Phase {
    pub(crate) const ALL: [Self; 3] = [Self::On, Self::Over, Self::Cancelled];

    pub(crate) fn stored(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Over => "over",
            Self::Cancelled => "cancelled",
        }
    }

    pub(crate) fn parse(stored: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.stored() == stored)
    }

    pub(crate) fn is_terminal(self) -> bool {
        self != Self::On
    }
}

/// What a loop says at one revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Content {
    pub(crate) revision: u8,
    pub(crate) phase: Phase,
    /// Machine-owned: an edit by hand is undone.
    pub(crate) count: u8,
    /// Anyone's: an edit by hand is kept.
    pub(crate) note: u8,
}

impl Content {
    pub(crate) const FIRST: Self = Self {
        revision: 1,
        phase: Phase::On,
        count: 0,
        note: 0,
    };

    /// Whether the fields agree that only the store writes.
    fn agrees(self, other: Self) -> bool {
        Self { note: 0, ..self } == Self { note: 0, ..other }
    }
}

/// A change of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum What {
    Step,
    Finish,
    Cancel,
    /// The note, outside of the machine: in any phase.
    Note(u8),
    /// What coming back from `swept/` leaves in the journal.
    BringBack,
}

impl What {
    /// As the journal calls it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Finish => "finish",
            Self::Cancel => "cancel",
            Self::Note(_) => "set-field",
            Self::BringBack => "bring-back",
        }
    }

    /// The only phase in which it is legal.
    pub(crate) fn from(self) -> Option<Phase> {
        match self {
            Self::Step | Self::Finish | Self::Cancel => Some(Phase::On),
            Self::Note(_) | Self::BringBack => None,
        }
    }

    /// What it makes of a loop.
    pub(crate) fn of(self, found: Content) -> Content {
        let next = Content {
            revision: found.revision + 1,
            ..found
        };
        match self {
            Self::Step => Content {
                count: found.count + 1,
                ..next
            },
            Self::Finish => Content {
                phase: Phase::Over,
                ..next
            },
            Self::Cancel => Content {
                phase: Phase::Cancelled,
                ..next
            },
            Self::Note(note) => Content { note, ..next },
            Self::BringBack => next,
        }
    }
}

/// What stands in the place of the state document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Document {
    Missing,
    /// No document at all.
    Garbled,
    /// A document that ends before it says which one it is.
    Cut,
    /// The begin of one that the store wrote, as a power loss leaves it.
    Begun,
    Whole(Content),
}

/// The journal of a loop: its whole lines, and whether half of one stands behind them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Journal {
    pub(crate) lines: Vec<Content>,
    pub(crate) torn: bool,
}

/// How the document must be written anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Fix {
    RollForward,
    Rebuild,
    Undo,
}

/// A loop, once document and journal agree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Judged {
    pub(crate) content: Content,
    pub(crate) fix: Option<Fix>,
}

/// Why there is no loop to open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum NoLoop {
    Nothing,
    Unreadable,
    NoMachine,
    NoJournal,
}

/// What a loop is, given what stands on disk: the journal is what happened.
pub(crate) fn judge(document: Document, journal: &Journal) -> Result<Judged, NoLoop> {
    let Some(&last) = journal.lines.last() else {
        return Err(match document {
            Document::Missing => NoLoop::Nothing,
            Document::Garbled | Document::Begun => NoLoop::Unreadable,
            Document::Cut => NoLoop::NoMachine,
            Document::Whole(_) => NoLoop::NoJournal,
        });
    };
    let before = &journal.lines[..journal.lines.len() - 1];
    let (content, fix) = match document {
        Document::Missing | Document::Garbled | Document::Cut => (last, Some(Fix::Rebuild)),
        Document::Begun => (last, Some(Fix::RollForward)),
        Document::Whole(there) if before.iter().any(|before| there.agrees(*before)) => {
            (last, Some(Fix::RollForward))
        }
        Document::Whole(there) => {
            let note = there.note;
            (
                Content { note, ..last },
                (!there.agrees(last)).then_some(Fix::Undo),
            )
        }
    };
    Ok(Judged { content, fix })
}

/// Whether a change of the loop that is `held` may be made, when `found` is what is on disk: compare-and-swap.
pub(crate) fn accepts(found: Content, held: Content, what: What) -> bool {
    found.revision == held.revision
        && found.phase == held.phase
        && what.from().is_none_or(|from| from == found.phase)
}

/// Says what is wrong with a journal as the history of one loop, if anything is. The note may change between two lines:
/// it is anyone's to edit.
pub(crate) fn why_impossible(history: &[(String, Content)]) -> Option<String> {
    let Some((name, first)) = history.first() else {
        return Some("it is empty".to_owned());
    };
    if name != "start" || *first != Content::FIRST {
        return Some(format!("it begins with {name}: {first:?}"));
    }
    history.windows(2).find_map(|pair| {
        let [(_, found), (name, made)] = pair else {
            return None;
        };
        let changes = [
            What::Step,
            What::Finish,
            What::Cancel,
            What::Note(made.note),
            What::BringBack,
        ];
        let what = changes.into_iter().find(|what| what.name() == name);
        let legal = what
            .filter(|what| what.from().is_none_or(|from| from == found.phase))
            .is_some_and(|what| what.of(*found).agrees(*made));
        (!legal).then(|| format!("{name} does not lead from {found:?} to {made:?}"))
    })
}
