//! A program that is killed (`SIGKILL`) at any system call that changes a file leaves a loop that goes on, as if the call had not begun or
//! had ended: nothing is set aside, the journal holds, and the same call then does what is left to do.
//!
//! Where there is no `strace` that works, the kills are aimed at moments spread over the call instead.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::project::{Output, Project, feed};
use crate::report::Report;
use crate::runs::{Call, Journal, Loop};
use crate::search::{Act, Step, Way};

/// The system calls that change files.
const CALLS: &str = "open,openat,creat,write,pwrite64,writev,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,\
                     symlink,symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat,fsync,fdatasync,utimensat,copy_file_range";
/// How many moments are aimed at where system calls cannot be.
const MOMENTS: u32 = 24;

/// Where a program is killed.
#[derive(Debug, Clone)]
enum Kill {
    /// At the call of this name and number.
    At(String, usize),
    /// After so long.
    After(Duration),
}

impl fmt::Display for Kill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kill::At(name, number) => write!(f, "killed at {name} number {number}"),
            Kill::After(moment) => write!(f, "killed after {moment:?}"),
        }
    }
}

/// Kills a start, a stop and a verb; in the whole set one call for each transition, and a review.
pub(crate) fn run(setup: &Setup, ways: &[Way], report: &mut Report, failures: &mut Vec<Failure>) {
    let mut seen = HashSet::new();
    let mut jobs: Vec<(&Way, Option<usize>)> = ways.last().map(|way| (way, None)).into_iter().collect();
    let edges = setup.machine.edges();
    // The shortest ways come last.
    for way in ways.iter().rev() {
        for (at, step) in way
            .steps
            .iter()
            .enumerate()
            .filter(|(at, _)| !waits(&way.steps[..=*at]))
        {
            let kind = match (&step.act, step.edge) {
                // It takes longer than all others together.
                (Act::Review(_), _) if setup.given.whole => "a review",
                (_, None) => continue,
                (_, Some(edge)) if setup.given.whole => &edges[edge].declared.name.value,
                (Act::Verb { .. }, _) => "a verb",
                _ => "a stop",
            };
            if seen.insert(kind) {
                jobs.push((way, Some(at)));
            }
        }
    }
    let traced = is_traced();
    let (next, kills) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let broken = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some((way, at)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ran = match at {
                        Some(at) => killed(setup, way, *at, traced, &kills),
                        None => killed_start(setup, way, traced, &kills),
                    };
                    if let (Err(failure), Ok(mut broken)) = (ran, broken.lock()) {
                        broken.push(failure);
                    }
                }
            });
        }
    });
    failures.extend(broken.into_inner().unwrap_or_default());
    let (kills, how) = (
        kills.into_inner(),
        if traced {
            "system calls that change files"
        } else {
            "moments"
        },
    );
    report.tried.push((
        Suite::Kills,
        format!("{} calls were killed at {kills} {how}", jobs.len()),
    ));
    if !traced {
        report.left_out.push((
            Suite::Kills,
            "every system call: `strace` is not installed, or may not trace".to_owned(),
        ));
    }
}

fn waits(steps: &[Step]) -> bool {
    let is_wait = |step: &Step| match &step.act {
        Act::Wait(_) => true,
        Act::Stop(outcome) => outcome == "running",
        _ => false,
    };
    steps.iter().any(is_wait)
}

fn is_traced() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-qq", "-e", "trace=write", "-o", "/dev/null", "true"]);
    let ran = strace.stdout(Stdio::null()).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
}

/// Kills a start wherever it can be: then the loop is there, or can be started.
fn killed_start(setup: &Setup, way: &Way, traced: bool, count: &AtomicUsize) -> Result<(), Failure> {
    let mut held = Loop::ready(setup, way)?;
    let (line, by) = held.start_line(way, "kit_1");
    let call = Call::of(by, line);
    let system = |held: &Loop<'_>, error: io::Error| fail(held, error.to_string());
    held.project.keep().map_err(|error| system(&held, error))?;
    for kill in kills(&held.project, &call, traced).map_err(|error| system(&held, error))? {
        held.project.restore().map_err(|error| system(&held, error))?;
        held.path = vec![format!("{} {kill}", call.arguments.join(" "))];
        die(&held.project, &call, &kill).map_err(|error| system(&held, error))?;
        let said = call.make(&held.project).map_err(|error| system(&held, error))?;
        let shown = held
            .project
            .person(&["status", "--json"])
            .map_err(|error| system(&held, error))?;
        let shown: Json = serde_json::from_str(&shown.out).unwrap_or_default();
        let phase = &setup.machine.phases[way.begin.phase].name.value;
        if shown["loops"][0]["phase"] != **phase {
            return Err(fail(
                &held,
                format!("neither is the loop there nor does it start: {}", said.short()),
            ));
        }
        count.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// Takes a way up to a step, and kills that step wherever it can be.
fn killed(setup: &Setup, way: &Way, at: usize, traced: bool, count: &AtomicUsize) -> Result<(), Failure> {
    let mut held = Loop::begin(setup, way)?;
    for step in &way.steps[..at] {
        held.step(step)?;
    }
    let step = &way.steps[at];
    held.path.push(setup.step_text(step));
    let system = |held: &Loop<'_>, error: io::Error| fail(held, error.to_string());
    let before = held.journal().map_err(|error| system(&held, error))?;
    let call = held
        .prepare(&step.act, &before.fields())
        .map_err(|error| system(&held, error))?;
    held.project.keep().map_err(|error| system(&held, error))?;
    let kills = kills(&held.project, &call, traced);
    let (begun, path) = (held.state.clone(), held.path.clone());
    for kill in kills.map_err(|error| system(&held, error))? {
        held.project.restore().map_err(|error| system(&held, error))?;
        held.state = begun.clone();
        held.path.clone_from(&path);
        held.path.push(kill.to_string());
        die(&held.project, &call, &kill).map_err(|error| system(&held, error))?;
        goes_on(&mut held, step, &before, &call)?;
        count.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// The loop is as it was, or as it was to become; and goes on.
fn goes_on(held: &mut Loop<'_>, step: &Step, before: &Journal, call: &Call) -> Result<(), Failure> {
    let system = |held: &Loop<'_>, error: io::Error| fail(held, error.to_string());
    // Whoever looks first repairs; what was repaired is said.
    let looked = held
        .project
        .person(&["status", &held.id, "--json"])
        .map_err(|error| system(held, error))?;
    let shown: Json = serde_json::from_str(&looked.out).unwrap_or_default();
    if shown["loops"][0]["id"] != *held.id {
        return Err(fail(
            held,
            format!("`status` does not show the loop any more: {}", looked.short()),
        ));
    }
    let folder = held.project.root().join(&held.setup.machine.state.folder.value);
    if folder.join("quarantine").exists() {
        return Err(fail(
            held,
            format!("a kill counts as an edit by hand: {}", looked.short()),
        ));
    }
    let after = held.journal().map_err(|error| system(held, error))?;
    let changed = |journal: &Journal| {
        journal
            .changes
            .iter()
            .filter(|change| change["what"] != "bind")
            .count()
    };
    let said = match changed(&after) > changed(before) {
        true => looked,
        false => call.make(&held.project).map_err(|error| system(held, error))?,
    };
    let of_kill = |failure: Failure| Failure {
        suite: Suite::Kills,
        help: HELP,
        ..failure
    };
    held.took(step, before, &said).map_err(of_kill)?;
    held.check(Suite::Kills)
}

/// Lists where a call can be killed.
fn kills(project: &Project, call: &Call, traced: bool) -> io::Result<Vec<Kill>> {
    match traced {
        true => calls(project, call),
        false => moments(project, call),
    }
}

/// Lists the system calls that a call makes and that change files.
fn calls(project: &Project, call: &Call) -> io::Result<Vec<Kill>> {
    let log = project.top().join("calls");
    let name = log.to_string_lossy().into_owned();
    traced(
        project,
        call,
        &["-o", &name, "-e", &format!("trace={}", known(CALLS))],
    )?;
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut kills = Vec::new();
    for line in String::from_utf8_lossy(&std::fs::read(log)?).lines() {
        // Only the program itself is killed; its children are numbered by themselves.
        let line = line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let Some((name, rest)) = line.split_once('(') else {
            continue;
        };
        let number = numbers.entry(name.to_owned()).or_default();
        *number += 1;
        let opens = name.starts_with("open")
            && !["O_CREAT", "O_WRONLY", "O_RDWR", "O_TRUNC"]
                .iter()
                .any(|flag| rest.contains(flag));
        if !opens {
            kills.push(Kill::At(name.to_owned(), *number));
        }
    }
    Ok(kills)
}

/// Leaves out the names that this system's `strace` does not know: each system has its own.
fn known(all: &str) -> String {
    let names = all.split(',').map(|name| format!("?{name}"));
    names.collect::<Vec<_>>().join(",")
}

fn moments(project: &Project, call: &Call) -> io::Result<Vec<Kill>> {
    let begun = Instant::now();
    call.make(project)?;
    let usual = begun.elapsed().max(Duration::from_millis(4));
    Ok((0..MOMENTS)
        .map(|at| Kill::After(usual * at / (MOMENTS - 4)))
        .collect())
}

/// Makes a call that is killed.
fn die(project: &Project, call: &Call, kill: &Kill) -> io::Result<()> {
    match kill {
        Kill::At(name, number) => {
            let inject = format!("inject={name}:signal=SIGKILL:when={number}");
            traced(
                project,
                call,
                &["-o", "/dev/null", "-e", &format!("trace={name}"), "-e", &inject],
            )
            .map(drop)
        }
        Kill::After(moment) => {
            let mut command = call.command(project, &[]);
            let mut child = command
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()?;
            let begun = Instant::now();
            // It may be gone already.
            let _ = child
                .stdin
                .take()
                .map(|mut stdin| io::Write::write_all(&mut stdin, call.input.as_bytes()));
            while begun.elapsed() < *moment {
                std::hint::spin_loop();
            }
            let _ = child.kill();
            child.wait().map(drop)
        }
    }
}

fn traced(project: &Project, call: &Call, flags: &[&str]) -> io::Result<Output> {
    let behind: Vec<&str> = ["strace", "-qq"]
        .into_iter()
        .chain(flags.iter().copied())
        .collect();
    feed(call.command(project, &behind), call.input.as_bytes())
}

const HELP: &str = "commit in one step: what is killed must be as if it had not begun, or had ended";

fn fail(held: &Loop<'_>, what: String) -> Failure {
    held.failure(Suite::Kills, what, HELP)
}
