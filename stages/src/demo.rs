//! `demo`: the whole pipeline with coordinators that follow a script, in a folder of its own that stays. No model, no network.

use std::process::Command;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgMatches, value_parser};
use claudex_loop::files::Folder;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{out, shell};
use claudex_loop::{git, text};
use serde_json::{Map, Value as Json, json};

use crate::contract::{Stage, Status, Summary};
use crate::gates::REQUIRED_SECTIONS;
use crate::state::Pipeline;

/// Names the state home of the demo's program, in its folder: the person's own has nothing of it.
const STATE_HOME: &str = ".state";
/// How long git may take.
const GIT_TIMEOUT: Duration = Duration::from_secs(60);

/// The argument, and the folder where none is named.
const FOLDER: &str = "stages-demo";

/// Names what happens next in the script.
enum Act {
    /// The coordinator writes its summary: its status and its flags.
    Writes(Status, Json),
    /// The coordinator ends, and leaves nothing.
    Crashes,
    /// The coordinator ends, and leaves this file, but no summary.
    Leaves(&'static str),
    /// The person chooses this.
    Answers(&'static str),
    /// The person resumes.
    Resumes,
    /// The person mends the requirements, and says so.
    Mends,
}

fn done(flags: Json) -> Act {
    Act::Writes(Status::Completed, flags)
}

fn script() -> Vec<Act> {
    let nothing = || json!({});
    let proceed = || done(json!({ "next_action": "proceed", "completion_rate": 1.0 }));
    let score = |decision: &str, score: f64| {
        done(json!({ "validation_decision": decision, "validation_score": score }))
    };
    let question = json!({
        "pause_type": "interactive", "block_reason": "Two gaps are left", "next_action_map": { "Ask again": "loop_questions" },
        "question_context": { "question": "Two gaps are left. What now?", "header": "Gaps", "options": [
            { "label": "Ask again", "description": "Another round of questions." }, { "label": "Leave them", "description": "They stay open." },
        ] },
    });
    let pause =
        json!({ "pause_type": "exit_cli", "block_reason": "Mark the boxes of the questions" });
    vec![
        done(json!({ "analysis_mode": "standard", "prd_mode": "NEW", "pal_available": true })),
        Act::Crashes,
        Act::Answers("Retry"),
        Act::Leaves("requirements/research/research-synthesis.md"),
        done(
            json!({ "timeout": true, "partial": true, "completed_steps": ["questions of two members"] }),
        ),
        Act::Writes(Status::NeedsUserInput, pause),
        Act::Resumes,
        Act::Writes(Status::NeedsUserInput, question.clone()),
        Act::Answers("Ask again"),
        Act::Answers("standard"),
        done(nothing()),
        done(json!({ "next_action": "loop_research", "gap_descriptions": ["Who pays"] })),
        done(nothing()),
        Act::Answers("rapid"),
        done(nothing()),
        Act::Writes(Status::NeedsUserInput, question),
        Act::Answers("Leave them"),
        proceed(),
        score("NOT_READY", 10.0),
        Act::Answers("complete"),
        done(nothing()),
        proceed(),
        score("NOT_READY", 10.5),
        Act::Answers("Go on"),
        Act::Answers("standard"),
        done(nothing()),
        done(json!({ "next_action": "loop_questions" })),
        Act::Answers("One more round"),
        Act::Answers("standard"),
        done(nothing()),
        proceed(),
        Act::Writes(Status::Failed, nothing()),
        Act::Answers("Retry"),
        score("READY", 17.0),
        Act::Mends,
        done(json!({ "total_rounds": 6 })),
        done(nothing()),
    ]
}

/// A pipeline of the demo's own.
struct Demo {
    root: Utf8PathBuf,
    program: std::path::PathBuf,
}

/// Returns the command line of the demo.
pub(crate) fn command() -> clap::Command {
    let folder = Arg::new(FOLDER)
        .value_name("FOLDER")
        .value_parser(value_parser!(Utf8PathBuf))
        .help("The folder that is made; it stays, to look at [default: stages-demo]");
    clap::Command::new("demo")
        .about("Run the whole pipeline by a script, in a new folder: no model, no network")
        .arg(folder)
}

/// Runs the script.
pub(crate) fn demo(_: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let failed = |why: String| {
        Failure::plain(
            Exit::Internal,
            "claudex::demo",
            format!("the demo cannot go on: {why}"),
            "say so to who wrote the program",
        )
    };
    let folder = matches.get_one::<Utf8PathBuf>(FOLDER);
    let named = folder.map_or(Utf8Path::new(FOLDER), Utf8PathBuf::as_path);
    let made = std::fs::create_dir(named).and_then(|()| named.canonicalize_utf8());
    let root = made.map_err(|error| {
        Failure::plain(
            Exit::Usage,
            "stages::demo",
            format!("{} cannot be made: {error}", text::shown(named)),
            "name another folder, which is not there yet:\n    stages demo FOLDER",
        )
    })?;
    // A project of its own, whatever lies around it.
    git::call(&root, &["init", "--quiet"], GIT_TIMEOUT)
        .map_err(|error| failed(error.to_string()))?;
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    Demo { root, program }.run().map_err(failed)
}

impl Demo {
    fn run(&self) -> Result<Exit, String> {
        // Five rounds, so that the circuit breaks.
        self.call(&["start", "--max-rounds", "5"])?;
        let mut next = self.next()?;
        for act in script() {
            let did = self.act(&act, &next)?;
            next = self.next()?;
            out::line(&format!("{did}: {}", told(&next)));
        }
        out::line(&format!(
            "\nTo look at it:\n    cd {}\n    ls requirements\n    XDG_STATE_HOME=\"$PWD/{STATE_HOME}\" stages status",
            shell::quoted(self.root.as_str()),
        ));
        match next["instruction"] == "done" {
            true => Ok(Exit::Complete),
            false => Err("it is not done".to_owned()),
        }
    }

    /// Calls the program as a person in the demo's folder, and returns what it prints.
    fn call(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.root);
        command.env("XDG_STATE_HOME", self.root.join(STATE_HOME));
        // The person of the demo is the script.
        command
            .env_remove("CLAUDECODE")
            .env_remove("CLAUDE_CODE_SESSION_ID");
        let output = command.output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => Err(format!(
                "{}: {}",
                arguments.join(" "),
                String::from_utf8_lossy(&output.stderr)
            )),
        }
    }

    fn next(&self) -> Result<Json, String> {
        serde_json::from_str(&self.call(&["next", "--json"])?).map_err(|error| error.to_string())
    }

    fn write(&self, path: &str, text: &str) -> Result<(), String> {
        let path = Utf8Path::new(path);
        let folder = path.parent().unwrap_or(Utf8Path::new("."));
        let write = || {
            Folder::open(&self.root)?
                .make(folder)?
                .replace(path.file_name().unwrap_or_default(), text.as_bytes())
        };
        write().map_err(|error| format!("{path}: {error}"))
    }

    /// Does one thing, and says what.
    fn act(&self, act: &Act, next: &Json) -> Result<String, String> {
        let stage = next["stage"]
            .as_u64()
            .and_then(Stage::of_number)
            .unwrap_or(Stage::Setup);
        match act {
            Act::Writes(status, flags) => {
                if stage == Stage::AnalysisQuestions {
                    self.questions(next["round"].as_u64().unwrap_or(1))?;
                }
                let mut summary = Summary::new(stage, *status, "The script says so.");
                let flags: Map<String, Json> = flags.as_object().cloned().unwrap_or_default();
                summary.flags.other = flags;
                summary.flags.dispatch_id = next["dispatch_id"].as_str().map(str::to_owned);
                let file = Pipeline::summary_file(stage);
                self.write(&file, &summary.to_text())?;
                self.call(&["report", &file])?;
                Ok(format!("stage {} writes {status}", stage.number()))
            }
            Act::Crashes => {
                self.call(&["recover"])?;
                Ok(format!("stage {} leaves nothing", stage.number()))
            }
            Act::Leaves(file) => {
                self.write(file, "# What is known\n")?;
                self.call(&["recover"])?;
                Ok(format!(
                    "stage {} leaves {file}, and no summary",
                    stage.number()
                ))
            }
            Act::Answers(label) => {
                self.call(&["answer", label])?;
                Ok(format!("the person says “{label}”"))
            }
            Act::Resumes => {
                self.call(&["resume"])?;
                Ok("the person resumes".to_owned())
            }
            Act::Mends => {
                let parts = REQUIRED_SECTIONS
                    .iter()
                    .map(|name| format!("## {name}\n\nPeople can do it.\n\n"));
                self.write(
                    "requirements/PRD.md",
                    &format!("# Requirements\n\n{}", parts.collect::<String>()),
                )?;
                self.write(
                    "requirements/decision-log.md",
                    "# Decisions\n\nAll of them.\n",
                )?;
                self.call(&["answer", "Mended, check again"])?;
                self.call(&["recover"])?;
                Ok("the person mends the requirements".to_owned())
            }
        }
    }

    fn questions(&self, round: u64) -> Result<(), String> {
        let all = REQUIRED_SECTIONS.iter().enumerate().map(|(at, section)| {
            format!("## Q-A{at:03}: What of it? [CRITICAL]\n\n**Section:** {section}\n\n- [ ] One\n- [ ] Two\n- [ ] Other: ___\n\n")
        });
        let text = format!(
            "---\nround_number: {round}\n---\n\n{}",
            all.collect::<String>()
        );
        self.write(
            &format!("requirements/working/QUESTIONS-{round:03}.md"),
            &text,
        )
    }
}

/// Says an instruction in a line.
fn told(next: &Json) -> String {
    let word = |key: &str| next[key].as_str().unwrap_or_default();
    match word("instruction") {
        "dispatch" => format!("stage {} begins, round {}", next["stage"], next["round"]),
        "ask" => {
            format!(
                "{} asks: {}",
                word("key"),
                next["questions"][0]["question"]
                    .as_str()
                    .unwrap_or_default()
            )
        }
        "stop" => format!("the turn ends: {}", word("reason")),
        other => other.to_owned(),
    }
}
