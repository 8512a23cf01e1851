//! An errand as people and agents meet it: a program that is called, a hook that answers, and a file that anybody may write into.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use claudex_testkit::has;
use serde_json::Value;

#[path = "../../../tests/support/example.rs"]
mod example;

/// A project with one errand in it, and notes below its state.
struct Desk(example::Project);

impl std::ops::Deref for Desk {
    type Target = example::Project;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

const NOTES: &str = "\n# Notes\r\n\n---\nphase: done\n\tThe top board is full.";

impl Desk {
    fn new() -> Self {
        let desk = Self(example::Project::new(env!("CARGO_BIN_EXE_errand")));
        let (code, said) = desk.run(&[
            "start",
            "--id",
            "shelf",
            "--result",
            "SHELF.md",
            "Sort it: all",
        ]);
        assert_eq!(code, Some(0), "{said}");
        desk
    }

    /// The same with what a person and an agent wrote into the file.
    fn with_notes() -> Self {
        let desk = Self::new();
        let theirs = desk.read().replace(
            "tags: []\n",
            "tags: [home]  # mine\nowner:\n    name: Ada\n    \"since when\": [2026, x]\n",
        );
        desk.write(&(theirs + NOTES));
        desk
    }

    fn read(&self) -> String {
        self.0.read("errands/shelf.md")
    }

    fn write(&self, text: &str) {
        std::fs::write(self.path("errands/shelf.md"), text).unwrap();
    }

    fn status(&self) -> Value {
        let (_, said) = self.run(&["status", "--json"]);
        let mut shown: Value =
            serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
        shown["loops"][0].take()
    }

    /// What of the file nobody but its writers wrote.
    fn theirs(&self) -> String {
        let text = self.read();
        let ours = |line: &&str| line.starts_with("  ") && !line.starts_with("    ");
        text.split_inclusive('\n')
            .filter(|line| !ours(line))
            .collect()
    }

    fn has(&self, parts: &[&str]) {
        let text = self.read();
        let missing = parts.iter().find(|part| !text.contains(*part));
        assert_eq!(missing, None, "{text}");
    }

    /// Says whether these bytes are kept.
    fn is_kept(&self, text: &str) -> bool {
        self.0.is_kept(".errand", text)
    }

    fn is_verified(&self) {
        let (code, said) = self.run(&["journal", "shelf", "--verify"]);
        assert_eq!(code, Some(0), "{said}");
    }
}

#[test]
fn an_errand_goes_its_way_and_nobodys_words_are_touched() {
    let desk = Desk::with_notes();
    let theirs = desk.theirs();
    let (decision, said) = desk.stop();
    assert_eq!(decision, "block");
    has(&said, "“Sort it: all”");
    has(&said, "SHELF.md");
    desk.has(&[
        "\nloop:\n  phase: working\n",
        "\n  reminders: 1\n",
        "\ntags: [home]  # mine\n",
    ]);
    assert_eq!(desk.theirs(), theirs);
    let edited = desk.read().replace("name: Ada", "name: Eve # now");
    desk.write(&edited.replace("# Notes", "# My notes"));
    let theirs = desk.theirs();
    std::fs::write(desk.path("SHELF.md"), "sorted\n").unwrap();
    assert_eq!(desk.stop().0, "approve");
    desk.has(&["\n  phase: done\n", "name: Eve # now", "# My notes"]);
    let state = |verb| desk.run(&["state", verb, "errands/shelf.md", "phase"]);
    assert_eq!(state("get"), (Some(0), "done\n".to_owned()));
    let added = desk.theirs().replacen(&theirs, "", 1);
    assert!(
        added.starts_with("\n\nIt is done: SHELF.md (20") && added.ends_with("Z).\n"),
        "{added:?}"
    );
    desk.is_verified();
}

#[test]
fn a_file_from_windows_stays_one() {
    let desk = Desk::new();
    let crlf = desk.read().replace('\n', "\r\n");
    desk.write(&format!("\u{feff}{crlf}no end"));
    desk.stop();
    let text = desk.read();
    assert!(text.starts_with("\u{feff}---\r\n") && text.ends_with("---\r\nno end"));
    desk.has(&["  reminders: 1\r\n"]);
    assert!(!text.replace("\r\n", "").contains('\n'), "{text:?}");
}

#[test]
fn a_phase_that_somebody_wrote_is_set_back_and_all_else_stays() {
    let desk = Desk::with_notes();
    let before = desk.read();
    for edit in [
        before.replace("  phase: working", "  phase: done"),
        before.replacen("loop:", "loop: {phase: done}\nloops:", 1),
        before.replace("  phase: working\n", ""),
        before.replace("  reminders: 0", "  reminders: 0\n  phase: done"),
    ] {
        desk.write(&edit);
        desk.stop();
        assert_eq!(desk.status()["phase"], "working", "{edit}");
        desk.has(&["# mine\n", "    name: Ada\n", NOTES]);
        assert!(desk.is_kept(&edit));
        desk.run(&["resume", "shelf"]);
    }
}

#[test]
fn what_the_machine_leaves_to_an_edit_is_taken_over_within_its_bounds() {
    let desk = Desk::with_notes();
    desk.write(
        &desk
            .read()
            .replace("  patience: 2", "  patience: 4 # I am patient"),
    );
    let (_, said) = desk.stop();
    has(&said, "taken over: patience: 4");
    desk.write(&desk.read().replace("  patience: 4", "  patience: 100"));
    let (_, said) = desk.stop();
    has(&said, "edited by hand (patience)");
    desk.has(&["  patience: 4 # I am patient\n", "  reminders: 2\n", NOTES]);
    desk.is_verified();
}

const FENCE: &str = "---\r\n# Mine.\r\nextra: {kept: yes}\r\ntitle: Paint it\r\nresult: FENCE.md\r\nloop:\r\n  phase: working # here\r\n  reminders: 1\r\n---\r\n# Notes\n";

#[test]
fn a_file_that_somebody_wrote_is_taken_up_where_it_says_that_it_is() {
    let desk = Desk::with_notes();
    for file in ["fence.md", "errands/gate.md"] {
        std::fs::write(desk.path(file), FENCE).unwrap();
        let (code, said) = desk.run(&["import", file]);
        assert_eq!(code, Some(0), "{said}");
        has(&said, "taken up in phase working");
        let id = file.trim_start_matches("errands/").trim_end_matches(".md");
        let text = std::fs::read_to_string(desk.path(&format!("errands/{id}.md"))).unwrap();
        let theirs = [
            "# Mine.\r\nextra: {kept: yes}\r\n",
            "  phase: working # here\r\n",
            "---\r\n# Notes\n",
        ];
        assert!(theirs.iter().all(|part| text.contains(part)), "{text}");
        has(&text, "  reminders: 1\r\n");
        has(&text, "  patience: 2\r\n");
        let (_, said) = desk.run(&["journal", id, "--json"]);
        has(&said, "\"what\":\"import\"");
        assert_eq!(desk.run(&["import", file]).0, Some(1), "once");
        assert_eq!(desk.run(&["journal", id, "--verify"]).0, Some(0));
    }
    assert_eq!(
        std::fs::read_to_string(desk.path("fence.md")).unwrap(),
        FENCE,
        "it is theirs"
    );
    assert!(desk.is_kept(FENCE), "what a loop’s own file replaced");
}

#[test]
fn a_file_that_cannot_be_taken_up_is_left_as_it_is() {
    let desk = Desk::new();
    let file = desk.path("errands/gate.md");
    for (from, to, why) in [
        (
            "phase: working",
            "phase: done",
            "its `phase` is “done”, and a loop goes on in working",
        ),
        (
            "phase: working",
            "step: working",
            "its `phase` is not there",
        ),
        (
            "reminders: 1",
            "reminders: many",
            "field `reminders` is `many`, where the machine expects a whole number",
        ),
        (
            "reminders: 1",
            "machine: plan",
            "it is a document of the machine plan",
        ),
        (
            "title: Paint it",
            "title: [",
            "the document cannot be read: ",
        ),
        ("---\r\n", "", "does not begin with `---`"),
    ] {
        let text = FENCE.replace(from, to);
        std::fs::write(&file, &text).unwrap();
        let (code, said) = desk.run(&["import", "errands/gate.md"]);
        assert_eq!(code, Some(1), "{said}");
        assert!(
            said.split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .contains(why),
            "{said}"
        );
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        assert!(!desk.path(".errand/gate").exists());
    }
    std::fs::write(&file, FENCE).unwrap();
    let agent = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")];
    let refused = desk
        .command(&["import", "errands/gate.md"])
        .envs(agent)
        .output()
        .unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert_eq!(desk.run(&["import", "nothing.md"]).0, Some(1));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), FENCE);
}

#[test]
fn frontmatter_that_nobody_can_read_is_written_anew_above_the_notes() {
    let desk = Desk::with_notes();
    let before = desk.read();
    let nested = "x: ".to_owned() + &"[".repeat(100_000) + "\nloop:";
    // Where not even the fences are left, the notes are in the quarantine.
    let torn = before.replacen("\n---\n", "\n", 1).replace("\n---\n", "\n");
    let all = &["    name: Ada\n", NOTES][..];
    for (damage, keeps) in [
        (before.replace("[home]", "[home"), all),
        (before.replace("loop:", &nested), all),
        (before.replacen("---\n", "---\n---\n", 1), &[NOTES]),
        (NOTES.to_owned(), &[NOTES]),
        (torn, &[]),
        ("no\0".to_owned(), &[]),
    ] {
        desk.write(&damage);
        let (decision, said) = desk.stop();
        assert_eq!(decision, "block", "{said}");
        assert_eq!(desk.status()["phase"], "working", "{said}");
        desk.has(&["\ntitle: \"Sort it: all\"\n"]);
        desk.has(keeps);
        assert!(desk.is_kept(&damage));
        desk.run(&["resume", "shelf"]);
    }
}

#[test]
fn a_file_that_may_not_be_written_is_no_trap() {
    let desk = Desk::with_notes();
    let folder = desk.path("errands");
    let set = |path: &PathBuf, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    set(&folder.join("shelf.md"), 0o444);
    // It is replaced, so its own mode refuses nothing; that of the folder does, but not to root.
    assert_eq!(desk.stop().0, "block");
    desk.has(&["  reminders: 1\n", NOTES]);
    let before = desk.read();
    set(&folder, 0o555);
    let is_root = std::fs::write(folder.join("probe"), "").is_ok();
    let (decision, said) = desk.stop();
    set(&folder, 0o755);
    assert!(
        is_root || decision == "approve" && said.contains("errand"),
        "{said}"
    );
    assert!(is_root || desk.read() == before);
    desk.has(&[NOTES]);
}

#[test]
fn several_errands_are_under_way_at_once_and_a_person_starts_each() {
    let desk = Desk::with_notes();
    assert_eq!(desk.stop().0, "block");
    let floor = ["start", "--id", "floor", "--result", "FLOOR.md", "Sweep"];
    let agent = [("CLAUDECODE", "1"), ("CLAUDE_CODE_SESSION_ID", "s")];
    let refused = desk.command(&floor).envs(agent).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    has(&said, "is started by a person");
    assert_eq!(desk.run(&floor).0, Some(0));
    let (_, said) = desk.run(&["drop"]);
    has(&said, "more than one loop is active: ");
    let (decision, said) = desk.stop();
    assert!(
        decision == "block" && said.contains("SHELF.md"),
        "the session’s own: {said}"
    );
    assert_eq!(desk.run(&["drop", "shelf"]).0, Some(0));
    desk.has(&["  phase: dropped\n", NOTES, "\nIt was dropped."]);
    desk.is_verified();
    let (decision, said) = desk.stop();
    assert!(
        decision == "block" && said.contains("FLOOR.md"),
        "nobody’s: {said}"
    );
}

#[test]
fn the_file_is_the_persons_and_git_may_track_it() {
    let desk = Desk::new();
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git")
            .args(arguments)
            .current_dir(desk.path(""))
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "-q"]);
    git(&["add", "-A"]);
    assert_eq!(git(&["ls-files"]), "errands/shelf.md\n");
    assert_eq!(desk.stop().0, "block");
    desk.has(&["  reminders: 1\n"]);
    let before = desk.read();
    let (code, said) = desk.run(&["rollback", "--yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(desk.read(), before);
    assert_eq!(desk.stop().0, "approve");
    let (code, said) = desk.run(&["start", "--id", "shelf", "--result", "S.md", "Again"]);
    assert_eq!(code, Some(1), "{said}");
    has(&said, "errands/shelf.md");
    has(&said, "import");
    let (code, said) = desk.run(&["import", "errands/shelf.md"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(desk.status()["phase"], "working");
    let beside = std::fs::read_dir(desk.path("errands")).unwrap().count();
    assert_eq!(beside, 1);
}

#[test]
fn a_file_on_another_file_system_is_refused_by_the_start() {
    let desk = Desk::new();
    let script = "mkdir other && mount -t tmpfs tmpfs errands 2>/dev/null || exit 77
        \"$0\" start --id gate --result GATE.md Paint it; code=$?; ls -A errands; exit $code";
    let ran = std::process::Command::new("unshare")
        .args(["-Urm", "sh", "-c", script, env!("CARGO_BIN_EXE_errand")])
        .current_dir(desk.path(""))
        .env_remove("CLAUDECODE")
        .env("HOME", desk.path("home"))
        .output()
        .unwrap();
    let said = String::from_utf8([ran.stdout, ran.stderr].concat()).unwrap();
    if ran.status.code() == Some(77) || said.starts_with("unshare: ") {
        return;
    }
    assert_eq!(ran.status.code(), Some(1), "{said}");
    let words: Vec<&str> = said.split_whitespace().collect();
    assert!(
        words
            .join(" ")
            .contains("gate.md is not on the file system of"),
        "{said}"
    );
    assert!(
        !desk.path(".errand/gate").exists() && !desk.path(".errand/gate.lock").exists(),
        "{said}"
    );
}

/// A project with errands of these ids, none of which a session has taken.
fn desk_with(ids: &[&str]) -> Desk {
    let desk = Desk(example::Project::new(env!("CARGO_BIN_EXE_errand")));
    for id in ids {
        let result = format!("{id}.txt");
        let (code, said) = desk.run(&["start", "--id", id, "--result", &result, "A thing to do"]);
        assert_eq!(code, Some(0), "{said}");
    }
    desk
}

impl Desk {
    /// Runs the program as a session's agent.
    fn agent(&self, session: &str, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = self.command(arguments);
        let command = command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_CODE_SESSION_ID", session);
        let output = command.output().unwrap();
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    }

    /// Stops as a session, and gives the errand that it drove.
    fn drives(&self, session: &str) -> Option<&'static str> {
        let (_, said) = self.stop_of(session);
        let named = |id: &&&str| {
            said.contains(&format!("{id}.txt")) || said.contains(&format!("loop {id} "))
        };
        ["lamp", "rug", "sofa"].iter().find(named).copied()
    }

    fn adopted(&self, session: &str, ids: &[&str]) {
        for id in ids {
            let (code, said) = self.agent(session, &["use", id]);
            assert_eq!(code, Some(0), "{said}");
            assert_eq!(self.drives(session), Some(*id));
        }
    }
}

#[test]
fn a_stop_drives_the_errand_that_was_chosen_until_it_is_over() {
    let desk = desk_with(&["lamp", "rug", "sofa"]);
    desk.adopted("s", &["sofa", "rug", "lamp"]);
    // What was chosen stays chosen, whatever else is changed.
    assert_eq!(desk.run(&["resume", "sofa"]).0, Some(0));
    assert_eq!(desk.drives("s"), Some("lamp"));
    let (_, said) = desk.run(&["status", "sofa"]);
    has(&said, "session:   s (its stops drive loop lamp)");
    let (_, said) = desk.agent("s", &["status", "lamp"]);
    has(&said, "session:   s (its stops drive this loop)");
    // A person chooses in a terminal, for the session that has the errand.
    let (code, said) = desk.run(&["use", "rug"]);
    assert_eq!(code, Some(0));
    has(&said, "The stops of session s drive loop rug now");
    assert_eq!(desk.drives("s"), Some("rug"));
    std::fs::write(desk.path("rug.txt"), "here\n").unwrap();
    assert_eq!(desk.drives("s"), Some("rug"), "it is over now");
    // Then it is the one that was changed last.
    for id in ["sofa", "lamp", "sofa"] {
        assert_eq!(desk.run(&["resume", id]).0, Some(0));
        assert_eq!(desk.drives("s"), Some(id));
    }
    let (_, said) = desk.run(&["status", "--json"]);
    let shown: Value = serde_json::from_str(&said).unwrap();
    for one in shown["loops"].as_array().unwrap() {
        assert_eq!(one["driven"], "sofa", "{one}");
    }
}

#[test]
fn what_cannot_be_chosen_is_refused_with_what_there_is() {
    let desk = desk_with(&["lamp", "rug", "sofa"]);
    desk.adopted("s", &["lamp"]);
    desk.adopted("t", &["sofa"]);
    for (arguments, code, why) in [
        (&["use"][..], 2, "which loop is to be driven?"),
        (&["use", "rgu"], 1, "there is no loop rgu"),
        (&["use", "../x"], 2, "is not the id of a loop"),
    ] {
        let (exit, said) = desk.agent("s", arguments);
        assert_eq!(exit, Some(code), "{said}");
        has(&said, why);
        has(&said, "errand use lamp");
        has(&said, "errand use rug");
        assert!(
            !said.contains("errand use sofa"),
            "it is another session's: {said}"
        );
    }
    let (code, said) = desk.agent("s", &["use", "sofa"]);
    assert_eq!(code, Some(1));
    has(&said, "belongs to another session");
    has(&said, "errand adopt sofa");
    let (code, said) = desk.run(&["use", "rug"]);
    assert_eq!(code, Some(1));
    has(&said, "loop rug belongs to no session yet");
    std::fs::write(desk.path("lamp.txt"), "here\n").unwrap();
    desk.stop();
    let (code, said) = desk.agent("s", &["use", "lamp"]);
    assert_eq!(code, Some(1));
    has(&said, "loop lamp is over");
    assert_eq!(desk.drives("t"), Some("sofa"));
}

#[test]
fn a_record_of_the_choice_that_cannot_be_read_chooses_nothing() {
    let desk = desk_with(&["lamp", "rug"]);
    desk.adopted("s", &["rug", "lamp"]);
    let folder = desk.path("../home/.local/state/errand/sessions");
    let records = std::fs::read_dir(folder)
        .unwrap()
        .map(|one| one.unwrap().path());
    let records: Vec<PathBuf> = records
        .filter(|path| {
            let name = path.file_name().unwrap();
            name.to_str().unwrap().starts_with("loop-")
        })
        .collect();
    assert_eq!(records.len(), 1);
    let kept = std::fs::read_to_string(&records[0]).unwrap();
    assert_eq!(desk.run(&["resume", "rug"]).0, Some(0));
    for (bytes, driven) in [
        ("{\"folder\": 7}", "rug"),
        ("", "rug"),
        (kept.as_str(), "lamp"),
        (&kept.replace("lamp", "../x"), "lamp"),
    ] {
        std::fs::write(&records[0], bytes).unwrap();
        assert_eq!(desk.drives("s"), Some(driven), "{bytes}");
    }
}

#[test]
fn what_is_paid_is_data_in_the_same_change_and_a_hand_that_edits_it_is_undone() {
    let desk = Desk::with_notes();
    let theirs = desk.theirs().replace("costs: []", "costs:");
    assert_eq!(desk.run(&["pay", "12.5", "two: \"screws\""]).0, Some(0));
    assert_eq!(desk.run(&["pay", "3", "nails", "--id", "shelf"]).0, Some(0));
    let costs = "costs:\n  - {\"what\":\"two: \\\"screws\\\"\",\"amount\":12.5}\n  - {\"what\":\"nails\",\"amount\":3.0}\n";
    desk.has(&[
        costs,
        "\n  payments: 2\n",
        "\nPaid 3.00 for nails.\n",
        "owner:\n    name: Ada\n",
    ]);
    assert!(
        desk.theirs().starts_with(theirs.trim_end()),
        "{}",
        desk.theirs()
    );
    let shown = desk.status();
    assert_eq!(shown["shows"]["paid"], "15.50");
    assert_eq!(shown["fields"]["costs"][1]["amount"], 3.0);
    assert_eq!(shown["last_change"]["by"], "person");

    // Data is the machine's: nobody else changes it, and what somebody wrote is kept.
    let edited = desk.read().replace("\"amount\":12.5", "\"amount\":0");
    desk.write(&edited);
    assert_eq!(desk.status()["shows"]["paid"], "15.50");
    desk.has(&[costs]);
    assert!(desk.is_kept(&edited));
    let (code, said) = desk.run(&["pay", "much", "x"]);
    assert!(code != Some(0) && said.contains("invalid value"), "{said}");
    assert_eq!(desk.run(&["drop"]).0, Some(0));
    let over = desk.read();
    let (code, said) = desk.run(&["pay", "1", "x", "--id", "shelf"]);
    assert!(
        code == Some(1) && said.contains("errand shelf is over"),
        "{code:?} {said}"
    );
    assert_eq!(desk.read(), over);
    desk.is_verified();
}

#[test]
fn a_document_with_data_of_another_kind_is_taken_up_by_nobody() {
    let desk = Desk::new();
    let other = desk.read().replace("costs: []", "costs: {much: 1}");
    std::fs::write(
        desk.path("errands/other.md"),
        other.replace("id: shelf", "id: other"),
    )
    .unwrap();
    let (code, said) = desk.run(&["import", "errands/other.md"]);
    assert_eq!(code, Some(1), "{said}");
    has(
        &said,
        "field `costs` is ‘{”much”:1}’, where the machine expects what `Costs` can be read from",
    );
}
