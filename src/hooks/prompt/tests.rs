use std::cell::Cell;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Barrier;
use std::time::SystemTime;

use super::*;

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

/// The plugin whose commands are ours here.
const PLUGIN: &str = "claudex";

thread_local! {
    /// How many prompts this test has submitted.
    static PROMPTS: Cell<u32> = const { Cell::new(0) };
}

/// A prompt, with an id of its own as the client gives it.
fn submit(prompt: &str) -> Input {
    PROMPTS.set(PROMPTS.get() + 1);
    input(Event::UserPromptSubmit, prompt)
}

/// The expansion of the prompt that was submitted last.
fn expansion(name: &str, arguments: &str, prompt: &str) -> Input {
    Input {
        command_name: Some(name.into()),
        command_args: Some(arguments.into()),
        ..input(Event::UserPromptExpansion, prompt)
    }
}

fn input(event: Event, prompt: &str) -> Input {
    Input {
        session_id: Some("s1".into()),
        event: Some(event),
        prompt: Some(prompt.into()),
        prompt_id: Some(format!("prompt-{}", PROMPTS.get())),
        ..Input::default()
    }
}

fn with_id(input: Input, id: &str) -> Input {
    Input {
        prompt_id: Some(id.into()),
        ..input
    }
}

#[test]
fn arguments_come_back_byte_for_byte_once() {
    for arguments in [
        "--rounds 2 fix it; $(x)",
        "  two  blanks  ",
        "\"q\" 'q' `q` \\ \u{1b}[2J \u{202e} ü\tx\r\ny",
        "",
        "\u{a0}x",
    ] {
        let home = Home::new();
        assert!(home.store(&submit(&format!("/claudex:plan {arguments}"))));
        assert_eq!(home.take("s1", "plan").as_deref(), Some(arguments));
        assert_eq!(
            home.take("s1", "plan"),
            None,
            "{arguments:?} was given out twice"
        );

        let home = Home::new();
        assert!(home.store(&expansion("claudex:plan", arguments, "")));
        assert_eq!(home.take("s1", "plan").as_deref(), Some(arguments));
        assert_eq!(home.take("s1", "plan"), None);
    }
}

#[test]
fn arguments_lose_line_ends_at_the_ends() {
    let home = Home::new();
    assert!(home.store(&submit("/claudex:plan\r\nfirst\nsecond\n")));
    assert_eq!(home.take("s1", "plan").as_deref(), Some("first\nsecond"));
    assert!(home.store(&submit("/claudex:plan")));
    assert_eq!(home.take("s1", "plan").as_deref(), Some(""));
}

#[test]
fn only_our_own_commands_are_stored() {
    let home = Home::new();
    for prompt in [
        "fix the plan",
        "/plan x",
        "/other:plan x",
        "/claudex: plan",
        " /claudex:plan x",
        "say /claudex:plan x",
        "/claudexplan x",
    ] {
        assert!(!home.store(&submit(prompt)), "{prompt}");
    }
    assert!(!home.store(&expansion("plan", "x", "/other:plan x")));
    assert!(!home.store(&expansion("plan", "x", "/claudex:planner x")));
    assert!(!home.store(&expansion("other:plan", "x", "/claudex:plan x")));
    assert!(!home.store(&Input {
        session_id: None,
        ..submit("/claudex:plan x")
    }));
    assert!(!home.store(&Input {
        agent_id: Some("a".into()),
        ..submit("/claudex:plan x")
    }));
    assert!(!home.store(&Input {
        event: Some(Event::PostToolUse),
        ..submit("/claudex:plan x")
    }));
    assert!(!home.store(&Input {
        event: None,
        ..submit("/claudex:plan x")
    }));
    assert_eq!(
        fs::read_dir(home.base()).unwrap().count(),
        0,
        "nothing of ours, nothing made"
    );

    assert!(
        home.store(&expansion("plan", "x", "/claudex:plan x")),
        "a bare name, typed with ours before it"
    );
    assert_eq!(home.take("s1", "plan").as_deref(), Some("x"));
}

#[test]
fn other_session_or_command_takes_nothing() {
    let home = Home::new();
    assert_eq!(
        home.take("s1", "more"),
        None,
        "before anything was ever stored"
    );
    assert!(home.store(&submit("/claudex:more")));
    for (session, command) in [("s2", "more"), ("s1", "plan"), ("", "more")] {
        assert_eq!(home.take(session, command), None, "{session:?} {command:?}");
    }
    assert_eq!(home.take("s1", "more").as_deref(), Some(""));
}

#[test]
fn expansion_without_a_prompt_id_is_stored() {
    let home = Home::new();
    let without_id = |input: Input| Input {
        prompt_id: None,
        ..input
    };
    assert!(!home.store(&without_id(submit("/claudex:plan x"))));
    assert!(home.store(&without_id(expansion("claudex:plan", "x", ""))));
    assert_eq!(home.take("s1", "plan").as_deref(), Some("x"));
    assert_eq!(home.take("s1", "plan"), None);
}

#[test]
fn second_event_replaces_the_first() {
    let home = Home::new();
    assert!(home.store(&submit("/claudex:plan raw")));
    assert!(home.store(&expansion("claudex:plan", "expanded", "/claudex:plan raw")));
    assert_eq!(home.files().len(), 1);
    assert_eq!(home.take("s1", "plan").as_deref(), Some("expanded"));
    assert_eq!(home.take("s1", "plan"), None);
}

#[test]
fn prompt_taken_between_its_events_is_not_stored_again() {
    let home = Home::new();
    assert!(home.store(&submit("/claudex:more x")));
    assert!(home.take("s1", "more").is_some());
    assert!(!home.store(&expansion("claudex:more", "x", "/claudex:more x")));
    assert_eq!(home.take("s1", "more"), None);

    // Typed again, it is a new command.
    assert!(home.store(&submit("/claudex:more x")));
    assert!(home.take("s1", "more").is_some());
    assert!(!home.store(&expansion("claudex:more", "x", "/claudex:more x")));
    assert_eq!(home.take("s1", "more"), None);
}

#[test]
fn prompts_are_told_apart_by_their_ids() {
    let home = Home::new();
    assert!(home.store(&with_id(submit("/claudex:more"), "p1")));
    assert!(home.take("s1", "more").is_some());
    assert!(
        !home.store(&with_id(submit("/claudex:more"), "p1")),
        "the same event again"
    );
    assert!(
        home.store(&with_id(expansion("claudex:more", "", ""), "p2")),
        "another prompt"
    );
    assert!(home.take("s1", "more").is_some());
    assert!(
        !home.store(&with_id(submit("/claudex:more"), "p2")),
        "the events in the other order"
    );
    assert_eq!(home.take("s1", "more"), None);
}

#[test]
fn record_expires_after_ten_minutes() {
    let home = Home::new();
    assert!(home.store(&submit("/claudex:plan x")));
    home.age(9);
    assert!(home.take("s1", "plan").is_some());

    assert!(home.store(&submit("/claudex:plan x")));
    home.age(11);
    assert_eq!(home.take("s1", "plan"), None);
    assert!(home.store(&submit("/claudex:more")));
    assert_eq!(home.files().len(), 1, "older files are removed");
}

#[test]
fn record_is_readable_by_its_owner_only() {
    let home = Home::new();
    let folder = home.base().join("prompts");
    fs::create_dir_all(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
    assert!(home.store(&submit("/claudex:plan x")));
    let mode = |path: &Utf8Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(
        (mode(&folder), mode(folder.parent().unwrap())),
        (0o700, 0o700)
    );
    let names = home.files();
    assert_eq!(names.len(), 1);
    assert_eq!(mode(&names[0]), 0o600);
}

#[test]
fn linked_folder_is_refused() {
    let home = Home::new();
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = home.base().join("prompts");
    std::os::unix::fs::symlink(elsewhere.path(), &folder).unwrap();
    let refused = store(&submit("/claudex:plan x"), PLUGIN, home.base()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "{folder} is not trusted: it is a symlink; remove it, or put what it leads to in its place"
        )
    );
    assert_eq!(home.take("s1", "plan"), None);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn damaged_record_is_not_taken() {
    let home = Home::new();
    for damage in [&b"{\"arguments\": \"pl"[..], &[0xff; 10]] {
        assert!(home.store(&submit("/claudex:plan x")));
        fs::write(&home.files()[0], damage).unwrap();
        assert_eq!(home.take("s1", "plan"), None);
    }
}

#[test]
fn megabyte_of_control_characters_is_stored() {
    let home = Home::new();
    let long = "\u{1}".repeat(1024 * 1024);
    assert!(home.store(&submit(&format!("/claudex:plan {long}"))));
    assert_eq!(home.take("s1", "plan"), Some(long));
}

#[test]
fn record_taken_at_once_is_taken_by_one() {
    let home = Home::new();
    assert!(home.store(&submit("/claudex:more")));
    let base = home.base();
    let start = Barrier::new(8);
    let got = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    take("s1", "more", base).unwrap().is_some()
                })
            })
            .collect();
        takers
            .into_iter()
            .filter_map(|taker| taker.join().unwrap().then_some(()))
            .count()
    });
    assert_eq!(got, 1);
}
