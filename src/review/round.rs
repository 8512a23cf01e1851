//! One round: take the run lock or follow who has it, ask the reviewer, put the findings and the evidence on disk.
//!
//! A review changes no field of the loop: it writes the findings, their JSON twin, and two notes in the journal. The next
//! stop looks at them. So a review that is cut off at any point leaves a loop that the same command takes up again.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};
use fs_err as fs;

use crate::machine::Raw;
use crate::review::environment::Environment;
use crate::review::evidence;
use crate::review::findings::Findings;
use crate::review::focus::{Focus, Kind};
use crate::review::limits::Limits;
use crate::review::look::{self, Look};
use crate::review::process::strays;
use crate::review::reviewer::{Event, Outcome, Request, Reviewer};
use crate::review::runs::{self, Began, Ended, How, Run};
use crate::review::track;
use crate::review::twin::{self, Twin};
use crate::review::{Digest, ReviewSpec};
use crate::store::{LoopId, RunLock, Store, StoreError};
use crate::text;

/// How often someone who follows a run looks for new lines.
const FOLLOW: Duration = Duration::from_millis(100);
/// How often a running review tells the sweep that its loop is alive.
const TOUCH: Duration = Duration::from_secs(10);

/// Makes a run ready and gives its prompt.
pub type Prepare<'p> = dyn Fn() -> Result<String, Box<dyn miette::Diagnostic + Send + Sync>> + 'p;

/// What a round is asked with.
#[derive(Clone, Copy)]
pub struct Brief<'a> {
    /// The persona's label, for records.
    pub persona: &'a str,
    /// The persona's point of view.
    pub focus: Focus,
    /// What kind of text is reviewed.
    pub kind: Kind,
    /// Called under the run lock, right before a new run: writes what the run reads, and gives the whole text for a model.
    pub prepare: &'a Prepare<'a>,
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

/// Why a round could not even be begun or recorded.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum RoundError {
    /// The run could not be made ready.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Prepare(#[error(not(source))] Box<dyn miette::Diagnostic + Send + Sync>),
    /// The file under review is a link that leads out of the project.
    #[display("{path} leads out of {root}: a reviewer would be shown a file that is not the project's")]
    #[diagnostic(
        code(claudex::round::outside),
        help("put the file itself there, then run the review again")
    )]
    Outside {
        /// The file.
        path: Utf8PathBuf,
        /// The project's root.
        root: Utf8PathBuf,
    },
    /// The file under review is not there.
    #[display("{path} is not there to be reviewed")]
    #[diagnostic(code(claudex::round::subject), help("write it, then run the review again"))]
    NoSubject {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The file under review is no text.
    #[display("{path} is not UTF-8 text")]
    #[diagnostic(
        code(claudex::round::text),
        help("save it as UTF-8, then run the review again")
    )]
    NotText {
        /// The file.
        path: Utf8PathBuf,
    },
    /// The review that was followed ended without leaving how.
    #[display("the review that was running was cut off before it ended")]
    #[diagnostic(code(claudex::round::cut_off), help("run the same command again"))]
    CutOff,
    /// Whoever watched gave up.
    #[display("the review was interrupted")]
    #[diagnostic(
        code(claudex::round::interrupted),
        help("run the same command again: it takes the review up")
    )]
    Interrupted,
    /// The system refused.
    #[display("{what}: {source}")]
    #[diagnostic(code(claudex::round::io))]
    Io {
        /// What was being done.
        what: String,
        /// What the system says.
        source: io::Error,
    },
    /// The journal could not be written.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    Store(StoreError),
}

fn io_error(what: impl Into<String>) -> impl FnOnce(io::Error) -> RoundError {
    let what = what.into();
    move |source| RoundError::Io { what, source }
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
    let (store, id) = (raw.store(), raw.id());
    let lock = store.run_lock_path(id);
    let mut way = Way::Ran;
    loop {
        let held = RunLock::try_hold(&lock, |_| {
            if let Some(report) = before(raw, spec, if way == Way::Followed { way } else { Way::Before })? {
                return Ok(report);
            }
            if way == Way::Followed {
                return Err(RoundError::CutOff);
            }
            perform(raw, spec, brief, reviewer, listener)
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
    spec: &ReviewSpec,
    brief: Brief<'_>,
    reviewer: &dyn Reviewer,
    listener: &mut Listener<'_>,
) -> Result<Report, RoundError> {
    let (store, id, round) = (raw.store(), raw.id(), raw.count(spec.round));
    end_what_was_left(raw)?;
    // Who attaches while the run is made ready must not be shown the lines of the one before.
    let mut progress = Progress::begin(raw).map_err(io_error("could not write the progress file"))?;
    let prompt = (brief.prepare)().map_err(RoundError::Prepare)?;
    let file = raw.path(spec.subject);
    inside(store, &file)?;
    let bytes = crate::store::read(&file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => RoundError::NoSubject { path: file.clone() },
        _ => RoundError::Io {
            what: format!("could not read {file}"),
            source: error,
        },
    })?;
    let digest = Digest::of(&bytes);
    let subject = String::from_utf8(bytes).map_err(|_| RoundError::NotText { path: file.clone() })?;

    let began = Began {
        run: new_run(round).map_err(io_error("could not name the run"))?,
        round,
        reviewer: reviewer.name().to_owned(),
        persona: brief.persona.to_owned(),
        subject: digest,
    };
    let mut work_tree = Look::before(store, reviewer);
    runs::began(store, id, &began).map_err(RoundError::Store)?;
    let mut stopped = listener(Said::Began {
        reviewer: reviewer.name(),
    })
    .is_break();

    let mut touched = Instant::now();
    let environment = brief.environment.clone().of_run(&mark(raw, &began.run));
    let output = output_path(store, id, &began.run);
    let request = Request {
        prompt: &prompt,
        subject: &subject,
        subject_name: &raw.fill(spec.subject),
        kind: brief.kind,
        round: u32::try_from(round).unwrap_or(u32::MAX),
        focus: brief.focus,
        run: &began.run,
        root: store.root(),
        limits: brief.limits,
        environment: &environment,
        output: Some(&output),
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
                Some(told) => listener(Said::Line(told)),
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

/// Refuses a subject that a link leads out of the project's root and the state folder: with a model as reviewer its text
/// would leave this machine.
fn inside(store: &Store, file: &Utf8Path) -> Result<(), RoundError> {
    let Ok(real) = file.canonicalize_utf8() else {
        // What is missing or unreadable is told by the read that follows.
        return Ok(());
    };
    let within = |folder: &Utf8Path| {
        folder
            .canonicalize_utf8()
            .is_ok_and(|folder| real.starts_with(folder))
    };
    if within(store.root()) || within(store.folder()) {
        return Ok(());
    }
    Err(RoundError::Outside {
        path: file.to_owned(),
        root: store.root().to_owned(),
    })
}

/// The file in which what a reviewer's process wrote is kept.
pub fn output_path(store: &Store, id: &LoopId, run: &str) -> Utf8PathBuf {
    store.loop_folder(id).join(format!("output-{run}.txt"))
}

/// What the processes of a run are known by: no other run of any loop has it.
fn mark(raw: &Raw, run: &str) -> String {
    format!("{}/{run}", raw.id())
}

/// Ends what a run left running that was cut off: the run lock is ours, so nobody waits for it any more.
fn end_what_was_left(raw: &Raw) -> Result<(), RoundError> {
    let journal = raw.store().journal(raw.id()).map_err(RoundError::Store)?;
    if let Some(last) = runs::read(&journal).last()
        && last.ended.is_none()
    {
        strays::end(&mark(raw, &last.began.run));
    }
    Ok(())
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

/// Most bytes of lines that a run tells, altogether: a reviewer that floods its stderr fills no disk and no client.
const TOLD: usize = 1024 * 1024;
/// What is told instead of the rest.
const MORE: &str = "the reviewer says more than is shown";

/// The lines of the run under way, for whoever attaches to it.
struct Progress {
    file: fs::File,
    /// How many bytes may still come; None: it has been said that more come.
    left: Option<usize>,
}

impl Progress {
    fn path(raw: &Raw) -> Utf8PathBuf {
        raw.store().loop_folder(raw.id()).join("progress.log")
    }

    fn begin(raw: &Raw) -> io::Result<Self> {
        let file = fs::File::create(Self::path(raw))?;
        Ok(Self {
            file,
            left: Some(TOLD),
        })
    }

    /// A line that cannot be written is lost to followers, and to nobody else.
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.file, "{}", text::one_line(text, 500));
    }

    /// A line of the reviewer's: gives what of it is told, nothing once there was too much.
    fn tell<'t>(&mut self, text: &'t str) -> Option<&'t str> {
        let left = self.left?;
        self.left = left.checked_sub(text.len() + 1);
        let told = if self.left.is_some() { text } else { MORE };
        self.line(told);
        Some(told)
    }
}

/// Shows the last lines of the newest run, at most `lines`, and follows it to its end where it is running. Starts nothing;
/// says whether a run was under way, which the listener was told of then.
///
/// # Errors
/// The listener gave up.
pub fn watch(raw: &Raw, lines: usize, listener: &mut Listener<'_>) -> Result<bool, RoundError> {
    // Asked first: of a run that begins after this, nothing is promised.
    let running = raw.store().is_running(raw.id());
    let mut reader = fs::File::open(Progress::path(raw)).ok().map(BufReader::new);
    let from = reader.as_mut().map_or(0, |open| last_lines(open, lines));
    if let Some(open) = reader.as_mut() {
        let _ = open.seek(io::SeekFrom::Start(from));
    }
    if running {
        return tail(raw, reader, listener).map(|()| true);
    }
    let shown = reader
        .into_iter()
        .flat_map(|open| open.lines().map_while(Result::ok));
    for line in shown {
        if listener(Said::Line(&line)).is_break() {
            return Err(RoundError::Interrupted);
        }
    }
    Ok(false)
}

/// Where the last `lines` lines of a file begin.
fn last_lines(file: &mut impl BufRead, lines: usize) -> u64 {
    let mut begins = VecDeque::from([0]);
    let mut at = 0;
    let mut line = Vec::new();
    while file.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
        at += line.len() as u64;
        line.clear();
        begins.push_back(at);
        if begins.len() > lines + 1 {
            begins.pop_front();
        }
    }
    begins.front().copied().unwrap_or_default()
}

/// Passes on the lines of a run that another process performs, until it ends.
fn follow(raw: &Raw, listener: &mut Listener<'_>) -> Result<(), RoundError> {
    tail(
        raw,
        fs::File::open(Progress::path(raw)).ok().map(BufReader::new),
        listener,
    )
}

/// The same, from where a reader stands.
fn tail(
    raw: &Raw,
    mut reader: Option<BufReader<fs::File>>,
    listener: &mut Listener<'_>,
) -> Result<(), RoundError> {
    if listener(Said::Attached).is_break() {
        return Err(RoundError::Interrupted);
    }
    let mut line = String::new();
    loop {
        let over = !raw.store().is_running(raw.id());
        if reader.is_none() {
            reader = fs::File::open(Progress::path(raw)).ok().map(BufReader::new);
        }
        if let Some(open) = reader.as_mut() {
            loop {
                let at = open.stream_position().unwrap_or_default();
                match open.read_line(&mut line) {
                    Ok(read) if read > 0 && line.ends_with('\n') => {
                        if listener(Said::Line(line.trim_end())).is_break() {
                            return Err(RoundError::Interrupted);
                        }
                        line.clear();
                    }
                    _ => {
                        // Half a line is read again once it is whole.
                        line.clear();
                        let _ = open.seek(io::SeekFrom::Start(at));
                        break;
                    }
                }
            }
        }
        if over {
            return Ok(());
        }
        if listener(Said::Tick).is_break() {
            return Err(RoundError::Interrupted);
        }
        thread::sleep(FOLLOW);
    }
}
