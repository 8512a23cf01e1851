//! One round: take the run lock or follow who has it, ask the reviewer, put the findings and the evidence on disk.
//!
//! A review changes no field of the loop: it writes the findings, their findings JSON, and two notes in the journal. The next
//! stop looks at them. So a review that is cut off at any point leaves a loop that the same command takes up again.

mod error;
mod listener;
mod progress;

use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;

use self::error::io_error;
use self::progress::{Progress, follow};
use crate::digest::random_hex;
use crate::files::{Folder, UntrustedError};
use crate::machine::Raw;
use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::review::Kind;
use crate::review::cause::CauseKind;
use crate::review::changes::{self, Changes, base};
use crate::review::copy;
use crate::review::evidence;
use crate::review::finding_history;
use crate::review::findings::Findings;
use crate::review::findings_json::{self, FindingsJson};
use crate::review::opened::Opened;
use crate::review::prompt::Prompt;
use crate::review::reviewer::{Cause, Event, Outcome, Request, Reviewer};
use crate::review::runs::{self, FindingsFile, Run, RunBegin, RunEnd, RunOutcome};
use crate::review::scratch::Place;
use crate::review::subject::{self, Part};
use crate::review::worktree::CHANGED_DURING_REVIEW;
use crate::review::{Digest, ReviewSpec, findings_file, numbered, reports};
use crate::store::{LoopId, RunLock, Store, StoreError};
use crate::text;

pub use self::error::RoundError;
pub use self::listener::{Listener, RoundEvent};
pub use self::progress::watch;

/// How often a running review tells the sweep that its loop is alive.
const TOUCH: Duration = Duration::from_secs(10);

/// How long after a reviewer was told to end from outside the same word may reach us.
const INTERRUPT_GRACE: Duration = Duration::from_millis(500);

/// The name of the file that keeps the prompt of the newest run for people, after the loop's id.
const PROMPT_FILE: &str = "-prompt.txt";

/// Says what a round is asked with.
#[derive(Debug)]
pub struct Brief<'a> {
    /// Which round of which loop, who reviews, and what: a document is the subject's file; changes are those of the work tree,
    /// taken for each run and left where the subject lies.
    pub prompt: Prompt<'a>,
    /// How long it may take.
    pub limits: Limits,
    /// What a reviewer's process sees of our environment.
    pub environment: &'a Environment,
}

/// How the report came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportSource {
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
    pub way: ReportSource,
    /// The run.
    pub run: Run,
    /// How it ended.
    pub how: RunOutcome,
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
    brief: &Brief<'_>,
    reviewer: &dyn Reviewer,
    listener: &mut Listener<'_>,
) -> Result<Report, RoundError> {
    let (raw, spec) = (brief.prompt.raw, brief.prompt.spec);
    let folder = (raw.store())
        .open_loop_folder(raw.id())
        .map_err(io_error("could not open the loop's folder"))?;
    let mut way = ReportSource::Ran;
    loop {
        let lock = RunLock::try_take(&folder);
        let Some(_lock) = lock.map_err(RoundError::Store)? else {
            way = ReportSource::Followed;
            follow(raw, listener)?;
            continue;
        };
        let source = match way {
            ReportSource::Followed => way,
            _ => ReportSource::Before,
        };
        if let Some(report) = before(raw, spec, source)? {
            return Ok(report);
        }
        if way == ReportSource::Followed {
            return Err(RoundError::CutOff);
        }
        return perform(&folder, brief, reviewer, listener);
    }
}

/// Returns the report of a round that has its verdict, or, for a follower, of the run that just ended.
fn before(raw: &Raw, spec: &ReviewSpec, way: ReportSource) -> Result<Option<Report>, RoundError> {
    let path = |run: &Run| run.findings_path(raw.store(), raw.id());
    if let Some((run, findings_json)) =
        evidence::verdict(raw, spec).map_err(io_error("could not read the earlier runs"))?
    {
        let how = run.ended.clone().unwrap_or(RunOutcome::Clean {
            digest: run.began.subject.clone(),
        });
        return Ok(Some(Report {
            way,
            path: path(&run),
            run,
            how,
            findings: findings_json.findings,
        }));
    }
    if way != ReportSource::Followed {
        return Ok(None);
    }
    let journal = raw.recent().map_err(RoundError::Store)?;
    let round = raw.count(spec.round);
    let last = runs::read(&journal)
        .into_iter()
        .rfind(|run| run.is_of(raw, round));
    Ok(last.and_then(|run| {
        let how = run.ended.clone()?;
        Some(Report {
            way,
            path: path(&run),
            run,
            how,
            findings: Findings::default(),
        })
    }))
}

fn perform(
    folder: &Folder,
    brief: &Brief<'_>,
    reviewer: &dyn Reviewer,
    listener: &mut Listener<'_>,
) -> Result<Report, RoundError> {
    let prompt = &brief.prompt;
    let (raw, spec, persona) = (prompt.raw, prompt.spec, prompt.persona);
    let (store, id, round) = (raw.store(), raw.id(), raw.count(spec.round));
    // Who attaches while the run is made ready must not be shown the lines of the one before.
    let mut progress =
        Progress::begin(raw).map_err(io_error("could not write the progress file"))?;
    // One text for the whole run: what is noted, what lint reads and what a prompt carries cannot be two versions of a file.
    let (parts, changes) = read(raw, spec)?;
    let tree = match changes {
        Some(changes) => {
            leave_copy(raw, &changes.text)?;
            Some(changes.snapshot.tree().to_owned())
        }
        None if reviewer.runs_a_program() => copy::tree_id(store, None),
        None => None,
    };
    let subject = subject::text_of(&parts);
    let plain = text::plain(&subject);
    let portions = prompt.portions(&plain, reviewer);
    let portions = portions.map_err(RoundError::Prompt)?;
    // For people only: a review is not given up because its prompt cannot be kept.
    let _ = store.write_beside(id, PROMPT_FILE, portions.prompts().as_bytes());

    let began = RunBegin {
        run: new_run(round).map_err(io_error("could not name the run"))?,
        round,
        visit: raw.record().visit(),
        reviewer: reviewer.name().to_owned(),
        persona: persona.label.clone(),
        subject: Digest::of(subject.as_bytes()),
        tree,
    };
    // For people only, too.
    let _ = subject::keep(raw, spec, &began, &subject);
    runs::began(store, id, &began).map_err(RoundError::Store)?;
    let begin = Timestamp::now();
    let mut stopped = listener(RoundEvent::Began {
        reviewer: reviewer.name(),
    })
    .is_break();

    let mut touched = Instant::now();
    let output = output_name(&began.run);
    let opened = Opened::default();
    let request = Request {
        prompt: "",
        subject: &subject,
        parts: &parts,
        subject_name: &subject::shown(raw, spec),
        opened: &opened,
        repaired: &Cell::new(false),
        round: u32::try_from(round).unwrap_or(u32::MAX),
        focus: persona.focus,
        run: &began.run,
        root: store.root(),
        scratch: &Place::in_store(store),
        limits: brief.limits,
        environment: brief.environment,
        output: Some((folder, &output)),
    };
    let mut watch = |event: Event<'_>| {
        if touched.elapsed() >= TOUCH {
            touched = Instant::now();
            // A sweep that comes too early is undone by `resume`; a review is not ended for a failed touch.
            let _ = store.touch(id);
        }
        let said = match event {
            Event::Line { text, .. } => match progress.tell(text) {
                Some(told) => listener(RoundEvent::Reviewer(told)),
                None => listener(RoundEvent::Tick),
            },
            Event::Tick => listener(RoundEvent::Tick),
        };
        stopped |= said.is_break();
        if stopped {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let outcome = portions.review(&request, &mut |request| {
        reviewer.review(request, &mut watch)
    });
    let outcome = match opened.missed(&parts) {
        // A verdict on what was neither shown nor read is none.
        true if !portions.are_shown() && outcome.cause().is_none() => {
            let detail = format!("it was given without opening {}", subject::shown(raw, spec));
            Outcome::Unreadable(Cause::new(CauseKind::NotAVerdict, &detail))
        }
        _ => outcome,
    };
    let outcome = match outcome {
        Outcome::Clean if !prompt.failed.is_empty() => {
            Outcome::Findings(Findings(prompt.failed.clone()))
        }
        Outcome::Findings(mut findings) => {
            findings.0.extend(prompt.failed.iter().cloned());
            Outcome::Findings(findings)
        }
        outcome => outcome,
    };
    if told_to_end(&outcome) {
        // A client whose user interrupts it tells all of the session's processes to end. That is no failure of the reviewer, though
        // the word may reach it before us.
        let until = Instant::now() + INTERRUPT_GRACE;
        while !stopped && Instant::now() < until {
            stopped = listener(RoundEvent::Tick).is_break();
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let interrupted = stopped && matches!(outcome, Outcome::CouldNotRun(_));
    let work_tree_changed = began.tree.is_some()
        && reviewer.runs_a_program()
        && !interrupted
        && copy::tree_id(store, None).is_some_and(|now| Some(now) != began.tree);
    if work_tree_changed {
        progress.line(CHANGED_DURING_REVIEW);
        // The verdict is there: whoever wants to stop now has it recorded first.
        let _ = listener(RoundEvent::Line(CHANGED_DURING_REVIEW));
    }

    let earlier =
        evidence::history(raw, spec).map_err(io_error("could not read the earlier rounds"))?;
    let runs = runs::read(&raw.journal().map_err(RoundError::Store)?);
    let last = runs.iter().rfind(|run| {
        run.began.round == round && run.ended.as_ref().is_some_and(|how| how.digest().is_some())
    });
    let mut file = None;
    let mut write = |verdict: &str, findings: &Findings| {
        let unwritten = io_error("could not write the findings");
        if !spec.findings_file.is_empty() {
            let words =
                spec.verdicts
                    .map(|(clean, not)| match evidence::blocking(spec, findings) {
                        0 => clean,
                        _ => not,
                    });
            let text = findings_file::render_numbered(findings, words);
            let written = numbered::write(raw, spec.findings_file, &text);
            let (number, path) = written.map_err(&unwritten)?;
            file = Some(FindingsFile { number, path });
        }
        if let Some(last) = last {
            findings_json::keep(store, id, last).map_err(&unwritten)?;
        }
        let findings_json = FindingsJson {
            version: 1,
            loop_id: id.to_string(),
            run: began.run.clone(),
            round,
            reviewer: began.reviewer.clone(),
            persona: began.persona.clone(),
            subject: began.subject.clone(),
            verdict: verdict.to_owned(),
            findings: findings.clone(),
        };
        findings_json.write(store, id).map_err(unwritten)
    };
    let (how, findings) = match outcome {
        Outcome::Clean => (
            RunOutcome::Clean {
                digest: write("clean", &Findings::default())?,
            },
            Findings::default(),
        ),
        Outcome::Findings(mut findings) => {
            let document = match &parts[..] {
                [part] if part.kind == Kind::Document => part.text.as_str(),
                _ => "",
            };
            finding_history::name(&earlier, &mut findings, &persona.label, document);
            let digest = write("findings", &findings)?;
            (RunOutcome::Findings { digest }, findings)
        }
        Outcome::CouldNotRun(_) if interrupted => return Err(RoundError::Interrupted),
        Outcome::CouldNotRun(cause) => (RunOutcome::CouldNotRun { cause }, Findings::default()),
        Outcome::Unreadable(cause) => (RunOutcome::Unreadable { cause }, Findings::default()),
    };
    let ended = RunEnd {
        run: began.run.clone(),
        how,
        work_tree_changed,
        opened: opened.into_list(),
        findings: file,
    };
    runs::ended(store, id, &ended).map_err(RoundError::Store)?;
    let run = Run {
        begin,
        end: Some(Timestamp::now()),
        ended: Some(ended.how.clone()),
        work_tree_changed,
        findings: ended.findings,
        counted: false,
        began,
    };
    Ok(Report {
        way: ReportSource::Ran,
        path: run.findings_path(store, id),
        run,
        how: ended.how,
        findings,
    })
}

/// Reads what is reviewed as it is now; returns it with the work tree's changes, where they are in it.
///
/// # Errors
/// What is missing, cannot be read, or is no text.
pub fn read(raw: &Raw, spec: &ReviewSpec) -> Result<(Vec<Part>, Option<Changes>), RoundError> {
    let changes = match subject::has_changes(raw, spec) {
        true => {
            let (store, since) = (raw.store(), raw.fill(spec.since));
            let ours = reports::ours(store, store.root());
            let changes = changes::collect(store.root(), ours, |snapshot| match &*since {
                "" => base::find(snapshot),
                commit => base::of_commit(snapshot, commit),
            });
            Some(changes.map_err(RoundError::Changes)?)
        }
        false => None,
    };
    let parts = read_subject(raw, spec, changes.as_ref().map(|found| found.text.as_str()))?;
    Ok((parts, changes))
}

/// Leaves a copy of the changes in the loop's folder: what a stop compares, and a person reads, is what was reviewed.
fn leave_copy(raw: &Raw, changes: &str) -> Result<(), RoundError> {
    let path = subject::copy_in(raw);
    let left = raw.store().replace(&path, changes.as_bytes());
    left.map_err(|source| RoundError::Copy { path, source })
}

/// Reads the subject, unless it lies outside of the project's root and the state folder: with a model as reviewer its text
/// would leave this machine.
fn read_subject(
    raw: &Raw,
    spec: &ReviewSpec,
    changes: Option<&str>,
) -> Result<Vec<Part>, RoundError> {
    let (root, store) = (raw.root(), raw.store());
    let files = subject::files(raw, spec, changes);
    let files = files.map_err(|source| unread(source, &subject::shown(raw, spec)))?;
    if files.is_empty() {
        return Err(RoundError::NoSubject {
            path: subject::first(raw, spec),
        });
    }
    let copy = subject::copy_in(raw);
    let part = |(path, bytes): (Utf8PathBuf, Vec<u8>)| {
        if !path.starts_with(&root) && !path.starts_with(store.folder()) {
            let root = store.root().to_owned();
            return Err(RoundError::Outside { path, root });
        }
        let kind = if path == copy {
            Kind::Diff
        } else {
            Kind::Document
        };
        part_of(&root, path, bytes, kind)
    };
    files.into_iter().map(part).collect()
}

/// Says why a file, shown like this, cannot be read.
pub(super) fn unread(source: io::Error, shown: &str) -> RoundError {
    let untrusted = UntrustedError::of(&source).map(|error| error.path.clone());
    match untrusted {
        Some(path) => RoundError::Store(StoreError::Io {
            doing: "read",
            path,
            source,
        }),
        None => RoundError::Io {
            what: format!("could not read {shown}"),
            source,
        },
    }
}

/// Makes a part of a subject of what a file below the root holds.
pub(super) fn part_of(
    root: &Utf8Path,
    path: Utf8PathBuf,
    bytes: Vec<u8>,
    kind: Kind,
) -> Result<Part, RoundError> {
    let Ok(text) = String::from_utf8(bytes) else {
        return Err(RoundError::NotText { path });
    };
    let name = subject::name_of(root, &path).to_owned();
    Ok(Part { name, kind, text })
}

/// Returns the file in which what a reviewer's process wrote is kept.
pub fn output_path(store: &Store, id: &LoopId, run: &str) -> Utf8PathBuf {
    store.loop_folder(id).join(output_name(run))
}

fn output_name(run: &str) -> String {
    format!("output-{run}.txt")
}

/// Returns whether a signal that asks a program to end (HUP, INT, TERM) ended the reviewer, and not one of ours; a client that
/// takes it well exits as a shell tells such an end.
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

pub(super) fn new_run(round: u64) -> io::Result<String> {
    Ok(format!("r{round}-{}", random_hex::<4>()?))
}
