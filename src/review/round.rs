//! One round: take the run lock or follow who has it, ask the reviewer, put the findings and the evidence on disk.
//!
//! A review changes no field of the loop: it writes the findings, their JSON twin, and two notes in the journal. The next
//! stop looks at them. So a review that is cut off at any point leaves a loop that the same command takes up again.

mod error;
mod progress;

use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::Utf8PathBuf;

use self::error::io_error;
use self::progress::{Progress, follow};
use crate::files::{Folder, MOST, UntrustedError};
use crate::machine::Raw;
use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::review::cause::CauseKind;
use crate::review::changes::Changes;
use crate::review::evidence;
use crate::review::findings::Findings;
use crate::review::focus::{Focus, Kind};
use crate::review::look::{self, Look};
use crate::review::reviewer::{Event, Outcome, Request, Reviewer};
use crate::review::runs::{self, Began, Ended, How, Run};
use crate::review::track;
use crate::review::twin::{self, Twin};
use crate::review::{Digest, ReviewSpec};
use crate::store::{LoopId, RunLock, Store, StoreError, run_mark};

pub use self::error::RoundError;
pub use self::progress::watch;

/// How often a running review tells the sweep that its loop is alive.
const TOUCH: Duration = Duration::from_secs(10);

/// How long after a reviewer was told to end from outside the same word may reach us.
const WORD: Duration = Duration::from_millis(500);

/// Takes the changes that a new run reviews, and leaves a copy where the subject lies.
pub type Make<'m> = dyn Fn() -> Result<Changes, Box<dyn miette::Diagnostic + Send + Sync>> + 'm;

/// Gives the whole text for a model that reviews this text.
pub type Prompt<'p> = dyn Fn(&str) -> Result<String, Box<dyn miette::Diagnostic + Send + Sync>> + 'p;

/// What a round is asked with.
#[derive(Clone, Copy)]
pub struct Brief<'a> {
    /// The persona's label, for records.
    pub persona: &'a str,
    /// The persona's point of view.
    pub focus: Focus,
    /// What kind of text is reviewed.
    pub kind: Kind,
    /// Called under the run lock, right before a new run; `None`: the text is the subject's file, which is read once.
    pub make: Option<&'a Make<'a>>,
    /// Called after it with the text of this run. It must not read the subject again.
    pub prompt: &'a Prompt<'a>,
    /// How long it may take.
    pub limits: Limits,
    /// What a reviewer's process sees of our environment.
    pub environment: &'a Environment,
}

impl std::fmt::Debug for Brief<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Brief")
            .field("persona", &self.persona)
            .field("focus", &self.focus)
            .field("kind", &self.kind)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What whoever watches a round is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Said<'a> {
    /// The run began.
    Began {
        /// The reviewer's name.
        reviewer: &'a str,
    },
    /// Another process runs this round's review: it is followed.
    Attached,
    /// A line of progress.
    Line(&'a str),
    /// A line that the reviewer wrote; there may be many.
    Reviewer(&'a str),
    /// Nothing new; asked several times a second.
    Tick,
}

/// Is told how it goes; on `Break` the review is given up.
pub type Listener<'l> = dyn FnMut(Said<'_>) -> ControlFlow<()> + 'l;

/// How the report came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// This process ran the reviewer.
    Ran,
    /// Another process did; it was followed to its end.
    Followed,
    /// The round had been reviewed before.
    Before,
}

/// What a round came to.
#[derive(Debug)]
pub struct Report {
    /// How it came about.
    pub way: Way,
    /// The run.
    pub run: Run,
    /// How it ended.
    pub how: How,
    /// What was found; empty where there is no verdict.
    pub findings: Findings,
    /// The findings file; it exists where there is a verdict.
    pub path: Utf8PathBuf,
}

/// Reviews the round that a loop is in. Who comes second follows the run that is under way; a round that has its verdict
/// is not reviewed twice.
///
/// # Errors
/// See [`RoundError`]. That the reviewer failed is no error: the report says so.
pub fn run(
    raw: &Raw,
    spec: &ReviewSpec,
    brief: Brief<'_>,
    reviewer: &dyn Reviewer,
    listener: &mut Listener<'_>,
) -> Result<Report, RoundError> {
    let folder = (raw.store())
        .open_loop_folder(raw.id())
        .map_err(io_error("could not open the loop's folder"))?;
    let mut way = Way::Ran;
    loop {
        let held = RunLock::try_hold(&folder, |_| {
            if let Some(report) = before(raw, spec, if way == Way::Followed { way } else { Way::Before })? {
                return Ok(report);
            }
            if way == Way::Followed {
                return Err(RoundError::CutOff);
            }
            perform(raw, &folder, spec, brief, reviewer, listener)
        });
        match held.map_err(|error| RoundError::Store(error.into()))? {
            Some(done) => return done,
            None => {
                way = Way::Followed;
                follow(raw, listener)?;
            }
        }
    }
}

/// The report of a round that has its verdict, or, for a follower, of the run that just ended.
fn before(raw: &Raw, spec: &ReviewSpec, way: Way) -> Result<Option<Report>, RoundError> {
    let path = |round| twin::findings_path(raw.store(), raw.id(), round);
    if let Some((run, twin)) =
        evidence::verdict(raw, spec).map_err(io_error("could not read the earlier runs"))?
    {
        let how = run.ended.clone().unwrap_or(How::Clean {
            digest: run.began.subject.clone(),
        });
        return Ok(Some(Report {
            way,
            path: path(run.began.round),
            run,
            how,
            findings: twin.findings,
        }));
    }
    if way != Way::Followed {
        return Ok(None);
    }
    let journal = raw.store().journal(raw.id()).map_err(RoundError::Store)?;
    let round = raw.count(spec.round);
    let last = runs::read(&journal)
        .into_iter()
        .rfind(|run| run.began.round == round);
    Ok(last.and_then(|run| {
        let how = run.ended.clone()?;
        Some(Report {
            way,
            path: path(round),
            run,
            how,
            findings: Findings::default(),
        })
    }))
}

fn perform(
    raw: &Raw,
    folder: &Folder,
    spec: &ReviewSpec,
    brief: Brief<'_>,
    reviewer: &dyn Reviewer,
    listener: &mut Listener<'_>,
) -> Result<Report, RoundError> {
    let (store, id, round) = (raw.store(), raw.id(), raw.count(spec.round));
    // What a run left that was cut off: the run lock is ours, so nobody waits for it any more.
    store.end_orphans_held(id);
    // Who attaches while the run is made ready must not be shown the lines of the one before.
    let mut progress = Progress::begin(raw).map_err(io_error("could not write the progress file"))?;
    // One text for the whole run: what is noted, what lint reads and what a prompt carries cannot be two versions of a file.
    let (subject, compared) = match brief.make {
        Some(make) => {
            let changes = make().map_err(RoundError::Prepare)?;
            (changes.text, Some(changes.compared))
        }
        None => (read_subject(raw, spec)?, None),
    };
    let prompt = (brief.prompt)(&subject).map_err(RoundError::Prepare)?;

    let began = Began {
        run: new_run(round).map_err(io_error("could not name the run"))?,
        round,
        reviewer: reviewer.name().to_owned(),
        persona: brief.persona.to_owned(),
        subject: Digest::of(subject.as_bytes()),
        compared,
    };
    let mut work_tree = Look::before(store, reviewer);
    runs::began(store, id, &began).map_err(RoundError::Store)?;
    let mut stopped = listener(Said::Began {
        reviewer: reviewer.name(),
    })
    .is_break();

    let mut touched = Instant::now();
    let environment = brief.environment.clone().of_run(&run_mark(id, &began.run));
    let output = output_name(&began.run);
    let request = Request {
        prompt: &prompt,
        subject: &subject,
        subject_name: &raw.fill(spec.subject),
        kind: brief.kind,
        round: u32::try_from(round).unwrap_or(u32::MAX),
        focus: brief.focus,
        run: &began.run,
        root: store.root(),
        scratch: &store.scratch(),
        limits: brief.limits,
        environment: &environment,
        output: Some((folder, &output)),
    };
    if let Some(problem) = work_tree.problem.take() {
        progress.line(&problem);
        stopped |= listener(Said::Line(&problem)).is_break();
    }
    let again = reviewed_before(raw, &began);
    let mut watch = |event: Event<'_>| {
        if touched.elapsed() >= TOUCH {
            touched = Instant::now();
            // A sweep that comes too early is undone by `resume`; a review is not ended for a failed touch.
            let _ = store.touch(id);
        }
        let said = match event {
            Event::Line { text, .. } => match progress.tell(text) {
                Some(told) => listener(Said::Reviewer(told)),
                None => listener(Said::Tick),
            },
            Event::Tick => listener(Said::Tick),
        };
        stopped |= said.is_break();
        if stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let outcome = if again {
        reviewer.review_again(&request, &mut watch)
    } else {
        reviewer.review(&request, &mut watch)
    };
    if told_to_end(&outcome) {
        // A client whose user interrupts it tells all of the session's processes to end. That is no failure of the reviewer, though
        // the word may reach it before us.
        let until = Instant::now() + WORD;
        while !stopped && Instant::now() < until {
            stopped = listener(Said::Tick).is_break();
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let interrupted = stopped && matches!(outcome, Outcome::CouldNotRun(_));
    let changed = if interrupted {
        Vec::new()
    } else {
        work_tree.after()
    };
    let told = if changed.is_empty() {
        None
    } else {
        Some(look::while_it_ran(&changed))
    };
    for line in [work_tree.problem.take(), told].into_iter().flatten() {
        progress.line(&line);
        // The verdict is there: whoever wants to stop now has it recorded first.
        let _ = listener(Said::Line(&line));
    }

    let earlier = evidence::history(raw, spec).map_err(io_error("could not read the earlier rounds"))?;
    let write = |verdict: &str, findings: &Findings| {
        let twin = Twin {
            version: 1,
            loop_id: id.to_string(),
            run: began.run.clone(),
            round,
            reviewer: began.reviewer.clone(),
            persona: began.persona.clone(),
            subject: began.subject.clone(),
            verdict: verdict.to_owned(),
            findings: findings.clone(),
            changed: changed.clone(),
        };
        twin.write(store, id)
            .map_err(io_error("could not write the findings"))
    };
    let (how, findings) = match outcome {
        Outcome::Clean => (
            How::Clean {
                digest: write("clean", &Findings::default())?,
            },
            Findings::default(),
        ),
        Outcome::Findings(mut findings) => {
            track::name(&earlier, &mut findings);
            let digest = write("findings", &findings)?;
            (How::Findings { digest }, findings)
        }
        Outcome::CouldNotRun(_) if interrupted => return Err(RoundError::Interrupted),
        Outcome::CouldNotRun(cause) => (How::CouldNotRun { cause }, Findings::default()),
        Outcome::Unreadable(cause) => (How::Unreadable { cause }, Findings::default()),
    };
    let ended = Ended {
        run: began.run.clone(),
        how,
        changed: changed.clone(),
    };
    runs::ended(store, id, &ended).map_err(RoundError::Store)?;
    let run = Run {
        at: String::new(),
        ended: Some(ended.how.clone()),
        changed: ended.changed.clone(),
        counted: false,
        began,
    };
    Ok(Report {
        way: Way::Ran,
        path: twin::findings_path(store, id, round),
        run,
        how: ended.how,
        findings,
    })
}

/// Reads the subject, unless it lies outside of the project's root and the state folder: with a model as reviewer its text
/// would leave this machine.
fn read_subject(raw: &Raw, spec: &ReviewSpec) -> Result<String, RoundError> {
    let path = raw.path(spec.subject);
    let io = |source: io::Error| match (source.kind(), UntrustedError::of(&source)) {
        (_, Some(UntrustedError { path, why })) => RoundError::Store(StoreError::Untrusted {
            path: path.clone(),
            why: *why,
        }),
        (io::ErrorKind::NotFound, _) => RoundError::NoSubject { path: path.clone() },
        _ => RoundError::Io {
            what: format!("could not read {}", crate::text::shown(&path)),
            source,
        },
    };
    let (folder, name) = raw.folder_of(spec.subject).map_err(io)?;
    let store = raw.store();
    if !folder.path().starts_with(raw.root()) && !folder.path().starts_with(store.folder()) {
        return Err(RoundError::Outside {
            path,
            root: store.root().to_owned(),
        });
    }
    let bytes = folder.read(&name, MOST).map_err(io)?;
    String::from_utf8(bytes).map_err(|_| RoundError::NotText { path: path.clone() })
}

/// The file in which what a reviewer's process wrote is kept.
pub fn output_path(store: &Store, id: &LoopId, run: &str) -> Utf8PathBuf {
    store.loop_folder(id).join(output_name(run))
}

fn output_name(run: &str) -> String {
    format!("output-{run}.txt")
}

/// Whether a signal that asks a program to end (HUP, INT, TERM) ended the reviewer, and not one of ours; a client that takes it
/// well exits as a shell tells such an end.
fn told_to_end(outcome: &Outcome) -> bool {
    let Outcome::CouldNotRun(cause) = outcome else {
        return false;
    };
    match cause.kind {
        CauseKind::Crashed { signal } => [1, 2, 15].contains(&signal),
        CauseKind::Failed { status } => [1, 2, 15].contains(&(status - 128)),
        _ => false,
    }
}

/// Whether this reviewer gave a verdict on the very same bytes in an earlier round, for another persona. What the same
/// persona found on them it is to find again: findings are followed from round to round by that.
fn reviewed_before(raw: &Raw, began: &Began) -> bool {
    let Ok(journal) = raw.store().journal(raw.id()) else {
        return false;
    };
    let runs = runs::read(&journal);
    let mut same = runs
        .iter()
        .filter(|run| {
            run.began.round < began.round
                && run.began.reviewer == began.reviewer
                && run.began.subject == began.subject
                && run.ended.as_ref().is_some_and(|how| how.digest().is_some())
        })
        .peekable();
    let own =
        |run: &Run| run.began.persona == began.persona && matches!(run.ended, Some(How::Findings { .. }));
    same.peek().is_some() && !same.any(own)
}

fn new_run(round: u64) -> io::Result<String> {
    let mut random = [0_u8; 4];
    getrandom::fill(&mut random).map_err(io::Error::other)?;
    Ok(format!("r{round}-{:08x}", u32::from_be_bytes(random)))
}
