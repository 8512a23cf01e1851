//! A held lock and a full disk.

use std::time::Instant;

use serde_json::json;

use crate::support::{Project, Ran, Stop, WAIT_TIMEOUT, feed, has, tree, wait_for};

#[test]
fn held_lock_lets_the_turn_end() {
    let (project, id) = Project::reviewing(&[]);
    let before = project.state(&id);
    let lock = project.folder().join(".lock");
    let lock = std::fs::File::options()
        .read(true)
        .write(true)
        .open(lock)
        .unwrap();
    lock.lock().unwrap();
    let begun = Instant::now();
    has(&project.fire().approved(), "lock");
    assert!(
        begun.elapsed() < WAIT_TIMEOUT,
        "well below the hook's own limit"
    );
    assert_eq!(project.state(&id), before);
    drop(lock);
    wait_for("the lock to be free", || project.fire().reason.is_some());
}

#[test]
fn full_disk_ends_the_turn_and_loses_nothing() {
    let (project, id) = Project::reviewing(&[]);
    let before = tree(&project.folder());
    let input = json!({"session_id": "s1", "cwd": project.root}).to_string();
    let stop = project.on_a_full_disk(&["hook", "stop"]);
    let note = Stop::read(&feed(stop, input.as_bytes())).approved();
    has(&note, &id);
    has(&note, "was left as it is");
    assert_eq!(tree(&project.folder()), before);

    let starved = |line: &[&str], code: i32| {
        Ran::new(project.on_a_full_disk(line).output().unwrap()).exits(code);
    };
    starved(&["review", &id, "--reviewer", "fake-clean"], 3);
    starved(&["cancel", &id], 1);
    let unwritten = |line: &[&str], code: i32| {
        let file = std::fs::File::create(project.home.join("out")).unwrap();
        let ran = project.on_a_full_disk(line).stdout(file).output();
        Ran::new(ran.unwrap()).exits(code).err
    };
    let problem = "claudex: cannot write to stdout: File too large (os error 27)\n";
    assert_eq!(unwritten(&["report"], 3), problem);
    assert_eq!(unwritten(&["status", "--help"], 3), problem);
    unwritten(&["hook", "stop"], 0);
    assert_eq!(project.field(&id, "phase"), "reviewing");

    project.review(&id, "fake-clean").exits(0);
    has(&project.fire().blocked(), "plan loop complete");
    assert_eq!(project.replaced(&id), []);
}

/// Checks that a message is one or two lines: the problem and the next step.
#[track_caller]
fn check_short(text: &str, case: &str) {
    let lines = text.trim().lines().count();
    assert!((1..=2).contains(&lines), "{case}: {text}");
}

/// Runs the program on a file system of 1 MiB that is full but for some pages, then frees it. The
/// arguments: a copy of the files, which gets the result, their place, the number of free pages.
const ON_A_SMALL_DISK: &str = r#"
    set -e
    copy=$1 place=$2 free=$3
    shift 3
    mount -t tmpfs -o size=1m none "$place"
    cp -a "$copy/." "$place"
    cat /dev/zero > "$place/filler" 2> /dev/null || true
    truncate -s "-$((free * 4096))" "$place/filler"
    code=0
    (cd "$place"/my*; exec claudex-loop "$@") || code=$?
    rm "$place/filler"
    rm -r "$copy"
    cp -a "$place" "$copy"
    exit "$code"
"#;

#[test]
#[expect(clippy::print_stderr, reason = "a user sees that it was left out")]
fn full_file_system_of_a_mebibyte_loses_nothing() {
    let (project, id) = Project::reviewing(&[]);
    let mut mount = project.shell("unshare", &["-rm", "true"]);
    if !mount.status().is_ok_and(|status| status.success()) {
        eprintln!("left out: this user may not mount a file system");
        return;
    }
    let event = json!({"session_id": "s1", "cwd": project.root}).to_string();
    let before = project.copy();
    let top = project.root.parent().unwrap().to_str().unwrap();
    let mut refused = 0;
    for line in ["hook stop", "review ID", "pause ID", "cancel ID"] {
        let line = line.replace("ID", &id);
        for free in (0..10).map(|free: u32| free.to_string()) {
            let case = format!("{line}, {free} pages are free");
            project.restore(&before);
            let full = project.copy();
            let script = ["-rm", "sh", "-c", ON_A_SMALL_DISK, "sh"];
            let places = [full.path().to_str().unwrap(), top, &free];
            let words: Vec<&str> = line.split(' ').collect();
            let command = project.shell("unshare", &[&script[..], &places, &words].concat());
            let ran = feed(command, event.as_bytes());
            project.restore(&full);
            match ran.code {
                0 if line == "hook stop" => {
                    let note = Stop::read(&ran).note;
                    note.iter().for_each(|note| check_short(note, &case));
                    refused += u32::from(note.is_some());
                }
                0 => {}
                _ => {
                    check_short(&ran.err, &case);
                    refused += 1;
                }
            }
            // With space, the loop goes on.
            project.run(&format!("resume {id}"));
            if project
                .changes(&id)
                .last()
                .is_none_or(|last| last != "cancel")
            {
                project.fire().blocked();
                project.review(&id, "fake-findings");
                has(&project.fire().blocked(), "**Previous round:** high=1");
            }
            assert_eq!(project.replaced(&id), [], "{case}");
        }
    }
    assert!(refused > 8, "the disk was too large: {refused}");
}

#[test]
fn read_only_project_can_be_looked_at() {
    let (project, id) = Project::reviewing(&[]);
    let chmod = |mode: &str| {
        let mut chmod = project.shell("chmod", &["-R", mode, "."]);
        assert!(chmod.status().unwrap().success());
    };
    // Root may write everywhere unless it gives that up.
    let script = r#"
        [ "$(id -u)" != 0 ] || set -- setpriv --bounding-set=-dac_override claudex-loop "$@"
        [ "$1" = setpriv ] || set -- claudex-loop "$@"
        exec "$@"
    "#;
    let before = tree(&project.root);
    let event = json!({"session_id": "s1", "cwd": project.root}).to_string();
    chmod("a-w");
    let mut answers = Vec::new();
    for line in [
        "hook stop",
        "review ID",
        "cancel ID",
        "start plan Another",
        "status",
        "list",
        "journal ID",
        "report",
    ] {
        let line = line.replace("ID", &id);
        let words: Vec<&str> = line.split(' ').collect();
        let command = project.shell("sh", &[&["-c", script, "sh"], &*words].concat());
        answers.push((line, feed(command, event.as_bytes())));
    }
    chmod("u+w");
    assert_eq!(tree(&project.root), before);
    let (stop, others) = answers.split_first().unwrap();
    check_short(&Stop::read(&stop.1).approved(), "the note of a stop");
    let (changes, looks) = others.split_at(3);
    for (line, ran) in changes {
        assert_ne!(ran.code, 0, "{line}");
        check_short(&ran.err, line);
    }
    for (line, ran) in looks {
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
    }
    has(&project.fire().blocked(), "is waiting for its review");
}
