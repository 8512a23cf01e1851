//! A stranger's crate whose machine has changed: a program with the old machine and the new ones, each with its generated types,
//! run as processes on the same folder; killed in the middle of a migration, and sixteen at once.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

#[path = "support/stranger.rs"]
mod stranger;

const OLD: &str = r#"name = "door"

[modes.door]
start = "open"

[fields]
phase      = { holds = "phase" }
id         = { holds = "id" }
root       = { holds = "root" }
session    = { holds = "session" }
revision   = { holds = "revision" }
machine    = { holds = "machine" }
graph_hash = { holds = "graph-hash" }
tries      = { type = "count" }

[phases.open]
on_stop = { require-file = { path = "KEY", written = "shut", missing = "remind" } }

[phases.closed]
terminal = true

[[transitions.shut]]
from = "open"
to   = "closed"

[[transitions.remind]]
from = "open"
to   = "same"
when = "tries < 3"
set  = { tries = "tries + 1" }
"#;

const MAIN: &str = r#"use claudex_loop::{Actor, Beginning, Step, Store};

macro_rules! version {
    ($name:ident) => {
        mod $name {
            include!(concat!(env!("OUT_DIR"), "/", stringify!($name), "/door.rs"));
            pub struct Driver;
            impl OnStop for Driver {}
            pub fn run(verb: &str, root: &str) -> String {
                use super::*;
                let home = claudex_loop::StateHome::at(format!("{root}/state-home"));
                let store = Store::at(format!("{root}/.door").into(), root.into(), &STATE, home);
                if verb == "start" {
                    let start = Start { mode: Mode::Door };
                    return start.begin(&store, Beginning::now("me"), Actor::Hook).unwrap().id().to_string();
                }
                let listed = store.list().remove(0);
                if verb == "list" {
                    return format!("{} {} {}", listed.ours, listed.terminal, listed.phase.unwrap_or_default());
                }
                let held = match AnyLoop::open(&store, &listed.id, Actor::Hook) {
                    Ok(held) => held,
                    Err(error) => return format!("refused: {error}"),
                };
                if verb == "open" {
                    return format!("{} {}", held.phase(), held.raw().record().revision());
                }
                match Driver.stop(held).unwrap() {
                    Step::Moved { now, edge } => format!("{} {}", edge.transition, now.phase()),
                    Step::Waits(_) | Step::Over(_) => "waits".to_owned(),
                }
            }
        }
    };
}

version!(old);
version!(safe);
version!(migrating);
version!(refusing);

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, version, verb, root] = &arguments[..] else { panic!("{arguments:?}") };
    let run = match version.as_str() {
        "old" => old::run,
        "safe" => safe::run,
        "migrating" => migrating::run,
        _ => refusing::run,
    };
    println!("{}", run(verb, root));
}
"#;

const BUILD: &str = r#"fn main() {
    let out = std::path::PathBuf::from(std::env::var_os("OUT_DIR").unwrap());
    for version in ["old", "safe", "migrating", "refusing"] {
        let folder = out.join(version);
        std::fs::create_dir_all(&folder).unwrap();
        claudex_build::Config::new().out_dir(folder).compile(format!("{version}.toml"));
    }
}
"#;

fn hash(source: &str) -> String {
    claudex_build::graph_hash(&claudex_build::check_source("door.toml", source).unwrap())
}

/// Builds the crate and returns its program, in this folder.
fn built(folder: &Path) -> PathBuf {
    let stranger = stranger::Crate::new("changing-door");
    let write = |name: &str, text: &str| stranger.write(name, text);
    let renamed = OLD.replace("open", "wide").replace("tries", "attempts");
    write("build.rs", BUILD);
    write("src/main.rs", MAIN);
    write("old.toml", OLD);
    write(
        "safe.toml",
        &OLD.replace("tries < 3", "tries < 5").replace(
            "tries      = { type = \"count\" }",
            "tries = { type = \"count\" }\nowner = { type = \"text\" }",
        ),
    );
    write(
        "migrating.toml",
        &format!(
            "{renamed}\n[[migrations]]\nfrom = {:?}\nphases = {{ open = \"wide\" }}\nfields = {{ tries = \"attempts\" }}\n",
            hash(OLD)
        ),
    );
    write("refusing.toml", &renamed);
    let built = stranger.cargo(&["build"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
    // Another program's crate may be built into the same folder meanwhile.
    let program = folder.join("changing-door");
    std::fs::copy(stranger::target().join("debug/changing-door"), &program).unwrap();
    program
}

struct Project {
    program: PathBuf,
    root: tempfile::TempDir,
}

impl Project {
    /// A folder with a loop of the old machine that has reminded twice.
    fn new(program: &Path) -> Self {
        let project = Self {
            program: program.to_owned(),
            root: tempfile::tempdir().unwrap(),
        };
        project.says("old", "start");
        for _ in 0..2 {
            assert_eq!(project.says("old", "stop"), "remind open");
        }
        project
    }

    fn command(&self, version: &str, verb: &str) -> Command {
        let mut command = Command::new(&self.program);
        command.args([version, verb]).arg(self.root.path());
        command
    }

    fn says(&self, version: &str, verb: &str) -> String {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(version, verb).output().unwrap();
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).unwrap().trim_end().to_owned()
    }

    /// A file of the loop: the state document, or its journal.
    fn file(&self, is_state: bool) -> String {
        let folder = self.root.path().join(".door");
        let found = std::fs::read_dir(&folder).unwrap().find_map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            let id = name.strip_suffix(".state")?.to_owned();
            Some((path, id))
        });
        let (path, id) = found.unwrap();
        let path = if is_state {
            path
        } else {
            folder.join(id).join("journal.jsonl")
        };
        std::fs::read_to_string(path).unwrap()
    }

    fn migrations(&self) -> usize {
        self.file(false).matches("\"what\":\"migrate\"").count()
    }
}

#[test]
fn a_loop_begun_with_the_old_machine_goes_on_with_the_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let program = built(folder.path());

    let safe = Project::new(&program);
    assert_eq!(safe.says("safe", "list"), "true false open");
    assert_eq!(safe.says("safe", "stop"), "remind open", "the third");
    assert_eq!(safe.says("safe", "stop"), "remind open", "by the new guard");
    assert_eq!(safe.says("old", "stop"), "waits", "the old program reads it, too");

    let refused = Project::new(&program);
    let before = (refused.file(true), refused.file(false));
    assert_eq!(refused.says("refusing", "list"), "false false open");
    let said = refused.says("refusing", "stop");
    for part in ["refused: ", &hash(OLD), "`door`", "the phase `open` was removed"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!((refused.file(true), refused.file(false)), before);
    // A version that knows the way takes the loop up where it was.
    assert_eq!(refused.says("migrating", "open"), "wide 4");

    let project = Project::new(&program);
    assert_eq!(project.says("migrating", "list"), "true false wide");
    assert_eq!(project.migrations(), 0, "listing changes nothing");
    assert_eq!(project.says("migrating", "stop"), "remind wide");
    assert_eq!(
        project.says("migrating", "stop"),
        "waits",
        "what was counted before counts"
    );
    assert!(
        project.file(true).contains("attempts: 3"),
        "{}",
        project.file(true)
    );
    assert_eq!(project.migrations(), 1);
    std::fs::write(project.root.path().join("KEY"), "key").unwrap();
    assert_eq!(project.says("migrating", "stop"), "shut closed");

    let crowd = Project::new(&program);
    let opened: Vec<_> = (0..16)
        .map(|_| {
            let mut command = crowd.command("migrating", "open");
            command.stdout(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for one in opened {
        let output = one.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "wide 4\n");
    }
    assert_eq!(crowd.migrations(), 1);

    for wait in 0..24 {
        let project = Project::new(&program);
        let mut killed = project
            .command("migrating", "open")
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_micros(500 * wait) {
            std::hint::spin_loop();
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
        assert_eq!(project.says("migrating", "open"), "wide 4", "killed after {wait}");
        assert_eq!(project.migrations(), 1);
        let state = project.file(true);
        assert!(
            state.contains("attempts: 2") && !state.contains("tries:"),
            "{state}"
        );
        assert!(!project.root.path().join(".door/quarantine").exists());
    }
}
