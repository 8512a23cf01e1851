//! Batches whose state other programs read and write into, as people and agents meet them.

#[path = "../../../tests/support/example.rs"]
mod example;

use claudex_testkit::has;
use example::Project;
use serde_json::{Value, json};

const STATE: &str = ".batches/tables.json";

fn started() -> Project {
    let project = Project::new(env!("CARGO_BIN_EXE_batches"));
    let (code, said) = project.run(&[
        "start",
        "--id",
        "tables",
        "--batches",
        "2",
        "Move the tables",
    ]);
    assert_eq!(code, Some(0), "{said}");
    project
}

fn state(project: &Project) -> Value {
    serde_json::from_str(&project.read(STATE)).unwrap()
}

fn write(project: &Project, file: &str, text: &str) {
    std::fs::write(project.path(file), text).unwrap();
}

/// What another program keeps in the document: as it stands, behind the machine's own.
const THEIRS: &str =
    "\n  \"owner\": {\"name\": \"Ada\", \"since\": [2026.10, null]},\n  \"rate\": 1.50\n}\n";

fn with_theirs(project: &Project) -> String {
    let text = project.read(STATE);
    let text = format!(
        "{},{THEIRS}",
        text.trim_end().trim_end_matches('}').trim_end()
    );
    write(project, STATE, &text);
    text
}

#[test]
fn batches_go_their_way_and_keys_of_others_stay_as_they_stand() {
    let project = started();
    with_theirs(&project);
    let (decision, said) = project.stop();
    assert!(decision == "block", "{said}");
    has(&said, "Batch 1 of 2 of “Move the tables”");
    write(&project, "tables-1.md", "moved\n");
    let (_, said) = project.stop();
    has(&said, "Batch 2 of 2");
    assert_eq!(
        (&state(&project)["batch"], &state(&project)["reminders"]),
        (&json!(2), &json!(0))
    );
    write(&project, "tables-2.md", "moved\n");
    assert_eq!(project.stop().0, "approve");
    let text = project.read(STATE);
    assert!(
        text.starts_with("{\n  \"what\": \"Move the tables\",\n  \"batches\": 2,"),
        "{text}"
    );
    assert!(text.ends_with(THEIRS), "{text}");
    assert_eq!(state(&project)["phase"], "done");
    assert_eq!(project.run(&["journal", "tables", "--verify"]).0, Some(0));
}

#[test]
fn an_edit_is_taken_over_within_its_bounds_and_any_other_is_set_back() {
    let project = started();
    let before = with_theirs(&project);
    write(
        &project,
        STATE,
        &before.replace("\"batches\": 2", "\"batches\": 3"),
    );
    let (_, said) = project.stop();
    has(&said, "taken over: batches: 3");
    has(&said, "Batch 1 of 3");
    for (from, to) in [
        ("\"batches\": 3", "\"batches\": \"all\""),
        ("\"batch\": 1", "\"batch\": 3"),
        ("working", "done"),
    ] {
        let edited = project.read(STATE).replacen(from, to, 1);
        write(&project, STATE, &edited);
        project.stop();
        let now = state(&project);
        assert_eq!(
            (&now["batches"], &now["batch"], &now["phase"]),
            (&json!(3), &json!(1), &json!("working"))
        );
        assert!(project.read(STATE).ends_with(THEIRS));
        assert!(project.is_kept(".batches", &edited), "{to}");
    }
}

#[test]
fn what_is_no_object_is_written_anew_from_the_journal() {
    let project = started();
    let deep = format!("{{\"x\": {}", "[".repeat(100_000));
    for damage in [
        "",
        "[]",
        "{\"phase\": \"done\"",
        "{\"phase\": \"done\"}",
        "\0",
        &deep,
    ] {
        write(&project, STATE, damage);
        project.stop();
        let now = state(&project);
        assert_eq!(
            (&now["phase"], &now["what"]),
            (&json!("working"), &json!("Move the tables")),
            "{damage:.20}"
        );
        assert!(
            damage.trim_matches('\0').is_empty() || project.is_kept(".batches", damage),
            "{damage:.20}"
        );
    }
    assert_eq!(project.run(&["journal", "tables", "--verify"]).0, Some(0));
}

#[test]
fn a_document_of_another_program_is_taken_up_with_its_own_keys_behind_ours() {
    let project = Project::new(env!("CARGO_BIN_EXE_batches"));
    let given = "{\"rate\": 1.50, \"phase\": \"working\", \"batch\": 2, \"what\": \"Move them\", \"note\": null}";
    write(&project, "views.json", given);
    let (code, said) = project.run(&["import", "views.json"]);
    assert_eq!(code, Some(0), "{said}");
    let text = project.read(".batches/views.json");
    let whole = "{\n  \"what\": \"Move them\",\n  \"batches\": 3,\n  \"batch\": 2,\n  \"reminders\": 0,\n  \"phase\": \"working\",\n  \"id\": \"views\",";
    assert!(text.starts_with(whole), "{text}");
    assert!(
        text.ends_with(",\n  \"rate\": 1.50,\n  \"note\": null\n}\n"),
        "{text}"
    );
    assert!(project.stop().1.contains("Batch 2 of 3"));
}

#[test]
fn each_session_has_batches_of_its_own() {
    let project = started();
    assert!(project.stop_of("one").1.contains("tables-1.md"));
    let start = |id: &str, session: &str| {
        let mut command = project.command(&["start", "--id", id, "Move more"]);
        command.env("CLAUDE_CODE_SESSION_ID", session);
        command.output().unwrap().status.code()
    };
    assert_eq!(start("views", "one"), Some(1), "one of each session");
    assert_eq!(start("views", "two"), Some(0));
    assert!(project.stop_of("two").1.contains("views-1.md"));
    assert!(project.stop_of("one").1.contains("tables-1.md"));
    assert_eq!(
        project.stop_of("three"),
        ("approve".to_owned(), String::new())
    );
}

#[test]
fn a_document_that_came_with_the_repository_is_never_driven() {
    let project = started();
    let git = |arguments: &[&str]| {
        let ran = std::process::Command::new("git")
            .args(arguments)
            .current_dir(project.path(""))
            .output();
        assert!(ran.unwrap().status.success());
    };
    git(&["init", "-q"]);
    git(&["add", "-f", STATE]);
    let before = project.read(STATE);
    let (decision, said) = project.stop();
    assert!(
        decision == "approve" && said.contains("git tracks"),
        "{said}"
    );
    assert_eq!(project.read(STATE), before);
    git(&["rm", "-q", "--cached", STATE]);
    assert_eq!(project.stop().0, "block");
}
