//! What a person is asked where another program's lock lies before a pipeline begins, and what their answer does: its work is taken up, shown,
//! or moved aside.

use std::io;

use camino::Utf8Path;
use clap::{Arg, ArgAction, Command};
use claudex_loop::behaviours::ask::{Answer, Asked};
use claudex_loop::files::{Folder, if_there};
use claudex_loop::hooks::answers::{self, HookOutput};
use claudex_loop::hooks::input::Input;
use claudex_loop::program::caller::Caller;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::start::StartRequest;
use claudex_loop::program::stop::Surroundings;
use claudex_loop::program::{CommandLine as _, loops, out};
use claudex_loop::store::{MAX_BYTES, Store};
use claudex_loop::{Timestamp, text};

use crate::instruction::{put_to_the_person, text_of};
use crate::lock::{LOCK, MOST_BYTES, STATE, foreign, foreign_activity, read};
use crate::take_up;
use crate::typestate::Stages;

/// Names the summaries in `requirements`.
const SUMMARIES: &str = ".stage-summaries";
/// The most lines of a document that are shown.
const MOST_LINES: usize = 40;
/// Names the flag of `start` that moves aside what another program wrote.
const ANEW: &str = "anew";

/// Returns the question to which a lock of another program leads before a pipeline begins. It says no time, so that an answer is known
/// whatever that program did in the meantime.
fn question(can_resume: bool) -> Asked {
    let mut options = vec![
        Answer::new("Resume", "resume").description("You go on with what it wrote, at its stage."),
        Answer::new("Show", "show").description("You see what lies there, and are asked again."),
        Answer::new("Start anew", "anew")
            .description("Its state and summaries are moved aside, and stage 1 begins."),
        Answer::new("Leave", "leave").description("Nothing is started."),
    ];
    options.retain(|one| can_resume || one.label != "Resume");
    let question = "Another program may be at work on these requirements. What now?";
    Asked::new(question, "Lock", options)
}

/// Returns whether there is a document that could be taken up.
fn can_resume(root: &Utf8Path) -> bool {
    root.join("requirements").join(STATE).exists()
}

/// Returns whether a pipeline with a journal is under way.
fn is_under_way(store: &Store) -> bool {
    let active = store.list_active();
    active.iter().any(|one| store.loop_folder(&one.id).exists())
}

/// Adds the flag by which a person has a pipeline begin anew.
pub(crate) fn arguments(command: Command) -> Command {
    command.mut_subcommand("start", |start| {
        start.arg(
            Arg::new(ANEW)
                .long(ANEW)
                .action(ArgAction::SetTrue)
                .help("Move aside the state and the summaries of another program"),
        )
    })
}

/// Asks before a pipeline begins where another program's lock lies, or moves aside what it wrote on a person's word.
///
/// # Errors
/// The person is asked, an agent says what a person decides, or something cannot be moved.
pub(crate) fn before_start(request: &StartRequest<'_>) -> Result<(), Failure> {
    // A pipeline of ours is in the way, as the engine says it.
    if is_under_way(request.store) {
        return Ok(());
    }
    let (info, root, caller) = (Stages::INFO, request.store.root(), Caller::from_env());
    if request.flag(ANEW) {
        let actor = caller.actor(request.flag("from_prompt"));
        loops::person_only(info, actor, "start --anew", None)?;
        let moved = move_aside(root).map_err(|error| {
            let message = format!("what another program wrote cannot be moved aside: {error}");
            let help =
                "nothing was started; make the folder requirements writable, and do the same again";
            Failure::plain(Exit::Internal, "claudex::start::anew", message, help)
        })?;
        moved.iter().for_each(|line| out::note(&info.line(line)));
        return Ok(());
    }
    let Some(at) = foreign_activity(root) else {
        return Ok(());
    };
    let (told, can_resume) = (foreign(at), can_resume(root));
    if caller.inside {
        out::text(&put_to_the_person(
            std::slice::from_ref(&told),
            &question(can_resume),
        ));
    }
    let help = match can_resume {
        true => {
            "nothing was started; a person goes on with what it wrote:\n    stages take-up\nor moves that aside and begins anew:\n    stages start --anew"
        }
        false => "nothing was started; a person begins all the same:\n    stages start --anew",
    };
    Err(Failure::plain(
        Exit::Refused,
        "claudex::start::lock",
        told,
        help,
    ))
}

/// Takes a person's answer to the question, while no pipeline of ours is under way.
pub(crate) fn answered(input: &Input, surroundings: &Surroundings) -> Option<HookOutput> {
    let session = input.session_id.clone()?;
    let from = input.cwd.as_deref().or(surroundings.project.as_deref())?;
    let store = claudex_loop::program::locate::for_start(Stages::INFO.state, from);
    let (asked, given) = (question(true), answers::of(input));
    let ours = given
        .iter()
        .find(|one| asked.is(&one.header, &one.question))?;
    let chosen = asked.answer(&ours.text, false).ok()??;
    if is_under_way(&store) {
        return None;
    }
    let told = decided(chosen.transition, &store, session)
        .unwrap_or_else(|problem| (format!("the answer changed nothing: {problem}"), None));
    let (line, more) = told;
    store.log(&format!(
        "lock: {}: {}",
        chosen.label,
        text::one_line(&line, 300)
    ));
    Some(HookOutput {
        agent: Some(Stages::INFO.line(&line)),
        more,
        person: None,
    })
}

/// Does what a person chose; returns what happened, and what the agent does now.
fn decided(
    choice: &str,
    store: &Store,
    session: String,
) -> Result<(String, Option<String>), String> {
    let root = store.root();
    Ok(match choice {
        "resume" => {
            let held = take_up::take(store, session, claudex_loop::Actor::Person)
                .map_err(|error| error.to_string())?;
            (
                format!("loop {} was taken up.", held.id()),
                Some(text_of(&held)),
            )
        }
        "anew" => {
            let moved = move_aside(root).map_err(|error| error.to_string())?;
            let next = "Begin, with the flags that the person gave, if any:\n\n    stages start\n";
            (
                moved.unwrap_or_else(|| "nothing lies there any more.".to_owned()),
                Some(next.to_owned()),
            )
        }
        "show" => {
            let shown = [(LOCK, MOST_BYTES), (STATE, MAX_BYTES as u64)].map(|(name, most)| {
                let text = read(root, name, most).unwrap_or_else(|| "none\n".to_owned());
                let lines: Vec<&str> = text.lines().take(MOST_LINES).collect();
                format!(
                    "requirements/{name}:\n\n```\n{}\n```\n\n",
                    lines.join("\n").replace("```", "'''")
                )
            });
            let line = "show this to the person, then ask again.".to_owned();
            (
                line,
                Some(shown.concat() + &put_to_the_person(&[], &question(can_resume(root)))),
            )
        }
        _ => ("nothing was started. End your turn.".to_owned(), None),
    })
}

/// Moves the lock, the state document and the summaries of another program to a dated folder; says where to.
fn move_aside(root: &Utf8Path) -> io::Result<Option<String>> {
    let Some(folder) = if_there(Folder::open(root)?.below("requirements"))? else {
        return Ok(None);
    };
    let there: Vec<&str> = [SUMMARIES, STATE, LOCK]
        .into_iter()
        .filter(|name| folder.has(name))
        .collect();
    if there.is_empty() {
        return Ok(None);
    }
    let name = Timestamp::now()
        .strftime("before-%Y%m%dT%H%M%S%3fZ")
        .to_string();
    let aside = folder.make(&name)?;
    for name in there {
        folder.rename(name, &aside, name)?;
    }
    Ok(Some(format!(
        "what lay there was moved to requirements/{name}."
    )))
}
