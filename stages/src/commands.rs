//! The commands of this program besides those of every machine: `next` and `validate` move nothing,
//! `report` and `recover` take what a coordinator wrote.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, NotTaken, Program, incompatible, loops, out};
use claudex_loop::{Actor, text};
use serde::Serialize;
use serde_json::Value as Json;

use crate::contract::Outcome;
use crate::instruction::Instruction;
use crate::state::Pipeline;
use crate::typestate::{AnyLoop, Phase, Stages};
use crate::{contract, demo, notes, report, take_up};

/// The names of the arguments.
const FILE: &str = "file";
const JSON: &str = "json";
const ID: &str = "id";

/// Adds the commands to the program.
pub(crate) fn add(program: Program<Stages>) -> Program<Stages> {
    fn command(name: &'static str, group: Group, about: &'static str) -> Command {
        Command::new(name).about(about).display_order(group.place())
    }
    let json = || {
        let flag = Arg::new(JSON).long("json").action(ArgAction::SetTrue);
        flag.help("As JSON")
    };
    let file = || {
        let file = Arg::new(FILE).value_name("FILE");
        file.value_parser(value_parser!(Utf8PathBuf))
    };
    let next_command = move || {
        let about = "Say the one thing that is to be done now; it moves nothing";
        let id = Arg::new(ID).value_name("LOOP");
        let id = id.help("The pipeline; else the active one");
        command("next", Group::Look, about).arg(id).arg(json())
    };
    let validate_command = move || {
        let about = "Check summaries against the contract, strictly; it moves nothing";
        let files = file().num_args(1..).required(true);
        command("validate", Group::Look, about)
            .arg(files)
            .arg(json())
    };
    let report_command = move || {
        let about = "Take the summary that a coordinator wrote, and go on with what it says";
        let file = file().help("The summary; else that of the stage under way");
        Command::new("report").about(about).arg(file).arg(json())
    };
    let recover_command = || {
        let about = "Take what a coordinator left that has ended without a report";
        Command::new("recover").about(about)
    };
    let orchestrator_command = || {
        let about = "Print what the commands of the plugin go by";
        command("orchestrator", Group::SetUp, about)
    };
    let take_up_command = || {
        let about = "Take up a state document that another program wrote";
        command("take-up", Group::Person, about)
    };
    program
        .command(demo::command, demo::demo)
        .takes_up("take-up")
        .command(take_up_command, take_up::take_up)
        .command(orchestrator_command, |_, _| {
            out::text(include_str!("../messages/orchestrator.md"));
            Ok(Exit::Complete)
        })
        .command(next_command, next)
        .command(validate_command, validate)
        .verb(report_command, taken)
        .verb(recover_command, |held, _| report::recover(held))
}

fn next(info: &'static ProgramInfo, given: &ArgMatches) -> Result<Exit, Failure> {
    let (store, id) = loops::find_to_look(info, given.get_one::<String>(ID).map(String::as_str))?;
    let held = AnyLoop::open(&store.to_look(), &id, Actor::Person)
        .map_err(|error| incompatible::failure(info, error))?;
    // What a coordinator is pointed to may have been lost.
    notes::write(Pipeline(held.raw()), held.phase().is_terminal()).map_err(|error| {
        let message =
            format!("pipeline {id}: what lies beside the summaries cannot be written: {error}");
        let help = "make room or the folder writable, then:\n    stages next";
        Failure::plain(Exit::Internal, "claudex::next::notes", message, help)
    })?;
    let instruction = Instruction::of(&held).map_err(|problem| {
        let message = format!("pipeline {id} has no instruction: {problem}");
        Failure::plain(
            Exit::Refused,
            "claudex::next",
            message,
            "tell the person, and end your turn",
        )
    })?;
    match given.get_flag(JSON) {
        true => out::json(&instruction.json),
        false => out::text(&instruction.text),
    }
    Ok(Exit::Complete)
}

fn validate(info: &'static ProgramInfo, given: &ArgMatches) -> Result<Exit, Failure> {
    let root = match loops::find_to_look(info, None) {
        Ok((store, _)) => store.root().to_owned(),
        Err(_) => loops::here()?,
    };
    let files = given.get_many::<Utf8PathBuf>(FILE).into_iter().flatten();
    let checked = contract::validate(files, &root);
    match given.get_flag(JSON) {
        true => out::json(&checked),
        false => checked
            .iter()
            .flat_map(contract::Validated::lines)
            .for_each(|line| out::line(&line)),
    }
    Ok(match checked.iter().all(|one| one.valid) {
        true => Exit::Complete,
        false => Exit::Refused,
    })
}

fn taken(held: AnyLoop, given: &ArgMatches) -> Result<AnyLoop, NotTaken<AnyLoop>> {
    let pipeline = Pipeline(held.raw());
    let expected = Pipeline::summary_file(pipeline.stage());
    let path = match given.get_one::<Utf8PathBuf>(FILE) {
        Some(path) => inside(&pipeline.0.root(), path)?,
        None => expected.clone(),
    };
    let Some(bytes) = pipeline.file(&path) else {
        return Err(not_read(&path, "it is not there, or is no file of the project’s").into());
    };
    let reading = report::reading(pipeline, &bytes);
    // One that names no stage would be taken for that of the stage under way.
    if Utf8Path::new(&path) != expected && reading.outcome != Outcome::Refused {
        let why = format!("the summary of the stage under way is {expected}");
        return Err(not_read(&path, &why).into());
    }
    let is_json = given.get_flag(JSON) && held.phase() == Phase::Dispatched;
    let taken = report::report(held, &bytes, &text::shown(&path));
    if !is_json {
        return taken;
    }
    let next = taken
        .as_ref()
        .ok()
        .and_then(|now| Some(Instruction::of(now).ok()?.json));
    out::json(&Reported {
        report: contract::report(&reading),
        next,
    });
    taken
}

/// The answer of `report` as JSON.
#[derive(Serialize)]
struct Reported<'r> {
    #[serde(flatten)]
    report: contract::Report<'r>,
    /// The next instruction, or `None` if nothing was changed.
    next: Option<Json>,
}

/// Returns a path as it is from the project's root.
fn inside(root: &Utf8Path, path: &Utf8Path) -> Result<String, Failure> {
    // What an agent is told is from the root, wherever it stands.
    let is_there = !path.is_absolute() && root.join(path).is_file();
    let full = match is_there {
        true => root.join(path),
        false => loops::here()?.join(path),
    };
    match full.strip_prefix(root) {
        Ok(inside) => Ok(inside.to_string()),
        Err(_) => Err(not_read(path.as_str(), "it lies outside of the project")),
    }
}

fn not_read(path: &str, why: &str) -> Failure {
    Failure::plain(
        Exit::Refused,
        "claudex::report::file",
        format!("{} cannot be taken: {why}", text::shown(path)),
        "nothing was changed; when the coordinator has ended without a summary:\n    stages recover",
    )
}
