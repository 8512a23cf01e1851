//! The plan loop passes the kit. A program that breaks a promise fails it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use claudex_testkit::{Kit, Project, has};

const PROGRAM: &str = env!("CARGO_BIN_EXE_claudex-loop");

/// Changes the work tree, which the mode `review` reviews.
fn change_work_tree(project: &Project) -> std::io::Result<()> {
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
    Kit::new("machine.toml", program)
        .plugin("plugin")
        .project(change_work_tree)
}

#[test]
#[expect(clippy::print_stdout, reason = "the report is the test's output")]
fn plan_loop_passes_the_kit() {
    let report = kit(PROGRAM).quick().unwrap();
    println!("{report}");
    assert_eq!(report.unreached, ["errored"]);
}

/// A shell around the program that breaks the promise `$fault`.
const FAULTY: &str = r#"
state=.claude/claudex
case $fault:$1 in
writes-on-refusal:mark-done | writes-on-refusal:cancel)
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
    stop:'{"session_id":"'*) printf %s "$input" | "$real" "$@" ;;
    stop:*) echo '{"decision":"block","reason":"What was that?"}' ;;
    *) printf %s "$input" | "$real" "$@" ;;
    esac
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
*) exec "$real" "$@" ;;
esac
"#;

fn faulty(folder: &Path, fault: &str) -> String {
    let program = folder.join(fault);
    let text = format!("#!/bin/sh\nfault={fault}\nreal='{PROGRAM}'\n{FAULTY}");
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    program.to_str().unwrap().to_owned()
}

#[test]
fn faulty_program_fails_its_suite() {
    let folder = tempfile::tempdir().unwrap();
    for (fault, suite, message) in [
        ("writes-on-refusal", "refusals", "the document has changed"),
        ("loses-a-line", "walk", "no edge was taken"),
        ("blocks-on-garbage", "input", "it holds the agent"),
        (
            "takes-half-a-line-for-two",
            "kills",
            "lines of the journal were changed",
        ),
        (
            "writes-another-plugin",
            "plugin",
            "stale, since the machine or a text of it has changed",
        ),
    ] {
        let program = faulty(folder.path(), fault);
        let failure = kit(&program).quick().unwrap_err();
        assert_eq!(failure.suite, suite, "{fault}: {failure}");
        has(&failure.what, message);
    }
}
