//! What must break nothing: input that is none, texts that mean something elsewhere, and files that were touched by hand.

use claudex_testkit::has;

use crate::support::{Yard, snapshot};

#[test]
fn a_version_is_a_text_and_nothing_else() {
    for version in [
        "it's \"1.0\" $(touch pwned) `touch pwned` ; touch pwned",
        "{{ id }} {% for %} {version}",
        "line\none\r\ntwo\ttab",
        "\u{202e}0.1\u{202c} \u{1b}[2J é 計画",
        "---\nphase: done\nsession: x",
        "--soak",
    ] {
        let yard = Yard::new();
        yard.done(&["start", "hotfix", "--version", version]);
        let shown = yard.status();
        assert_eq!(shown["phase"], "building", "{version}");
        let (_, said) = yard.stop();
        assert!(
            !said.contains('\u{202e}') && !said.contains('\u{1b}'),
            "{said:?}"
        );
        has(&said, "failed (time 1 of 3)");
        yard.write("built");
        yard.blocks();
        yard.blocks();
        assert_eq!(yard.phase(), "approving", "{version}");
        let names = snapshot(&yard.path);
        assert!(
            !names.iter().any(|(path, _)| path.ends_with("pwned")),
            "{version}"
        );
        for command in [&["status"] as &[&str], &["list"], &["journal"]] {
            let shown = yard.done(command);
            assert!(
                !shown.chars().any(|c| c.is_control() && c != '\n') && !shown.contains('\u{202e}'),
                "{shown:?}"
            );
        }
    }
}

#[test]
fn a_version_that_is_a_path_leads_nowhere_else_and_a_question_is_one_line() {
    let (yard, _) = Yard::approving("../../x\ny");
    let told = yard.answered(&yard.dialog("Roll ../../x y out to everyone?", "Roll out"));
    assert!(told.is_some());
    let said = yard.approves_in_two();
    has(&said, "waits for");
}

impl Yard {
    /// A reminder, then the line for the person.
    fn approves_in_two(&self) -> String {
        self.blocks();
        self.approves()
    }
}

#[test]
fn what_a_flooding_build_wrote_last_is_what_the_agent_is_shown() {
    let yard = Yard::new();
    yard.configure(
        "[commands.build]\nprogram = \"sh\"\narguments = [\"-c\", \"yes | head -c 6000000; echo; echo the reason; exit 3\"]\ntimeout = \"2m\"\n",
    );
    yard.start("hotfix", "1.0");
    let said = yard.blocks();
    has(&said, "the reason");
    has(&said, "exit status 3");
    assert!(said.chars().count() < 9_000);
}

#[test]
fn project_file_and_wrong_path_run_nothing() {
    let yard = Yard::new();
    yard.start("hotfix", "1.0");
    let own = yard.path.join(".claude/release-train.toml");
    std::fs::create_dir(yard.path.join(".claude")).unwrap();
    std::fs::write(
        &own,
        "[commands.build]\nprogram = \"touch\"\narguments = [\"ran\"]\n",
    )
    .unwrap();
    has(&yard.blocks(), "The build of 1.0 failed");
    std::fs::remove_file(&own).unwrap();
    yard.configure("[commands.build]\nprogram = \"./mine\"\n");
    let said = yard.approves();
    has(&said, "config.toml:2:1: ‘./mine’ is a relative path");
    assert!(!yard.path.join("ran").exists());
}
