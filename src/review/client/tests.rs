use super::super::settings::ReviewerKind;
use super::*;

fn settings(sandbox: SandboxPolicy) -> ReviewerSettings {
    ReviewerSettings {
        sandbox,
        ..ReviewerSettings::of(ReviewerKind::Claude)
    }
}

type Wrapped = Result<Option<(Utf8PathBuf, Vec<String>)>, Cause>;

/// What becomes of a call, and what a watcher was told.
fn sandboxed(
    found: &Sandbox,
    policy: SandboxPolicy,
    answer: ControlFlow<()>,
) -> (Wrapped, Vec<String>) {
    let settings = settings(policy);
    let client = Client {
        settings: &settings,
        program: "claude",
        variables: &[],
        own_sandbox: false,
    };
    let mut told = Vec::new();
    let wrapped = client.sandboxed(
        found,
        Utf8Path::new("/p"),
        "/bin/claude",
        &["-p".to_owned()],
        &mut |event| {
            if let Event::Line { text, .. } = event {
                told.push(text.to_owned());
            }
            answer
        },
    );
    (wrapped, told)
}

const GO_ON: ControlFlow<()> = ControlFlow::Continue(());

#[test]
fn a_sandbox_that_works_is_used_without_a_word() {
    let works = Sandbox::Works {
        program: "/usr/bin/bwrap".into(),
    };
    for policy in [SandboxPolicy::Auto, SandboxPolicy::Required] {
        let (wrapped, told) = sandboxed(&works, policy, GO_ON);
        let (program, arguments) = wrapped.unwrap().unwrap();
        assert_eq!(program, "/usr/bin/bwrap");
        assert_eq!(
            arguments[arguments.len() - 3..],
            ["--", "/bin/claude", "-p"]
        );
        assert!(told.is_empty());
    }
}

#[test]
fn a_sandbox_that_is_required_and_missing_is_a_cause() {
    let (wrapped, told) = sandboxed(&Sandbox::NotInstalled, SandboxPolicy::Required, GO_ON);
    let said = "the sandbox that the configuration requires is missing; install bubblewrap, or set sandbox to auto";
    assert_eq!(
        wrapped.unwrap_err().to_string(),
        format!("{said}: bubblewrap (`bwrap`) is not installed")
    );
    assert!(told.is_empty());
}

#[test]
fn without_one_the_run_goes_on_and_says_so_unless_the_watcher_stops_it() {
    let fails = Sandbox::Fails {
        why: "no namespaces".to_owned(),
    };
    let (wrapped, told) = sandboxed(&fails, SandboxPolicy::Auto, GO_ON);
    assert_eq!(wrapped, Ok(None));
    assert_eq!(
        told,
        ["no sandbox: bubblewrap does not work here: no namespaces"]
    );
    let (wrapped, _) = sandboxed(&fails, SandboxPolicy::Auto, ControlFlow::Break(()));
    assert_eq!(wrapped.unwrap_err().kind, CauseKind::Stopped);
}

#[test]
fn a_status_of_the_sandbox_that_means_a_signal_is_one() {
    assert!(matches!(
        out_of_sandbox(ProcessEnd::Exited(139)),
        ProcessEnd::Signalled(11)
    ));
    for status in [0, 1, 127, 128, 193, 255] {
        assert!(
            matches!(out_of_sandbox(ProcessEnd::Exited(status)), ProcessEnd::Exited(same) if same == status)
        );
    }
}

#[test]
fn lines_of_progress_are_short_and_plain() {
    let root = Utf8Path::new("/p q");
    assert_eq!(shown_path("/p q/src/a\u{202e}.rs", root), "src/a.rs");
    assert_eq!(shown_path("/p q", root), "/p q");
    assert_eq!(shown_path("/p quiet/x", root), "/p quiet/x");
    assert_eq!(said("**I look.**\nMore"), Some("I look.".to_owned()));
    for answer in [
        "",
        " \n",
        "{\"verdict\"",
        "[1]",
        "```json",
        "# Round 1 findings",
    ] {
        assert_eq!(said(answer), None, "{answer}");
    }
    assert_eq!(shown(&"x".repeat(1000)).chars().count(), SHOWN);
}
