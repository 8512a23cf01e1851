//! The program's parts in Rust: commands, start, questions and the lines of `status`.

use camino::Utf8PathBuf;
use clap::parser::ValueSource;
use clap::{ArgMatches, Command, arg, value_parser};
use claudex_loop::behaviours::ask::Asked;
use claudex_loop::machine::LoopHandle;
use claudex_loop::program::exit::{CommandResult, Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::start::StartRequest;
use claudex_loop::program::{
    Extension, Group, NextAction, Program, Variables, Verb, loop_flag, loops, open_error, out,
};
use claudex_loop::{Actor, files, text};
use serde_json::json;

use crate::contract::{self, Stage};
use crate::instruction::{Instruction, overdue_warning, text_of};
use crate::state::{Pipeline, new_dispatch, summary_file};
use crate::typestate::{AnyLoop, Asking, Choosing, Failed, Loop, OnStop, Phase};
use crate::{digest, questions, report, take_up};

const MAX_LINE_CHARS: usize = 200;

/// The extension of the machine file.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stages;

impl OnStop for Stages {
    fn asking_asks(&self, held: &Loop<Asking>) -> Result<Option<Asked>, String> {
        questions::stage_question(held.raw()).map(Some)
    }

    fn choosing_asks(&self, held: &Loop<Choosing>) -> Result<Option<Asked>, String> {
        Ok(Some(questions::mode_question(held.raw())))
    }

    fn failed_asks(&self, held: &Loop<Failed>) -> Result<Option<Asked>, String> {
        Ok(Some(questions::failure_question(held.raw())))
    }
}

impl Extension for Stages {
    fn commands(&self) -> Vec<Command> {
        let command = |name: &'static str, at: Group| Command::new(name).display_order(at.place());
        let files = arg!(<FILE>... "The files of summaries");
        vec![
            command("next", Group::Information)
                .about("Print the next instruction; does not change the pipeline")
                .arg(arg!([LOOP] "The pipeline [default: the active one]"))
                .arg(arg!(--json "As JSON")),
            command("validate", Group::Information)
                .about("Check summaries against the contract; changes nothing")
                .arg(files.value_parser(value_parser!(Utf8PathBuf))),
            Command::new("recover")
                .about("Take what a coordinator left that ended without a report")
                .arg(loop_flag()),
            command("orchestrator", Group::SetUp)
                .about("Print the instructions for the orchestrator"),
            command("take-up", Group::Person)
                .about("Continue from a state document that has no journal here"),
        ]
    }

    fn run(&self, program: &Program, name: &str, arguments: &ArgMatches) -> Option<CommandResult> {
        let result = match name {
            "next" => next(program.info, arguments),
            "validate" => return Some(validate(program.info, arguments)),
            "report" if arguments.value_source("format") != Some(ValueSource::CommandLine) => {
                program.change(name, arguments, report::report)
            }
            "recover" => program.change(name, arguments, report::recover),
            "orchestrator" => {
                out::text(include_str!("../messages/orchestrator.md"));
                Ok(Exit::Complete)
            }
            "take-up" => return Some(take_up::take_up(program)),
            "status" if !arguments.get_flag("json") && !arguments.contains_id("id") => {
                Err(take_up::unknown_document()?)
            }
            _ => return None,
        };
        Some(result.map_err(|error| take_up::unknown_document().unwrap_or(error)))
    }

    fn arguments(&self, command: Command) -> Command {
        let anew = arg!(--anew "Move an earlier state and its summaries aside first");
        let page = "Print all about a loop on one page, and do nothing else";
        let command = command.mut_subcommand("start", |start| start.arg(anew));
        command.mut_subcommand("report", |report| {
            report
                .about("Take the summary of the open stage and print the next instruction")
                .display_order(Group::Loops.place())
                .mut_arg("id", |id| id.long("id"))
                .mut_arg("format", |format| {
                    format.hide_default_value(true).help(page)
                })
        })
    }

    fn start(&self, start: &mut StartRequest<'_>) -> Result<(), Failure> {
        let root = start.store.root();
        let draft = start.text("draft_file").filter(|draft| !draft.is_empty());
        if let Some(draft) = draft {
            let paths = [start.here, root].map(|folder| folder.join(draft));
            let Some(path) = paths.iter().find(|path| path.is_file()) else {
                let message = format!("cannot find the draft {}", text::printable(draft));
                let help = "name a file, or leave --draft-file out";
                return Err(Failure::with_help(Exit::Usage, message, help));
            };
            let path = path.strip_prefix(root).unwrap_or(path).to_string();
            start.set("draft_file", path);
        }
        take_up::before_start(start)?;
        start.set("open", json!(new_dispatch(start.store.root(), 1)));
        start.set("created", format!("{:.0}", start.beginning.now));
        Ok(())
    }

    fn on_enter(&self, held: &dyn LoopHandle) -> Result<Vec<String>, String> {
        if held.typed::<AnyLoop>().phase() == Phase::Dispatched {
            digest::write(Pipeline(held.raw()))
                .map_err(|error| format!("cannot write the digest of earlier rounds: {error}"))?;
        }
        Ok(Vec::new())
    }

    fn before_take(&self, held: &mut dyn LoopHandle, verb: &Verb) -> Result<(), Failure> {
        questions::record_answer(held.typed_mut(), &verb.typed()).map_err(Failure::internal)
    }

    fn status(&self, held: &dyn LoopHandle) -> Vec<(&'static str, String)> {
        let pipeline = Pipeline(held.raw());
        let mut scores = Vec::new();
        for ((round, stage), summary) in pipeline.kept_summaries() {
            let decision = summary.flags.validation_decision;
            if let (Stage::ValidationGeneration, Some(decision)) = (stage, decision) {
                let score = summary.flags.validation_score;
                let score_text = score.map_or("no score".to_owned(), |score| score.to_string());
                scores.push(format!("round {round}: {score_text} ({decision})"));
            }
        }
        let (stage, round) = place(pipeline);
        let mut lines = vec![("stage", stage), ("round", round)];
        if !scores.is_empty() {
            lines.push(("scores", text::one_line(&scores.join("; "), MAX_LINE_CHARS)));
        }
        lines
    }

    fn caveats(&self, held: &dyn LoopHandle) -> Vec<String> {
        let pipeline = Pipeline(held.raw());
        let is_open = held.typed::<AnyLoop>().phase() == Phase::Dispatched;
        let overdue = overdue_warning(pipeline).filter(|_| is_open);
        let details = pipeline.open().details.into_iter();
        let findings = details.map(|line| format!("last summary: {line}"));
        overdue.into_iter().chain(findings).collect()
    }

    fn status_line(&self, held: &dyn LoopHandle) -> Option<String> {
        let (stage, round) = place(Pipeline(held.raw()));
        Some(format!("stage {stage}, round {round}"))
    }

    fn next_action(&self, held: &dyn LoopHandle) -> Option<NextAction> {
        let held: &AnyLoop = held.typed();
        let work = match held.phase() {
            Phase::Dispatched => "report the summary",
            Phase::Recovering => "check the files",
            Phase::Waiting => {
                let reason = held.fields().next_step.trim_end_matches('.');
                let id = held.id();
                let next = format!(
                    "when it is done, type /stages:resume, or run:\n    stages resume {id}"
                );
                return Some(NextAction::new(format!("you: {reason}"), next));
            }
            // The machine file and the questions have the others.
            _ => return None,
        };
        let stage = Pipeline(held.raw()).stage();
        let waits_for = format!("the agent, to {work} of stage {} ({stage})", stage.number());
        Some(NextAction::new(waits_for, "run:\n    stages next"))
    }

    fn refusal_help(&self, held: &dyn LoopHandle, transition: &str) -> Option<String> {
        let decisions = Pipeline(held.raw()).decisions();
        let mut newest = decisions.iter().rev();
        let is_answer = |(key, _): &(&String, _)| !key.ends_with("_timestamp");
        let (key, value) = newest.find(is_answer).filter(|_| transition == "answer")?;
        let last = text::one_line(&format!("{key} = {}", value.as_str()?), MAX_LINE_CHARS);
        Some(format!(
            "nothing was changed; the last decision is {last}; for the instruction, run:\n    stages next"
        ))
    }

    fn context(&self, held: &dyn LoopHandle) -> Variables {
        std::iter::once(("instruction".to_owned(), text_of(held.typed()).into())).collect()
    }
}

/// Returns the stage and the round as a user reads them.
fn place(pipeline: Pipeline<'_>) -> (String, String) {
    let stage = pipeline.stage();
    let name = format!("{} of 7, {stage}", stage.number());
    let round = format!("{} of {}", pipeline.round(), pipeline.0.count("max_rounds"));
    (name, round)
}

/// Opens the pipeline with an id, or the active one, or the one that finished last.
fn open(info: &'static ProgramInfo, id: Option<&str>) -> Result<AnyLoop, Failure> {
    let (store, id) = loops::find_or_newest(info, id)?;
    AnyLoop::open(&store.read_only(), &id, Actor::Person)
        .map_err(|error| open_error::failure(info, error))
}

fn next(info: &'static ProgramInfo, matches: &ArgMatches) -> CommandResult {
    let id = matches.get_one::<String>("LOOP").map(String::as_str);
    let held = open(info, id)?;
    let instruction = Instruction::current(&held).map_err(|problem| {
        let message = format!("pipeline {} has no instruction: {problem}", held.id());
        Failure::refuse(message, "tell the user, and end your turn")
    })?;
    if matches.get_flag("json") {
        out::json(&instruction.json);
    } else {
        out::text(&instruction.text);
    }
    Ok(Exit::Complete)
}

fn validate(info: &'static ProgramInfo, matches: &ArgMatches) -> CommandResult {
    let held = open(info, None).ok();
    let here = loops::current_folder()?;
    let root = held.as_ref().map_or(here.clone(), |held| held.raw().root());
    let open = held.filter(|held| held.phase() == Phase::Dispatched);
    let pipeline = open.as_ref().map(|held| Pipeline(held.raw()));
    let mut is_valid = true;
    let paths = matches.get_many::<Utf8PathBuf>("FILE");
    for path in paths.into_iter().flatten() {
        let name = text::printable(path);
        let bytes = files::read(path).map_err(|error| {
            let message = format!("cannot read {name}: {error}");
            Failure::refuse(message, "name the file of a summary")
        })?;
        let is_open = |one: &Pipeline<'_>| here.join(path) == root.join(summary_file(one.stage()));
        let dispatch = pipeline.filter(is_open).map(Pipeline::dispatch);
        let reading = contract::read(&bytes, Some(&root), dispatch.as_ref());
        for finding in &reading.findings {
            out::line(&format!("{name}:{}", finding.line()));
        }
        if reading.findings.is_empty() {
            out::line(&format!("{name}: valid"));
        }
        is_valid &= reading.is_valid();
    }
    Ok(is_valid.into())
}
