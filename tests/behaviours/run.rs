//! `run`: the user permits the command, its outcome decides, and no process stays behind.

use std::fs;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use claudex_testkit::has;

use super::support::{Project, stdout};

fn building(script: &str) -> Project {
    let project = Project::start("run", "");
    project.permit_script(script);
    project
}

/// Waits until a file has so many lines.
fn lines(project: &Project, name: &str, count: usize) -> Vec<String> {
    let since = Instant::now();
    loop {
        let found: Vec<String> = project.read(name).lines().map(str::to_owned).collect();
        if found.len() >= count {
            return found;
        }
        assert!(
            since.elapsed() < Duration::from_secs(30),
            "{name} has {found:?}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Whether a process runs. A zombie does not.
fn is_alive(id: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit(')')
        .next()
        .is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with(['Z', 'X']))
}

#[test]
fn status_zero_has_passed_and_the_log_is_kept() {
    let project = building("pwd; echo oh >&2");
    assert_eq!(project.stop(), "moved promote built\nends true\n");
    let root = project.root().canonicalize().unwrap();
    assert_eq!(
        fs::read_to_string(project.loop_file("run-build.log")).unwrap(),
        format!("{}\n\n----- stderr -----\noh\n", root.display())
    );
    let journal = project.journal();
    let notes: Vec<&str> = journal
        .lines()
        .filter(|line| line.contains("\"note\""))
        .collect();
    let exit = "\"command\":\"build\",\"outcome\":\"exited\",\"status\":0";
    assert!(notes[0].contains(exit), "{journal}");
    let change = journal
        .lines()
        .find(|line| line.contains("promote"))
        .unwrap();
    assert!(
        change.contains("\"run\":\"c-"),
        "the change names its run: {change}"
    );
}

#[test]
fn failed_command_shows_output_until_given_up() {
    let project = building("printf 'line one\\n\\033[31mred\\033[0m\\n'; exit 7");
    for failures in 1..=3 {
        assert_eq!(
            project.stop(),
            format!(
                "moved retry building\nends false\nbuild: exit status 7 ({failures} of 3).\nline one\nred\n"
            )
        );
    }
    let message = project.stop();
    let end = "moved give_up broken\nends true\nid: ";
    assert!(message.starts_with(end), "{message}");
    has(&message, "\nlast_run.exit: exit status 7\n");
}

#[test]
fn signal_and_deadline_are_failures() {
    let project = building("kill -9 $$");
    assert!(project.stop().contains("\nbuild: signal 9 (1 of 3).\n"));
    project.permit(&[
        "build",
        "/bin/sh",
        "",
        "3",
        "-c",
        "echo $$ >> pids; exec sleep 600",
    ]);
    has(&project.stop(), "\nbuild: ended after 3s (2 of 3).\n");
    assert!(!is_alive(&lines(&project, "pids", 1)[0]));
    assert!(
        !project.loop_file("run-build.log").exists(),
        "it wrote nothing, and the log of the run before is not its own"
    );
}

#[test]
fn missing_command_waits_and_names_its_table() {
    let project = Project::start("run", "");
    let waits = format!(
        "waits\nthe command build, which is not configured, or not in PATH outside of the project: [commands.build] in {} names its program\n",
        project.configuration().display()
    );
    assert_eq!(project.stop(), waits);
    project.permit(&["other", "true", "", "50"]);
    assert_eq!(project.stop(), waits);
    project.permit(&["build", "no-such-program-anywhere", "", "50"]);
    assert_eq!(project.stop(), waits);
    assert!(!project.journal().contains("command-ended"));
    project.permit(&["build", "true", "", "50"]);
    assert_eq!(project.stop(), "moved promote built\nends true\n");
}

#[test]
fn command_gets_short_environment_and_exact_arguments() {
    let hostile = "a b \"c\" 'd' $(touch ran) `touch ran` ; touch ran é";
    let script = "cat; env > seen; printf '%s' \"$1\" > argument";
    let project = Project::start("run", "");
    project.permit(&[
        "build", "/bin/sh", "NAMED", "50", "-c", script, "sh", hostile,
    ]);
    let mut command = project.command(&["stop"]);
    command
        .env("NAMED", "x")
        .env("A_SECRET", "y")
        .env("CLAUDECODE", "1");
    assert_eq!(
        stdout(command.output().unwrap()),
        "moved promote built\nends true\n"
    );
    assert_eq!(project.read("argument"), hostile);
    assert!(!project.file("ran").exists());
    let seen = project.read("seen");
    has(&seen, "NAMED=x\n");
    assert!(
        seen.contains("\nPATH=") | seen.starts_with("PATH="),
        "{seen}"
    );
    assert!(
        !seen.contains("A_SECRET") && !seen.contains("CLAUDECODE"),
        "{seen}"
    );
    assert!(
        seen.contains("CLAUDEX_REVIEWER_CHILD=1"),
        "our hooks do nothing in a command"
    );
}

#[test]
fn inside_of_a_reviewer_nothing_runs() {
    let project = building("touch ran");
    let mut command = project.command(&["stop"]);
    command.env("CLAUDEX_REVIEWER_CHILD", "1");
    let printed = stdout(command.output().unwrap());
    assert!(
        printed
            .starts_with("refused could not read command build: this is a process of a reviewer"),
        "{printed}"
    );
    assert!(!project.file("ran").exists());
}

#[test]
fn command_of_killed_stop_runs_again() {
    let project = building("echo $$ >> pids; exec sleep 600");
    let mut stop = project.command(&["stop"]).spawn().unwrap();
    let command = lines(&project, "pids", 1);
    stop.kill().unwrap();
    stop.wait().unwrap();
    // The command is in another process group and outlives the kill.
    let killed = Command::new("kill").arg(&command[0]).status().unwrap();
    assert!(killed.success());

    project.permit_script("echo fine");
    assert_eq!(project.stop(), "moved promote built\nends true\n");
    let journal = project.journal();
    assert_eq!(journal.matches("command-ended").count(), 1, "{journal}");
}

/// Returns the number of stops that wait at a gate, with the loop opened.
fn waiting_at(project: &Project) -> usize {
    let names = fs::read_dir(project.root())
        .unwrap()
        .filter_map(|entry| entry.unwrap().file_name().into_string().ok());
    names.filter(|name| name.starts_with("gate.")).count()
}

/// Starts stops that open the loop now and continue when the file `gate` exists.
fn stops_at_gate(project: &Project, count: usize) -> Vec<Child> {
    let mut stop = project.command(&["stop"]);
    stop.env("EVERY_GATE", project.file("gate"));
    let stops: Vec<_> = (0..count).map(|_| stop.spawn().unwrap()).collect();
    let since = Instant::now();
    while waiting_at(project) < count {
        assert!(
            since.elapsed() < Duration::from_secs(60),
            "{} of them opened the loop",
            waiting_at(project)
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    stops
}

#[test]
fn sixteen_stops_at_once_run_it_once() {
    // It fails, so that the loop stays in its phase and a late process could run it again.
    let project = building("echo ran >> ran; sleep 0.4; exit 1");
    let stops = stops_at_gate(&project, 16);
    project.write("gate", "");
    let decisions: Vec<String> = stops
        .into_iter()
        .map(|stop| stdout(stop.wait_with_output().unwrap()))
        .collect();
    assert_eq!(project.read("ran"), "ran\n", "{decisions:#?}");
    let count = |begin: &str| {
        decisions
            .iter()
            .filter(|line| line.starts_with(begin))
            .count()
    };
    let late = "refused the loop moved on meanwhile";
    assert_eq!(
        (count("moved retry "), count("moved ")),
        (1, 1),
        "{decisions:#?}"
    );
    assert_eq!(count("waits\n") + count(late), 15, "{decisions:#?}");
    project.permit(&["build", "true", "", "50"]);
    assert_eq!(project.stop(), "moved promote built\nends true\n");
}
