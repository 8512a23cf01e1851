use std::os::unix::fs::PermissionsExt as _;

use std::cell::Cell;
use std::fs::{self, File};
use std::sync::Barrier;

use jiff::ToSpan;

use super::*;

/// A user's state folder, and the time that it is.
struct Home {
    folder: tempfile::TempDir,
    now: Timestamp,
}

impl Home {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            now: Timestamp::now(),
        }
    }

    fn base(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    fn store(&self, input: &Input) -> bool {
        store(input, PLUGIN, self.now, self.base()).unwrap()
    }

    /// The arguments, where there is something to take.
    fn take(&self, session: &str, command: &str) -> Option<String> {
        take(session, command, self.now, self.base())
            .unwrap()
            .map(|prompt| prompt.arguments)
    }

    /// The names in the folder, but for the lock.
    fn files(&self) -> Vec<String> {
        let folder = self.base().join("prompts");
        let names = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != ".lock").collect()
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
    event("UserPromptSubmit", prompt)
}

/// The expansion of the prompt that was submitted last.
fn expansion(name: &str, arguments: &str, prompt: &str) -> Input {
    Input {
        command_name: Some(name.into()),
        command_args: Some(arguments.into()),
        ..event("UserPromptExpansion", prompt)
    }
}

fn event(name: &str, prompt: &str) -> Input {
    Input {
        session_id: Some("s1".into()),
        hook_event_name: Some(name.into()),
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
fn arguments_come_back_byte_for_byte_and_once() {
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
fn line_ends_at_the_ends_are_not_part_of_the_arguments() {
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
        "/claudex:../../x y",
        "/claudex:Plan x",
        " /claudex:plan x",
        "say /claudex:plan x",
        "/claudexplan x",
    ] {
        assert!(!home.store(&submit(prompt)), "{prompt}");
    }
    assert!(!home.store(&expansion("plan", "x", "/other:plan x")));
    assert!(!home.store(&expansion("plan", "x", "/claudex:planner x")));
    assert!(!home.store(&expansion("other:plan", "x", "/claudex:plan x")));
    assert!(!home.store(&expansion("claudex:pl/an", "x", "")));
    assert!(!home.store(&Input {
        session_id: None,
        ..submit("/claudex:plan x")
    }));
    assert!(!home.store(&Input {
        agent_id: Some("a".into()),
        ..submit("/claudex:plan x")
    }));
    assert!(!home.store(&Input {
        hook_event_name: Some("Stop".into()),
        ..submit("/claudex:plan x")
    }));
    assert!(!home.store(&Input {
        hook_event_name: None,
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
fn another_session_or_command_gets_nothing_and_spoils_nothing() {
    let home = Home::new();
    assert_eq!(
        home.take("s1", "more"),
        None,
        "before anything was ever stored"
    );
    assert!(home.store(&submit("/claudex:more")));
    for (session, command) in [
        ("s2", "more"),
        ("s1", "plan"),
        ("", "more"),
        (" ", "more"),
        ("s1", "../more"),
        ("s1", ""),
    ] {
        assert_eq!(home.take(session, command), None, "{session:?} {command:?}");
    }
    assert_eq!(home.take("s1", "more").as_deref(), Some(""));
}

#[test]
fn the_second_event_replaces_the_first() {
    let home = Home::new();
    assert!(home.store(&submit("/claudex:plan raw")));
    assert!(home.store(&expansion("claudex:plan", "expanded", "/claudex:plan raw")));
    assert_eq!(home.files().len(), 1);
    assert_eq!(home.take("s1", "plan").as_deref(), Some("expanded"));
    assert_eq!(home.take("s1", "plan"), None);
}

#[test]
fn a_take_between_the_two_events_is_the_only_one() {
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
fn prompt_ids_tell_the_prompts_apart() {
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
fn after_ten_minutes_it_is_gone() {
    let mut home = Home::new();
    assert!(home.store(&submit("/claudex:plan x")));
    assert!(home.store(&Input {
        session_id: Some("s2".into()),
        ..submit("/claudex:plan x")
    }));
    home.now += 9.minutes();
    assert!(home.take("s2", "plan").is_some());
    home.now += 2.minutes();
    assert_eq!(home.take("s1", "plan"), None);
    assert!(home.files().is_empty(), "{:?}", home.files());
}

#[test]
fn it_is_the_time_in_the_record_that_counts() {
    let mut home = Home::new();
    home.now -= 11.minutes();
    assert!(home.store(&submit("/claudex:plan x")));
    home.now += 11.minutes();
    assert_eq!(
        home.take("s1", "plan"),
        None,
        "though the file itself is new"
    );
}

#[test]
fn nobody_else_can_read_it() {
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
    assert!(
        names[0].len() == 64 + "-plan.json".len() && names[0].ends_with("-plan.json"),
        "{names:?}"
    );
    assert_eq!(mode(&folder.join(&names[0])), 0o600);
}

#[test]
fn a_linked_folder_is_refused() {
    let home = Home::new();
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), home.base().join("prompts")).unwrap();
    let refused = store(&submit("/claudex:plan x"), PLUGIN, home.now, home.base());
    assert!(
        matches!(refused, Err(PromptError::Refused { .. })),
        "{refused:?}"
    );
    let refused = take("s1", "plan", home.now, home.base());
    assert!(
        matches!(refused, Err(PromptError::Refused { .. })),
        "{refused:?}"
    );
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn a_damaged_record_is_said_once_and_removed() {
    let home = Home::new();
    let damage: [fn(&Utf8Path); 3] = [
        |file| fs::write(file, "{\"command\": \"pl").unwrap(),
        |file| fs::write(file, [0xff; 10]).unwrap(),
        |file| {
            fs::remove_file(file).unwrap();
            std::os::unix::fs::symlink("/etc/passwd", file).unwrap();
        },
    ];
    for harm in damage {
        assert!(home.store(&submit("/claudex:plan x")));
        harm(&home.base().join("prompts").join(&home.files()[0]));
        let corrupt = take("s1", "plan", home.now, home.base());
        assert!(
            matches!(corrupt, Err(PromptError::Corrupt { .. })),
            "{corrupt:?}"
        );
        assert_eq!(home.take("s1", "plan"), None);
    }
}

#[test]
fn too_much_is_refused_and_a_megabyte_is_not() {
    let home = Home::new();
    let long = "\u{1}".repeat(MAX_ARGUMENTS);
    assert!(home.store(&submit(&format!("/claudex:plan {long}"))));
    assert_eq!(home.take("s1", "plan"), Some(long));
    let refused = store(
        &submit(&format!("/claudex:plan {}", "x".repeat(MAX_ARGUMENTS + 1))),
        PLUGIN,
        home.now,
        home.base(),
    );
    assert!(
        matches!(refused, Err(PromptError::TooLong { .. })),
        "{refused:?}"
    );
}

#[test]
fn of_many_who_take_at_once_one_gets_it() {
    let home = Home::new();
    assert!(home.store(&submit("/claudex:more")));
    let (base, now) = (home.base().to_owned(), home.now);
    let start = Barrier::new(8);
    let got = std::thread::scope(|scope| {
        let takers: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    start.wait();
                    take("s1", "more", now, &base).unwrap().is_some()
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

#[test]
fn a_holder_that_never_lets_go_is_named() {
    let home = Home::new();
    assert!(home.store(&submit("/claudex:plan x")));
    let file = File::open(home.base().join("prompts/.lock")).unwrap();
    let mut lock = fd_lock::RwLock::new(file);
    let _held = lock.write().unwrap();
    let busy = take("s1", "plan", home.now, home.base());
    assert!(matches!(busy, Err(PromptError::Busy { .. })), "{busy:?}");
}
