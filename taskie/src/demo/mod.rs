//! `taskie demo`: a plan of a small project, from new-plan to complete. The agent is a script, the reviewer is `lint`; there is no model
//! and no network. Everything goes through the program's own commands and its Stop hook, as in a client, and lies in one new folder.

mod world;

use std::path::Path;

use claudex_loop::program::clap::{Arg, ArgMatches, Command};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, out, shell};
use serde_json::Value;

use self::world::{Stopped, World, failed};

/// The name of the plan, after its description.
const PLAN: &str = "count-words";
const FOLDER: &str = "folder";

const COUNT: &str = include_str!("files/count.sh");
const COUNT_WORDS: &str = include_str!("files/count-words.sh");
const COUNT_AND_TOP: &str = include_str!("files/count-and-top.sh");
const TASKS: &str = include_str!("files/tasks.md");
const TASK_2: &str = include_str!("files/task-2.md");
const CONFIG: &str = include_str!("files/config.toml");
/// Says of an empty text that it has one word.
const WRONG: &str = "| wc -l | tr -d ' '";
const RIGHT: &str = "| grep -c . || true";

/// Returns the command.
pub(crate) fn command() -> Command {
    let folder = Arg::new(FOLDER)
        .value_name("FOLDER")
        .default_value("taskie-demo");
    Command::new("demo")
        .about("Take a sample project from new-plan to complete, with a scripted agent, in a new folder")
        .display_order(Group::SetUp.place())
        .arg(folder.help("The folder that is made; it stays, to look at"))
}

/// Goes through the plan.
pub(crate) fn run(_: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = matches
        .get_one::<String>(FOLDER)
        .map_or("taskie-demo", String::as_str);
    let mut demo = Demo(World::make(Path::new(folder))?);
    out::line(
        "A plan from new-plan to complete. The agent is a script, the reviewer lint; no model, no network.\n",
    );
    demo.plan()?;
    demo.tasks()?;
    demo.first_task()?;
    demo.second_task()?;
    demo.all_code()?;
    let World { project, home, .. } = &demo.0;
    let quoted = |path: &Path| shell::quoted(&path.to_string_lossy());
    out::line(&format!(
        "\nTo look at it:\n    cd {}\n    git log --oneline\n    ls .taskie/plans/{PLAN}\n    HOME={} taskie status {PLAN}",
        quoted(project),
        quoted(home),
    ));
    Ok(Exit::Complete)
}

/// Plays the person and the agent.
struct Demo(World);

impl Demo {
    fn plan(&mut self) -> Result<(), Failure> {
        say("person", "/taskie:new-plan max_reviews=4 Count words");
        self.0.slash("new-plan", "max_reviews=4 Count words")?;
        self.is_at("new-plan")?;
        say("agent", "writes a thin plan.md");
        self.0
            .write_plan("plan.md", include_str!("files/thin-plan.md"))?;
        self.cycle(
            "plan",
            "the plan has its steps now, and how each is checked",
            |world| world.write_plan("plan.md", include_str!("files/plan.md")),
        )?;
        self.is_at("create-tasks")
    }

    fn tasks(&mut self) -> Result<(), Failure> {
        self.goes_on()?;
        say("agent", "writes tasks.md, task-1.md and task-2.md");
        let (before, after) = TASK_2.split_once("; words that").unwrap_or((TASK_2, ""));
        let rest = after.split_once('\n').map_or("", |(_, rest)| rest);
        self.0.write_plan(
            "task-2.md",
            &format!("{before}; which of two equally frequent words comes first is TBD\n{rest}"),
        )?;
        self.0
            .write_plan("task-1.md", include_str!("files/task-1.md"))?;
        self.0.write_plan("tasks.md", TASKS)?;
        self.cycle(
            "tasks",
            "task 2 says which of two equally frequent words comes first",
            |world| world.write_plan("task-2.md", TASK_2),
        )?;
        self.is_at("complete-task")
    }

    fn first_task(&mut self) -> Result<(), Failure> {
        self.goes_on()?;
        say(
            "agent",
            "does task 1: words.sh and tests/count.sh, and leaves debug.py behind",
        );
        self.0.write("tests/count.sh", COUNT)?;
        self.0.write("tests/empty.txt", "")?;
        self.0
            .write("tests/seven.txt", include_str!("files/seven.txt"))?;
        self.0.write("words.sh", COUNT_WORDS)?;
        self.0.write("debug.py", "breakpoint()\n")?;
        self.test("tests/count.sh", true)?;
        self.done(1, "Count the words of a file")?;
        self.cycle("task-1-code", "debug.py is gone", |world| {
            let left = world.project.join("debug.py");
            std::fs::remove_file(left).map_err(|error| failed("remove debug.py", error))?;
            world.commit("Remove the breakpoint").map(drop)
        })?;
        self.is_at("complete-task")
    }

    fn second_task(&mut self) -> Result<(), Failure> {
        say("person", "taskie pause; /taskie:complete-task-tdd");
        self.0.person(&["pause", PLAN])?;
        self.0.slash("complete-task-tdd", "")?;
        self.is_at("complete-task-tdd")?;
        say(
            "agent",
            "writes tests/top.sh, which fails; then words.sh --top, and it passes; a merge leaves its marks in README.md",
        );
        self.0.write("tests/top.sh", include_str!("files/top.sh"))?;
        self.test("tests/top.sh", false)?;
        self.0.write("words.sh", COUNT_AND_TOP)?;
        self.test("tests/top.sh", true)?;
        let (one, both) = (
            "    sh words.sh FILE\n",
            "    sh words.sh FILE\n    sh words.sh --top 3 FILE\n",
        );
        let marked = format!("# words\n\n<<<<<<< HEAD\n{one}=======\n{both}>>>>>>> top\n");
        self.0.write("README.md", &marked)?;
        self.done(2, "List the most frequent words")?;
        self.cycle(
            "task-2-code",
            "the marks are gone, both lines stand",
            |world| {
                world.write("README.md", &format!("# words\n\n{both}"))?;
                world.commit("Settle the merge of the README").map(drop)
            },
        )?;
        self.is_at("all-code-review")
    }

    /// The test of task 1 has failed since task 2: the program runs it, and nobody else did.
    fn all_code(&mut self) -> Result<(), Failure> {
        self.cycle(
            "all-code",
            "words.sh counts no word in an empty file, as before task 2",
            |world| {
                world.write("words.sh", &COUNT_AND_TOP.replace(WRONG, RIGHT))?;
                world.commit("Count no word in an empty file").map(drop)
            },
        )?;
        self.is_at("complete")
    }

    /// The person reads what came of a cycle, and lets the next work begin.
    fn goes_on(&mut self) -> Result<(), Failure> {
        say("person", "/taskie:continue-plan");
        self.0.slash("continue-plan", "").map(drop)
    }

    /// Finishes a task: a commit, its subtasks, its row.
    fn done(&self, task: u64, message: &str) -> Result<(), Failure> {
        let commit = self.0.commit(message)?;
        let name = format!("task-{task}.md");
        let text = self.0.read_plan(&name)?;
        let text = text
            .replace("**Status**: pending", "**Status**: completed")
            .replace("none yet", &commit);
        self.0.write_plan(&name, &text)?;
        let table = self.0.read_plan("tasks.md")?;
        self.0.write_plan(
            "tasks.md",
            &table.replace(
                &format!("| {task} | pending |"),
                &format!("| {task} | done |"),
            ),
        )
    }

    fn test(&self, test: &str, passes: bool) -> Result<(), Failure> {
        match self.0.passes(test)? == passes {
            true => Ok(()),
            false => Err(failed(
                test,
                if passes {
                    "it fails"
                } else {
                    "it passes before there is code"
                },
            )),
        }
    }

    /// Goes through a cycle as the Stop hook says: FAIL, PASS, PASS, with an answer to each but the last.
    fn cycle(
        &self,
        review: &str,
        mended: &str,
        mend: impl FnOnce(&World) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let mut mend = Some(mend);
        for (number, verdict) in [(1, "FAIL"), (2, "PASS"), (3, "PASS")] {
            self.is_told(&format!("taskie review {PLAN}"))?;
            self.0.agent(&["review", PLAN])?;
            let file = format!("{review}-review-{number}.md");
            let text = self.0.read_plan(&file)?;
            if text.lines().next_back() != Some(&format!("VERDICT: {verdict}")) {
                return Err(failed(&file, format!("it does not say {verdict}:\n{text}")));
            }
            let finding = text
                .lines()
                .find(|line| line.starts_with("- "))
                .filter(|_| number == 1);
            say("reviewer", &format!("{file}: {verdict}"));
            if let Some(finding) = finding {
                let what = finding.split_once(" (").map_or(finding, |(what, _)| what);
                say("", &claudex_loop::text::one_line(what, 120));
            }
            if number == 3 {
                break;
            }
            let answer = format!("{review}-post-review-{number}.md");
            self.is_told(&answer)?;
            let said = match mend.take() {
                Some(mend) => {
                    mend(&self.0)?;
                    say("agent", &format!("{answer}: {mended}"));
                    format!("Dealt with: {mended}.\n")
                }
                None => "Nothing was found, and nothing was changed.\n".to_owned(),
            };
            self.0.write_plan(&answer, &said)?;
        }
        match self.0.stop()? {
            Stopped::Ended => Ok(()),
            Stopped::Blocked(reason) => Err(failed("end the turn", reason)),
        }
    }

    /// Ends the agent's turn, and has the hook name what is to be done.
    fn is_told(&self, what: &str) -> Result<(), Failure> {
        match self.0.stop()? {
            Stopped::Blocked(reason) if reason.contains(what) => Ok(()),
            Stopped::Blocked(reason) => Err(failed(what, reason)),
            Stopped::Ended => Err(failed(what, "the turn ended")),
        }
    }

    /// Checks the phase that the plan is in now.
    fn is_at(&self, phase: &str) -> Result<(), Failure> {
        let state: Value = serde_json::from_str(&self.0.read_plan("state.json")?)
            .map_err(|error| failed("read state.json", error))?;
        let now = state["next_phase"].as_str().unwrap_or("null");
        say("", &format!("next_phase: {now}"));
        match now == phase {
            true => Ok(()),
            false => Err(failed(
                "see what is next",
                format!("{now}, and not {phase}"),
            )),
        }
    }
}

/// Says who did what.
fn say(who: &str, what: &str) {
    out::line(&format!("{who:<9} {what}"));
}
