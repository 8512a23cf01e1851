//! In a session, the environment of its hooks counts: an agent's own chooses no reviewer.

use super::{bin, codex_clean};
use crate::support::{Project, Ran, executable, has, id_of, path_without_clients};

const MINE: &str = "reviewer = \"mine\"\nevidence = \"optional\"\n[reviewers.mine]\nkind = \"command\"\nprogram = \"/bin/echo\"\n\
                    arguments = [\"No substantive findings.\"]\n";
const LINT: &str = "reviewer: lint (auto)";

/// Returns a project with this folder first in the user's PATH.
fn with_path(folder: impl Fn(&Project) -> std::path::PathBuf) -> Project {
    let project = Project::new().with("CLAUDEX_REVIEWER", "");
    let folder = folder(&project);
    std::fs::create_dir_all(&folder).unwrap();
    let path = format!("{}:{}", folder.display(), path_without_clients());
    project.with("PATH", &path)
}

/// Starts a loop of session `s1` in round 1.
fn reviewing(project: &Project) -> String {
    let id = project.start(&[]);
    project.plan("# Plan\n\nMove the queue.\n");
    project.fire().blocked();
    id
}

/// Returns such a project and loop. The user has this script as `codex` in bin/.
fn project(codex: Option<&str>) -> (Project, String) {
    let project = with_path(bin);
    if let Some(script) = codex {
        install(&project, "", "codex", script);
    }
    let id = reviewing(&project);
    (project, id)
}

/// Writes a program below the user's bin/, and returns a PATH that begins with its folder.
fn install(project: &Project, folder: &str, name: &str, script: &str) -> String {
    let folder = bin(project).join(folder);
    executable(&folder.join(name), script);
    format!("{}:{}", folder.display(), path_without_clients())
}

/// Runs a command as the agent of session `s1`, in its own environment.
fn as_agent(project: &Project, line: &str, variables: &[(&str, &str)]) -> Ran {
    let mut command = project.command(line);
    command
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "s1");
    Ran::new(command.envs(variables.iter().copied()).output().unwrap())
}

#[test]
fn codex_in_agents_own_path_is_not_asked() {
    for (codex, code, shown) in [
        (None, 0, LINT),
        (Some("exit 7\n"), 5, "reviewer: codex (auto)"),
    ] {
        let (project, id) = project(codex);
        let path = install(&project, "the agent's", "codex", &codex_clean());
        let review = format!("review {id}");
        as_agent(&project, &review, &[("PATH", &path)])
            .exits(code)
            .says(shown);
        if codex.is_some() {
            // Outside a client, the caller's environment counts.
            let mut command = project.command(&review);
            let ran = Ran::new(command.env("PATH", &path).output().unwrap()).exits(0);
            ran.says("no substantive findings");
        }
    }
}

#[test]
fn agents_home_makes_no_program_the_users() {
    // npm puts this folder into the user's own PATH.
    let folder = |project: &Project| project.root.join("node_modules/.bin");
    let project = with_path(folder);
    let id = reviewing(&project);
    executable(&folder(&project).join("codex"), &codex_clean());
    let home = project.root.to_str().unwrap();
    as_agent(&project, &format!("review {id}"), &[("HOME", home)])
        .exits(0)
        .says(LINT);
}

#[test]
fn reviewer_has_the_environment_the_hook_saw() {
    let script = "echo \"$PATH|$HOME|${CODEX_HOME-unset}\" >&2\nexit 7\n";
    let (project, id) = project(Some(script));
    let variables = [
        ("PATH", "/bin:/usr/bin"),
        ("HOME", "/nowhere"),
        ("CODEX_HOME", "/nowhere"),
    ];
    as_agent(&project, &format!("review {id}"), &variables).exits(5);
    let journal = project.journal(&id);
    let run = journal.last().unwrap()["data"]["run"].as_str().unwrap();
    let output = project.folder().join(&id).join(format!("output-{run}.txt"));
    let output = std::fs::read_to_string(output).unwrap();
    has(&output, &format!("|{}|unset", project.home.display()));
    has(&output, bin(&project).to_str().unwrap());
}

#[test]
fn agents_own_configuration_chooses_and_waives_nothing() {
    let (project, id) = project(None);
    let config = project.home.join("the agent's");
    crate::support::write(&config.join("claudex-loop/config.toml"), MINE);
    let config = config.to_str().unwrap();
    let variables = [("XDG_CONFIG_HOME", config)];
    let mark_done = format!("mark-done {id}");
    as_agent(&project, &mark_done, &variables).exits(1);
    as_agent(
        &project,
        &mark_done,
        &[("XDG_CONFIG_HOME", ""), ("HOME", config)],
    )
    .exits(1);
    let run = "run PLAN.md --reviewer mine";
    let refusal = "the user chooses the reviewer";
    as_agent(&project, run, &variables).exits(1).says(refusal);
    let variables = [variables[0], ("CLAUDEX_REVIEWER", "mine")];
    as_agent(&project, &format!("review {id}"), &variables)
        .exits(0)
        .says(LINT);
}

#[test]
fn agent_chooses_no_reviewer_before_first_hook() {
    let (project, id) = project(None);
    project.run(&format!("cancel {id}")).exits(0);
    project.git(&["add", "PLAN.md"]);
    let project = project.configured(MINE);
    let mut review = project.command("review --changes");
    review
        .env("CLAUDECODE", "1")
        .env("CLAUDE_CODE_SESSION_ID", "another")
        .env("CLAUDEX_REVIEWER", "lint");
    let ran = Ran::new(review.output().unwrap()).exits(0);
    ran.says("mine");
    let run = "run PLAN.md --reviewer lint";
    project.answers_in("s1", run, 1, "the user chooses the reviewer");
}

#[test]
fn review_by_agent_calls_users_programs() {
    for before_first_stop in [false, true] {
        let project = with_path(bin);
        if before_first_stop {
            project.plan("# Plan\n");
            project.type_line("s1", "/claudex:review the plan");
        } else {
            reviewing(&project);
            project.run("cancel").exits(0);
        }
        project.git(&["add", "PLAN.md"]);
        let ran = project.home.join("ran");
        let git = format!("touch {ran:?}; exec /usr/bin/git \"$@\"\n");
        install(&project, "the agent's", "git", &git);
        let path = install(&project, "the agent's", "codex", &codex_clean());
        let variables = [("PATH", &*path)];
        let start = if before_first_stop {
            "start review --from-prompt"
        } else {
            "start review"
        };
        let id = id_of(&as_agent(&project, start, &variables).exits(0));
        as_agent(&project, &format!("review {id}"), &variables)
            .exits(0)
            .says(LINT);
        assert!(!ran.exists());
    }
}
