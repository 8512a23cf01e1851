//! What holds for any machine holds for the plan loop; and a program that breaks a promise fails the kit.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use claudex_testkit::{Actor, Failure, Kit, Project, Suite};

const PROGRAM: &str = env!("CARGO_BIN_EXE_claudex-loop");

/// A work tree with a change in it, which the mode `review` reviews.
fn changed(project: &Project) -> std::io::Result<()> {
    project.write("greeting.txt", "hello\n")?;
    for arguments in [
        &["add", "greeting.txt"][..],
        &["commit", "--quiet", "-m", "a greeting"],
    ] {
        project.tool("git").args(arguments).status()?;
    }
    project.write("greeting.txt", "good morning\n")
}

fn kit(program: &str) -> Kit {
    let kit = Kit::new("machine.toml", program).plugin("plugin");
    let kit = kit.flag("max_rounds", "rounds").project(changed);
    let answer = |label: &str| vec!["answer".to_owned(), label.to_owned()];
    let (revise, accept) = (answer("Revise manually"), answer("Accept it incomplete"));
    kit.verb(
        "summarizing",
        "revise_manually",
        Actor::Person,
        move |_, _| Ok(revise.clone()),
    )
    .verb(
        "summarizing",
        "accept_incomplete",
        Actor::Person,
        move |_, _| Ok(accept.clone()),
    )
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was tried is what the test has to say"
)]
fn the_plan_loop_passes_the_kit() {
    let report = kit(PROGRAM).quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, []);
}

/// The program behind a shell that breaks one promise: which, is its first word.
const FAULTY: &str = r#"
state=.claude/claudex
case $fault:$1 in
writes-on-refusal:mark-done | writes-on-refusal:more | writes-on-refusal:cancel)
    "$real" "$@" && exit 0
    code=$?
    echo '# refused' >>"$state/$2.state"
    exit $code
    ;;
loses-a-line:hook)
    "$real" "$@" || exit
    for journal in "$state"/2*/journal.jsonl; do sed -i '$d' "$journal"; done
    ;;
blocks-on-garbage:hook)
    input=$(cat | tr -d '\0')
    case $2:$input in
    stop:'{"session_id":"kit-session"'*) printf %s "$input" | "$real" "$@" ;;
    stop:*) echo '{"decision":"block","reason":"What was that?"}' ;;
    *) printf %s "$input" | "$real" "$@" ;;
    esac
    ;;
follows-a-forged-line:hook)
    if grep -qs '"what":"forged"' "$state"/2*/journal.jsonl; then : >followed; fi
    exec "$real" "$@"
    ;;
follows-a-forged-line:status)
    if [ -e followed ]; then "$real" "$@" | sed 's/"phase": "[a-z]*"/"phase": "done"/'; else "$real" "$@"; fi
    ;;
writes-another-plugin:plugin)
    "$real" "$@" && echo 'One line more.' >>"$3/README.md"
    ;;
takes-half-a-line-for-two:hook)
    "$real" "$@"
    code=$?
    for journal in "$state"/2*/journal.jsonl; do
        if [ -n "$(tail -c 1 "$journal")" ]; then sed -i '$d' "$journal" && sed -i '$d' "$journal"; fi
    done
    exit $code
    ;;
is-a-release-build:*)
    unset CLAUDEX_KILL_AT
    exec "$real" "$@"
    ;;
*) exec "$real" "$@" ;;
esac
"#;

/// Writes a program that a shell runs.
fn script(program: &Path, text: &str) {
    std::fs::write(program, format!("#!/bin/sh\n{text}")).unwrap();
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes a program that has a fault, and returns its path.
fn faulty(folder: &Path, fault: &str) -> String {
    let program = folder.join(fault);
    script(
        &program,
        &format!("fault={fault}\nreal='{PROGRAM}'\n{FAULTY}"),
    );
    program.to_str().unwrap().to_owned()
}

#[test]
fn a_program_with_five_faults_fails_the_kit_five_times() {
    let folder = tempfile::tempdir().unwrap();
    for (fault, suite, said) in [
        ("none", Suite::Forged, ""),
        (
            "writes-on-refusal",
            Suite::Refusals,
            "is refused, and the document has changed",
        ),
        (
            "loses-a-line",
            Suite::Walks,
            "one change was expected, and 0 were made",
        ),
        ("blocks-on-garbage", Suite::Input, "it holds the agent"),
        (
            "follows-a-forged-line",
            Suite::Forged,
            "a change that the machine does not have took the loop to `done`",
        ),
        (
            "writes-another-plugin",
            Suite::Plugin,
            "stale, since the machine or a text of it has changed: [\"README.md\"]",
        ),
    ] {
        let ran = kit(&faulty(folder.path(), fault)).only(suite).quick();
        let failures = ran.map_or_else(|failures| failures.list, |_| Vec::new());
        assert_eq!(
            failures.is_empty(),
            said.is_empty(),
            "{fault}: {failures:?}"
        );
        for failure in &failures {
            assert_eq!(failure.suite, suite, "{fault}: {failure}");
            assert!(failure.what.contains(said), "{fault}: {failure}");
        }
    }
}

/// Set where this test binary is run again, with a `strace` that does not work.
const WITHOUT: &str = "KIT_TESTS_WITHOUT_STRACE";

#[test]
fn without_strace_a_program_is_killed_at_each_of_its_own_changes() {
    let folder = tempfile::tempdir().unwrap();
    if std::env::var_os(WITHOUT).is_none() {
        script(&folder.path().join("strace"), "exit 1");
        let own = std::thread::current().name().unwrap().to_owned();
        let path = std::env::var("PATH").unwrap();
        let again = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &own])
            .env("PATH", format!("{}:{path}", folder.path().display()))
            .env(WITHOUT, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&again.stdout);
        assert!(
            again.status.success() && said.contains("1 passed"),
            "{said}"
        );
        return;
    }
    let kills = |program: &str| kit(program).only(Suite::Kills).quick();
    let report = kills(PROGRAM).unwrap();
    assert!(
        report.tried[0]
            .1
            .ends_with("points of its own that change files"),
        "{report}"
    );
    assert!(report.left_out.is_empty(), "{report}");
    let found = kills(&faulty(folder.path(), "takes-half-a-line-for-two"))
        .unwrap_err()
        .list;
    let is_it = |failure: &Failure| {
        failure.suite == Suite::Kills && failure.place.contains("killed at its change of files")
    };
    assert!(found.iter().all(is_it), "{found:?}");
    let report = kills(&faulty(folder.path(), "is-a-release-build")).unwrap();
    assert_eq!(report.tried, []);
    assert!(
        report.left_out[0]
            .1
            .contains("a release build has no kill points"),
        "{report}"
    );
}
