//! A command inside a client's session goes by what the session's hooks saw: an agent's own environment chooses no reviewer.

use std::process::Command;

use super::{bin, codex_clean};
use crate::support::{Project, Ran, executable, path_without_clients};

const MINE: &str = "reviewer = \"mine\"\nevidence = \"optional\"\n[reviewers.mine]\nkind = \"command\"\nprogram = \"/bin/echo\"\n\
                    arguments = [\"No substantive findings.\"]\n";

/// Makes a project whose person has this in bin/, with a loop of session `s1` in round 1.
fn project(programs: &[(&str, &str)]) -> (Project, String) {
    let project = Project::new().with("CLAUDEX_REVIEWER", "");
    std::fs::create_dir(bin(&project)).unwrap();
    for (name, script) in programs {
        install(&project, "", name, script);
    }
    let path = format!("{}:{}", bin(&project).display(), path_without_clients());
    let project = project.with("PATH", &path);
    let id = project.start(&[]);
    project.plan("# Plan\n\nMove the queue.\n");
    project.fire().blocked();
    (project, id)
}

/// Writes a program into a folder of the person's bin/ and gives that folder.
fn install(project: &Project, folder: &str, name: &str, script: &str) -> String {
    let folder = bin(project).join(folder);
    // A new file in its place, as an update makes one.
    let new = folder.join("new");
    executable(&new, script);
    std::fs::rename(new, folder.join(name)).unwrap();
    folder.to_str().unwrap().to_owned()
}

/// Runs a command of the agent's of session `s1`, in an environment of its making.
fn as_agent(project: &Project, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command: Command = project.command(arguments);
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "s1");
    command.envs(variables.iter().copied());
    Ran::of(command.output().unwrap())
}

#[test]
fn a_codex_in_the_agents_own_path_is_not_asked() {
    let fake = codex_clean();
    let (project, id) = project(&[]);
    let folder = install(&project, "the agent's", "codex", &fake);
    let path = format!("{folder}:{}", path_without_clients());
    as_agent(&project, &["review", &id], &[("PATH", &path)])
        .exits(0)
        .says("reviewer: lint (auto)");

    let (project, id) = self::project(&[("codex", "exit 7\n")]);
    let folder = install(&project, "the agent's", "codex", &fake);
    let path = format!("{folder}:{}", path_without_clients());
    as_agent(&project, &["review", &id], &[("PATH", &path)])
        .exits(5)
        .says("reviewer: codex (auto)");
    // Outside a client the caller's own environment counts.
    let mut command = project.command(&["review", &id]);
    Ran::of(command.env("PATH", &path).output().unwrap())
        .exits(0)
        .says("no substantive findings");
}

#[test]
fn a_home_of_the_agents_makes_no_program_of_the_project_the_persons() {
    let project = Project::new().with("CLAUDEX_REVIEWER", "");
    // npm puts this folder into the person's own PATH.
    let folder = project.root.join("node_modules/.bin");
    let path = format!("{}:{}", folder.display(), path_without_clients());
    let project = project.with("PATH", &path);
    let id = project.start(&[]);
    project.plan("# Plan\n\nMove the queue.\n");
    project.fire().blocked();
    executable(&folder.join("codex"), &codex_clean());
    let home = project.root.to_str().unwrap();
    as_agent(&project, &["review", &id], &[("HOME", home)])
        .exits(0)
        .says("reviewer: lint (auto)");
}

#[test]
fn a_reviewer_finds_its_own_programs_and_configuration_where_the_hook_saw_them() {
    let (project, id) = project(&[(
        "codex",
        "echo \"$PATH|$HOME|${CODEX_HOME-unset}\" >&2\nexit 7\n",
    )]);
    let variables = [
        ("PATH", "/bin:/usr/bin"),
        ("HOME", "/nowhere"),
        ("CODEX_HOME", "/nowhere"),
    ];
    as_agent(&project, &["review", &id], &variables).exits(5);
    let run = project.journal(&id).last().unwrap()["data"]["run"]
        .as_str()
        .unwrap()
        .to_owned();
    let output = project.folder().join(&id).join(format!("output-{run}.txt"));
    let output = std::fs::read_to_string(output).unwrap();
    let home = project.home.to_str().unwrap();
    assert!(output.contains(&format!("|{home}|unset")), "{output}");
    assert!(output.contains(bin(&project).to_str().unwrap()), "{output}");
}

#[test]
fn the_agents_own_configuration_chooses_and_waives_nothing() {
    let (project, id) = project(&[]);
    let config = project.home.join("the agent's");
    std::fs::create_dir_all(config.join("claudex-loop")).unwrap();
    std::fs::write(config.join("claudex-loop/config.toml"), MINE).unwrap();
    let variables = [("XDG_CONFIG_HOME", config.to_str().unwrap())];
    as_agent(&project, &["mark-done", &id], &variables).exits(1);
    let with_home = [("XDG_CONFIG_HOME", ""), ("HOME", config.to_str().unwrap())];
    as_agent(&project, &["mark-done", &id], &with_home).exits(1);
    as_agent(&project, &["review", &id], &variables)
        .exits(0)
        .says("reviewer: lint (auto)");
    let (project, id) = self::project(&[]);
    as_agent(&project, &["review", &id], &[("CLAUDEX_REVIEWER", "mine")])
        .exits(0)
        .says("reviewer: lint (auto)");
    as_agent(
        &project,
        &["run", "PLAN.md", "--reviewer", "mine"],
        &variables,
    )
    .exits(1)
    .says("the user chooses the reviewer");
}

#[test]
fn agent_chooses_no_reviewer_before_first_hook() {
    let (project, id) = project(&[]);
    project.run(&["cancel", &id]).exits(0);
    let project = project.configured(MINE);
    let mut review = project.command(&["run", "PLAN.md"]);
    review
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "another")
        .env("CLAUDEX_REVIEWER", "lint");
    Ran::of(review.output().unwrap())
        .exits(0)
        .says("reviewer: mine");
    let run = ["run", "PLAN.md", "--reviewer", "lint"];
    project.answers_in("s1", &run, 1, "the user chooses the reviewer");
}

#[test]
fn review_by_agent_calls_users_git() {
    let (project, id) = project(&[]);
    project.run(&["cancel", &id]).exits(0);
    project.git(&["add", "PLAN.md"]);
    let ran = project.home.join("ran");
    let fake = format!(
        "touch {:?}; exec /usr/bin/git \"$@\"\n",
        ran.to_str().unwrap()
    );
    let folder = install(&project, "the agent's", "git", &fake);
    let path = format!("{folder}:{}", path_without_clients());
    let review = as_agent(&project, &["start", "review"], &[("PATH", &path)]);
    let id = crate::support::id_of(&review.exits(0));
    as_agent(&project, &["review", &id], &[("PATH", &path)]).exits(0);
    assert!(!ran.exists());
}

#[test]
fn a_review_that_begins_before_the_first_stop_goes_by_the_prompt_hook() {
    let project = Project::new().with("CLAUDEX_REVIEWER", "");
    std::fs::create_dir(bin(&project)).unwrap();
    project.plan("# Plan\n");
    project.git(&["add", "PLAN.md"]);
    project.type_line("s1", "/claudex:review the plan");
    let started = as_agent(&project, &["start", "review", "--from-prompt"], &[]).exits(0);
    let id = crate::support::id_of(&started);
    let folder = install(&project, "the agent's", "codex", &codex_clean());
    let path = format!("{folder}:{}", path_without_clients());
    as_agent(&project, &["review", &id], &[("PATH", &path)])
        .exits(0)
        .says("reviewer: lint (auto)");
}
