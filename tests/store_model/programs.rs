//! Other programs: the test binary runs itself again, told by environment variables what to do. One kind is killed by the
//! system at a chosen byte of what it writes; the other works on one folder beside its like, some of which are killed.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use camino::Utf8PathBuf;
use claudex_loop::store::{IdForm, LoopId, Store};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::counter::SPEC;
use crate::folder::{age, commit, content, history, home, new_store, start, store};
use crate::reference::{Phase, What, why_impossible};

const ROOT: &str = "STORE_MODEL_ROOT";
const CALL: &str = "STORE_MODEL_CALL";
const LIMIT: &str = "STORE_MODEL_LIMIT";
const TOLD: &str = "STORE_MODEL_TOLD";

/// What a program does that will be killed.
pub(crate) enum Killed<'a> {
    Start,
    Commit(&'a LoopId, What),
}

/// Runs a program in which no file can grow beyond `limit` bytes: the system kills it (SIGXFSZ) at its write beyond, and
/// what it wrote up to there is in the file. Says whether it was killed so.
pub(crate) fn killed_at(store: &Store, what: Killed<'_>, limit: u64) -> bool {
    let call = match what {
        Killed::Start => "start".to_owned(),
        Killed::Commit(id, what) => format!("{id} {}", what.name()),
    };
    let status = program("killed_program")
        .env(ROOT, store.root())
        .env(CALL, call)
        .env(LIMIT, limit.to_string())
        .status()
        .unwrap();
    status.signal() == Some(rustix::process::Signal::XFSZ.as_raw())
}

fn program(name: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", &format!("programs::{name}")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Not a test by itself: what a program does that is killed. Does nothing unless told to.
#[test]
fn killed_program() {
    let (Ok(root), Ok(call), Ok(limit)) = (
        std::env::var(ROOT),
        std::env::var(CALL),
        std::env::var(LIMIT),
    ) else {
        return;
    };
    let store = store(&Utf8PathBuf::from(root));
    let set = |resource, current| {
        let maximum = getrlimit(resource).maximum;
        setrlimit(resource, Rlimit { current, maximum }).unwrap();
    };
    let stop_at = || {
        set(Resource::Core, Some(0));
        set(Resource::Fsize, Some(limit.parse().unwrap()));
    };
    match call.split_once(' ') {
        None => {
            stop_at();
            start(&store).unwrap();
        }
        Some((id, name)) => {
            let id = LoopId::parse(id, IdForm::Stamp).unwrap();
            let all = [What::Step, What::Finish, What::Cancel];
            let what = all.into_iter().find(|what| what.name() == name).unwrap();
            let held = store.open(&id).unwrap().record;
            stop_at();
            commit(&store, &held, what).unwrap();
        }
    }
}

/// Not a test by itself: a program that starts, changes, cancels, touches, sweeps and brings back, and writes down what it
/// was told was done. Does nothing unless told to.
#[test]
fn busy_program() {
    let (Ok(root), Ok(told)) = (std::env::var(ROOT), std::env::var(TOLD)) else {
        return;
    };
    let store = store(&Utf8PathBuf::from(root));
    // Each program goes a way of its own, the same one in every run: the file's name ends in its number.
    let mut turn = told.bytes().next_back().map_or(0, u64::from);
    let mut told = std::fs::File::create(told).unwrap();
    let mut tell = |id: &LoopId, base: u8, what: &str, made: u8, phase: Phase| {
        writeln!(told, "{id} {base} {what} {made} {}", phase.stored()).unwrap();
    };
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(2500) {
        turn = turn
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let choice = (turn >> 33) % 16;
        if choice == 0 {
            for one in store.swept() {
                if let Ok(record) = store.bring_back(&one.id) {
                    let made = content(&record);
                    tell(
                        &one.id,
                        made.revision - 1,
                        "bring-back",
                        made.revision,
                        made.phase,
                    );
                }
            }
            continue;
        }
        let Some(active) = store.list().into_iter().find(|one| !one.terminal) else {
            if let Ok(record) = start(&store) {
                tell(record.id(), 0, "start", 1, Phase::On);
            }
            continue;
        };
        // It may be gone by now, or at its end: both are answers.
        let Ok(opened) = store.open(&active.id) else {
            continue;
        };
        let held = content(&opened.record);
        let what = match choice {
            1 => What::Finish,
            2 => What::Cancel,
            3 => {
                age(&store.path_of(&active.id));
                let _ = store.sweep(SystemTime::now(), crate::folder::STALE, false);
                continue;
            }
            4 => {
                let _ = store.touch(&active.id);
                continue;
            }
            _ if held.revision > 200 => What::Finish,
            _ => What::Step,
        };
        if let Ok(record) = commit(&store, &opened.record, what) {
            let made = content(&record);
            assert_eq!(
                made,
                what.of(held),
                "what is given is what was held, changed"
            );
            tell(
                &active.id,
                held.revision,
                what.name(),
                made.revision,
                made.phase,
            );
        }
    }
}

#[test]
fn of_programs_that_work_at_once_and_are_killed_every_acknowledged_change_is_in_a_legal_history() {
    let (kept, store) = new_store();
    let notes: Vec<Utf8PathBuf> = (0..6)
        .map(|at| Utf8PathBuf::try_from(kept.path().join(format!("told-{at}"))).unwrap())
        .collect();
    let mut programs: Vec<_> = notes
        .iter()
        .map(|told| {
            program("busy_program")
                .env(ROOT, store.root())
                .env(TOLD, told)
                .spawn()
                .unwrap()
        })
        .collect();
    // Half of them are killed, each once it has been told something and at another time.
    for (at, other) in programs.iter_mut().enumerate().take(3) {
        let (begun, wait) = (
            Instant::now(),
            Duration::from_micros(90_300 * (at as u64 + 1)),
        );
        let has_told = |at: usize| std::fs::metadata(&notes[at]).is_ok_and(|meta| meta.len() > 0);
        while begun.elapsed() < wait || !has_told(at) && begun.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        other.kill().unwrap();
    }
    let ends: Vec<bool> = programs
        .into_iter()
        .map(|mut other| other.wait().unwrap().success())
        .collect();
    assert_eq!(
        ends[3..],
        [true; 3],
        "those that were not killed came through"
    );

    let mut told: BTreeMap<String, Vec<(u8, String, u8, Phase)>> = BTreeMap::new();
    for path in &notes {
        for line in std::fs::read_to_string(path)
            .unwrap_or_default()
            .split_inclusive('\n')
        {
            let words: Vec<&str> = line.split_whitespace().collect();
            // The last one may be torn: its writer was killed.
            let ([id, base, what, made, phase], true) = (&words[..], line.ends_with('\n')) else {
                continue;
            };
            let told_of = (
                base.parse().unwrap(),
                (*what).to_owned(),
                made.parse().unwrap(),
                Phase::parse(phase).unwrap(),
            );
            told.entry((*id).to_owned()).or_default().push(told_of);
        }
    }
    let changes: usize = told.values().map(Vec::len).sum();
    assert!(
        changes > 30 && told.len() > 1,
        "too little happened: {told:?}"
    );
    for (id, told) in &told {
        let id = LoopId::parse(id, IdForm::Stamp).unwrap();
        let place = if store.loop_folder(&id).exists() {
            store.clone()
        } else {
            Store::at(
                store.folder().join("swept").join(id.as_str()),
                store.root().to_owned(),
                &SPEC,
                home(store.root()),
            )
        };
        let history = history(&place, &id);
        assert_eq!(why_impossible(&history), None, "the journal of {id}");
        let bases: BTreeSet<u8> = told.iter().map(|(base, ..)| *base).collect();
        assert_eq!(
            bases.len(),
            told.len(),
            "one winner per revision of {id}: {told:?}"
        );
        for (base, what, made, phase) in told {
            let (name, line) = &history[usize::from(*made) - 1];
            assert_eq!(
                (name, line.revision, line.phase),
                (what, *made, *phase),
                "{id}"
            );
            assert_eq!(*made, base + 1, "{id}");
        }
    }
    // Nobody is at work: one opens each, and at most one goes on.
    let active = store.list().into_iter().filter(|one| {
        store
            .open(&one.id)
            .is_ok_and(|opened| !opened.record.is_terminal())
    });
    assert!(active.count() <= 1);
    let quarantined = store.folder().join("quarantine");
    assert!(
        !quarantined.exists(),
        "a kill was taken for an edit by hand"
    );
}
