//! A program that is killed (`SIGKILL`) at any system call of a thread that changes a file leaves a loop that goes on, as if the call had not begun or
//! had ended: nothing is set aside, the journal holds, and the same call then does what is left to do.
//!
//! Where there is no `strace` that works, the program kills itself at each of its own kill points instead (`CLAUDEX_KILL_AT`), which a release build
//! does not have.

use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::io;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;

use super::at_once;
use crate::error::{Failure, Suite, Wrong};
use crate::kit::Setup;
use crate::project::{Output, Project, feed};
use crate::report::Report;
use crate::runs::{Call, Journal, Loop};
use crate::search::{Act, Step, Way};
use crate::walk;

/// The system calls that change files.
const CALLS: &str = "open,openat,creat,write,pwrite64,writev,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,\
                     symlink,symlinkat,truncate,ftruncate,chmod,fchmod,fchmodat,fsync,fdatasync,utimensat,copy_file_range";
/// Has a program kill itself before the change of a file with this number.
const KILL_AT: &str = "CLAUDEX_KILL_AT";

/// Where a program is killed.
#[derive(Debug, Clone)]
enum Kill {
    /// At the call of this name and number, of any thread or of the first one.
    At {
        name: String,
        number: usize,
        threads: bool,
    },
    /// At the kill point of this number.
    Point(usize),
}

impl fmt::Display for Kill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kill::At { name, number, .. } => write!(f, "killed at {name} number {number}"),
            Kill::Point(number) => write!(f, "killed at its change of files number {number}"),
        }
    }
}

/// Kills a start, a stop and a verb; in the whole set one call for each transition, and a review.
pub(crate) fn run(setup: &Setup, ways: &[Way], report: &mut Report, failures: &mut Vec<Failure>) {
    let mut seen = HashSet::new();
    let mut jobs: Vec<(&Way, Option<usize>)> =
        ways.last().map(|way| (way, None)).into_iter().collect();
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
    let kills = AtomicUsize::new(0);
    at_once(&jobs, failures, |(way, at)| {
        let mut held = match at {
            Some(_) => Loop::begin(setup, way)?,
            None => Loop::ready(setup, way)?,
        };
        let killed = held.promise(Suite::Kills, |held| match at {
            Some(at) => killed(held, way, *at),
            None => killed_start(held, way),
        });
        killed.map(|killed| {
            kills.fetch_add(killed, Ordering::Relaxed);
        })
    });
    let kills = kills.into_inner();
    if kills == 0 && !*TRACED && failures.is_empty() {
        let why = "nothing was killed: there is no `strace` that may trace, and a release build has no kill points; install `strace`, or give \
                   the kit a program with debug assertions";
        return report.left_out(Suite::Kills, why);
    }
    let how = if *TRACED {
        "system calls"
    } else {
        "points of its own"
    };
    let said = format!(
        "{} calls were killed at {kills} {how} that change files",
        jobs.len()
    );
    report.tried(Suite::Kills, said);
}

/// Whether the steps take longer than a call: a wait, a stop while a review runs.
fn waits(steps: &[Step]) -> bool {
    let running = Act::Stop("running".to_owned());
    walk::waits(steps) > 0 || steps.iter().any(|step| step.act == running)
}

/// Kills a call wherever it can be, each time in the project and the loop as they are now, and then has a look at what is left.
/// Returns how often.
pub(crate) fn everywhere<'k>(
    held: &mut Loop<'k>,
    call: &Call,
    mut look: impl FnMut(&mut Loop<'k>) -> Result<(), Wrong>,
) -> Result<usize, Wrong> {
    held.project.keep()?;
    let (state, path) = (held.state.clone(), held.path.clone());
    let kills: Box<dyn Iterator<Item = Kill>> = match *TRACED {
        true => Box::new(calls(&held.project, call)?.into_iter()),
        // Until it ends by itself.
        false => Box::new((1..).map(Kill::Point)),
    };
    let mut killed = 0;
    for kill in kills {
        held.project.restore()?;
        held.state = state.clone();
        held.path.clone_from(&path);
        held.path.push(kill.to_string());
        if !is_killed(&held.project, call, &kill)? {
            break;
        }
        look(held)?;
        killed += 1;
    }
    Ok(killed)
}

/// Whether system calls can be aimed at.
static TRACED: LazyLock<bool> = LazyLock::new(|| {
    let mut strace = Command::new("strace");
    strace.args(["-qq", "-e", "trace=write", "-o", "/dev/null", "true"]);
    let ran = strace.stdout(Stdio::null()).stderr(Stdio::null()).status();
    ran.is_ok_and(|status| status.success())
});

/// Kills a start: then the loop is there, or can be started.
fn killed_start(held: &mut Loop<'_>, way: &Way) -> Result<usize, Wrong> {
    let (line, by) = held.start_line(way, "kit_1");
    held.path = vec![line.join(" ")];
    let call = Call::of(by, line);
    everywhere(held, &call, |held| {
        let said = call.make(&held.project)?;
        let shown = held.project.person(&["status", "--json"])?;
        let shown: Json = serde_json::from_str(&shown.out).unwrap_or_default();
        if shown["loops"][0]["phase"] != *held.setup.machine.phases[way.begin.phase].name.value {
            return Err(format!(
                "neither is the loop there nor does it start: {}",
                said.short()
            )
            .into());
        }
        Ok(())
    })
}

/// Takes a way up to a step, and kills that step.
fn killed(held: &mut Loop<'_>, way: &Way, at: usize) -> Result<usize, Wrong> {
    way.steps[..at]
        .iter()
        .try_for_each(|step| held.step(step))?;
    let step = &way.steps[at];
    held.path.push(held.setup.step_text(step));
    let before = held.journal()?;
    let call = held.prepare(&step.act, &before.fields())?;
    everywhere(held, &call, |held| goes_on(held, step, &before, &call))
}

/// The loop is as it was, or as it was to become; and goes on.
fn goes_on(held: &mut Loop<'_>, step: &Step, before: &Journal, call: &Call) -> Result<(), Wrong> {
    // Whoever looks first repairs; what was repaired is said.
    let (looked, shown) = held.shown()?;
    if shown["loops"][0]["id"] != *held.id {
        return Err(format!(
            "`status` does not show the loop any more: {}",
            looked.short()
        )
        .into());
    }
    let folder = held
        .project
        .root()
        .join(&held.setup.machine.state.folder.value);
    if folder.join("quarantine").exists() {
        return Err(format!("a kill counts as an edit by hand: {}", looked.short()).into());
    }
    let changed = |journal: &Journal| {
        let changes = journal.changes.iter();
        changes.filter(|change| change["what"] != "bind").count()
    };
    let said = match changed(&held.journal()?) > changed(before) {
        true => looked,
        false => call.make(&held.project)?,
    };
    held.took(step, before, &said)?;
    held.check()
}

/// Lists the system calls that a call makes and that change files.
fn calls(project: &Project, call: &Call) -> io::Result<Vec<Kill>> {
    let log = project.top().join("calls");
    let name = log.to_string_lossy().into_owned();
    let trace = format!("trace={}", known(CALLS));
    let mut kills = Vec::new();
    for threads in [false, true] {
        let flags = ["-o", &name, "-e", &trace];
        traced(project, call, &[following(threads), &flags].concat())?;
        kills.extend(listed(
            &String::from_utf8_lossy(&std::fs::read(&log)?),
            threads,
        ));
        project.restore()?;
    }
    Ok(kills)
}

/// Returns the flags with which the program's threads are followed, and its children are not.
fn following(threads: bool) -> &'static [&'static str] {
    if threads {
        &["-f", "-b", "execve"]
    } else {
        &[]
    }
}

/// Lists where a program can be killed by what `strace` wrote: in its first thread, or in the others. Each thread's calls are numbered by
/// themselves, so of the others those can be aimed at that no thread was before with.
fn listed(log: &str, threads: bool) -> Vec<Kill> {
    let mut numbers: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut first = None;
    let mut kills = Vec::new();
    for line in log.lines() {
        let (thread, line) = match threads {
            true => line.split_once(' ').unwrap_or_default(),
            false => ("", line),
        };
        let Some((name, rest)) = line.trim_start().split_once('(') else {
            continue;
        };
        // Where another thread came between, the rest of a call has a line of its own.
        if name.starts_with('<') {
            continue;
        }
        let is_others = *first.get_or_insert(thread) != thread;
        let most = numbers.iter().filter(|((_, known), _)| *known == name);
        let most = most.map(|(_, number)| *number).max().unwrap_or_default();
        let number = numbers.entry((thread, name)).or_default();
        *number += 1;
        let opens = name.starts_with("open")
            && !["O_CREAT", "O_WRONLY", "O_RDWR", "O_TRUNC"]
                .iter()
                .any(|flag| rest.contains(flag));
        if !opens && is_others == threads && *number > most {
            kills.push(Kill::At {
                name: name.to_owned(),
                number: *number,
                threads,
            });
        }
    }
    kills
}

/// Leaves out the names that this system's `strace` does not know: each system has its own.
fn known(all: &str) -> String {
    let names = all.split(',').map(|name| format!("?{name}"));
    names.collect::<Vec<_>>().join(",")
}

/// Makes a call that is killed, and returns whether it was, as far as that can be known.
fn is_killed(project: &Project, call: &Call, kill: &Kill) -> io::Result<bool> {
    match kill {
        Kill::At {
            name,
            number,
            threads,
        } => {
            let inject = format!("inject={name}:signal=SIGKILL:when={number}");
            let trace = format!("trace={name}");
            let flags = ["-o", "/dev/null", "-e", &trace, "-e", &inject];
            traced(project, call, &[following(*threads), &flags].concat()).map(|_| true)
        }
        Kill::Point(number) => {
            let mut command = call.command(project, &[]);
            command.env(KILL_AT, number.to_string());
            let said = feed(command, call.input.as_bytes())?;
            // 137 is what a shell before the program makes of the signal.
            Ok(matches!(said.code, None | Some(137)))
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

#[cfg(test)]
mod tests {
    use super::listed;

    const LOG: &str = "7 mkdir(\"/d\", 0777) = 0
9 openat(AT_FDCWD, \"/f\", O_WRONLY|O_CREAT, 0777) = 3
9 openat(AT_FDCWD, \"/g\", O_RDONLY) = 4
7 write(3, \"x\", 1 <unfinished ...>
9 write(4, \"x\", 1) = 1
7 <... write resumed>) = -1 EIO (Input/output error)
9 write(5, \"x\", 1) = 1
";

    #[test]
    fn calls_are_numbered_by_thread_and_those_of_others_listed_where_they_come_first() {
        let said = |threads, log: &str| {
            let kills = listed(log, threads).into_iter();
            kills.map(|kill| kill.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(
            said(true, LOG),
            ["killed at openat number 1", "killed at write number 2"]
        );
        let alone = LOG.replace("7 ", "").replace("9 ", "");
        assert_eq!(said(false, &alone).len(), 5, "all but what only reads");
    }
}
