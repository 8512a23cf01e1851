use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Barrier;
use std::time::SystemTime;

use super::*;

/// The plugin whose commands are ours here.
const PLUGIN: &str = "claudex";

/// A user's folder of the program.
struct Home {
    folder: tempfile::TempDir,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn base(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    fn store(&self, input: &Input) -> bool {
        store(input, PLUGIN, self.base()).unwrap()
    }

    fn take(&self, session: &str, command: &str) -> Option<String> {
        take(session, command, self.base()).unwrap()
    }

    /// Returns the paths in the folder.
    fn files(&self) -> Vec<camino::Utf8PathBuf> {
        let folder = self.base().join("prompts").read_dir_utf8().unwrap();
        folder.map(|entry| entry.unwrap().into_path()).collect()
    }

    /// Lets time pass for all records.
    fn age(&self, minutes: u64) {
        for path in self.files() {
            let file = File::options().write(true).open(path).unwrap();
            let age = Duration::from_secs(minutes * 60);
            file.set_modified(SystemTime::now() - age).unwrap();
        }
    }
}

/// Returns a submitted prompt with this id.
fn submit(id: &str, prompt: &str) -> Input {
    Input {
        session_id: Some("s1".into()),
        event: Some(Event::UserPromptSubmit),
        prompt: Some(prompt.into()),
        prompt_id: Some(id.into()),
        ..Input::default()
    }
}

/// Returns the expansion of the prompt with this id.
fn expand(id: &str, name: &str, arguments: &str, prompt: &str) -> Input {
    Input {
        event: Some(Event::UserPromptExpansion),
        command_name: Some(name.into()),
        command_args: Some(arguments.into()),
        ..submit(id, prompt)
    }
}

#[test]
fn arguments_come_back_byte_for_byte_once() {
    let long = "\u{1}".repeat(1024 * 1024);
    for arguments in [
        "--rounds 2 fix it; $(x)",
        "  two  blanks  ",
        "\"q\" 'q' `q` \\ \u{1b}[2J \u{202e} ü\tx\r\ny",
        "",
        "\u{a0}x",
        &long,
    ] {
        for input in [
            submit("p1", &format!("/claudex:plan {arguments}")),
            expand("p1", "claudex:plan", arguments, ""),
        ] {
            let home = Home::new();
            assert!(home.store(&input));
            assert_eq!(home.take("s1", "plan").as_deref(), Some(arguments));
            assert_eq!(home.take("s1", "plan"), None, "{arguments:.40?}");
        }
    }
}

#[test]
fn arguments_lose_line_ends_at_the_ends() {
    let home = Home::new();
    assert!(home.store(&submit("p1", "/claudex:plan\r\nfirst\nsecond\n")));
    assert_eq!(home.take("s1", "plan").as_deref(), Some("first\nsecond"));
    assert!(home.store(&submit("p2", "/claudex:plan")));
    assert_eq!(home.take("s1", "plan").as_deref(), Some(""));
}

#[test]
fn only_our_own_commands_are_stored() {
    let ours = || submit("p1", "/claudex:plan x");
    let mut others = [
        "fix the plan",
        "/plan x",
        "/other:plan x",
        "/claudex: plan",
        " /claudex:plan x",
        "say /claudex:plan x",
        "/claudexplan x",
    ]
    .map(|prompt| submit("p1", prompt))
    .to_vec();
    others.extend([
        expand("p1", "plan", "x", "/other:plan x"),
        expand("p1", "plan", "x", "/claudex:planner x"),
        expand("p1", "other:plan", "x", "/claudex:plan x"),
        Input {
            session_id: None,
            ..ours()
        },
        Input {
            agent_id: Some("a".into()),
            ..ours()
        },
        Input {
            event: Some(Event::PostToolUse),
            ..ours()
        },
        Input {
            event: None,
            ..ours()
        },
        Input {
            prompt_id: None,
            ..ours()
        },
    ]);
    let home = Home::new();
    for other in others {
        assert!(!home.store(&other), "{other:?}");
    }
    assert_eq!(fs::read_dir(home.base()).unwrap().count(), 0);

    // A bare name, typed with ours before it.
    assert!(home.store(&expand("p1", "plan", "x", "/claudex:plan x")));
    assert_eq!(home.take("s1", "plan").as_deref(), Some("x"));
}

#[test]
fn other_session_or_command_takes_nothing() {
    let home = Home::new();
    assert_eq!(home.take("s1", "more"), None);
    assert!(home.store(&submit("p1", "/claudex:more")));
    for (session, command) in [("s2", "more"), ("s1", "plan"), ("", "more")] {
        assert_eq!(home.take(session, command), None, "{session:?} {command:?}");
    }
    assert_eq!(home.take("s1", "more").as_deref(), Some(""));
}

#[test]
fn expansion_without_a_prompt_id_is_stored() {
    let home = Home::new();
    assert!(home.store(&Input {
        prompt_id: None,
        ..expand("", "claudex:plan", "x", "")
    }));
    assert_eq!(home.take("s1", "plan").as_deref(), Some("x"));
}

#[test]
fn two_events_of_a_prompt_count_once() {
    let home = Home::new();
    let submitted = |id| submit(id, "/claudex:more raw");
    let expanded = |id| expand(id, "claudex:more", "expanded", "");
    assert!(home.store(&submitted("p1")));
    assert!(home.store(&expanded("p1")));
    assert_eq!(home.files().len(), 1);
    assert_eq!(home.take("s1", "more").as_deref(), Some("expanded"));

    // Taken in between, in both orders of the events.
    for (first, second) in [
        (submitted("p2"), expanded("p2")),
        (expanded("p3"), submitted("p3")),
    ] {
        assert!(home.store(&first));
        assert!(home.take("s1", "more").is_some());
        assert!(!home.store(&second) && !home.store(&first));
        assert_eq!(home.take("s1", "more"), None);
    }
}

#[test]
fn record_expires_after_ten_minutes() {
    let home = Home::new();
    assert!(home.store(&submit("p1", "/claudex:plan x")));
    home.age(9);
    assert!(home.take("s1", "plan").is_some());

    assert!(home.store(&submit("p2", "/claudex:plan x")));
    home.age(11);
    assert_eq!(home.take("s1", "plan"), None);
    assert!(home.store(&submit("p3", "/claudex:more")));
    assert_eq!(home.files().len(), 1, "older files are removed");
}

#[test]
fn record_is_the_users_alone() {
    let home = Home::new();
    let folder = home.base().join("prompts");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(home.store(&submit("p1", "/claudex:plan x")));
    let mode = |path: &Utf8Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&home.files()[0])), (0o700, 0o600));

    let linked = Home::new();
    std::os::unix::fs::symlink(&folder, linked.base().join("prompts")).unwrap();
    assert!(store(&submit("p2", "/claudex:plan x"), PLUGIN, linked.base()).is_err());
    assert_eq!(linked.take("s1", "plan"), None);
}

#[test]
fn damaged_record_is_not_taken() {
    let home = Home::new();
    for (id, damage) in [("p1", &b"{\"arguments\": \"pl"[..]), ("p2", &[0xff; 10])] {
        assert!(home.store(&submit(id, "/claudex:plan x")));
        fs::write(&home.files()[0], damage).unwrap();
        assert_eq!(home.take("s1", "plan"), None);
    }
}

#[test]
fn record_taken_at_once_is_taken_by_one() {
    let home = Home::new();
    assert!(home.store(&submit("p1", "/claudex:more")));
    let base = home.base();
    let start = Barrier::new(8);
    let take = || {
        start.wait();
        take("s1", "more", base).unwrap().is_some()
    };
    let first_count = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
        let results = takers.into_iter().map(|taker| taker.join().unwrap());
        results.filter(|is_first| *is_first).count()
    });
    assert_eq!(first_count, 1);
}
