//! `new-plan` and `continue-plan`.

use claudex_loop::program::exit::{CommandResult, Failure};
use claudex_loop::program::{locate, loops, open_error, out, ownership, start};
use claudex_loop::store::{IdForm, LoopId, StoreError};
use claudex_loop::{Actor, Refusal, Store, git, text};
use deunicode::deunicode;

use super::limits::MAX_REVIEWS;
use super::look::Plan;
use super::{Call, take_up};
use crate::AnyLoop;
use crate::context::word;
use crate::entered::{self, GIT_TIMEOUT};
use crate::typestate::{Mode, Start};

const MAX_ID_CHARS: usize = 40;

pub(super) fn new_plan(call: &Call) -> CommandResult {
    call.refuse_agent()?;
    let begin = parse_start(call)?;
    let length = begin.description.len();
    if length == 0 || length > start::MAX_TEXT_BYTES {
        let problem = format!(
            "a plan needs a description of 1 to {} bytes, found {length}",
            start::MAX_TEXT_BYTES
        );
        let help = "say what it is about; details can be in a file that it names:\n    taskie new-plan max_reviews=4 tdd=true DESCRIPTION";
        return Err(call.usage(problem, help));
    }
    let store = locate::for_start(call.program.info.state, &loops::current_folder()?);
    if let Err(error) = git::call(store.root(), "rev-parse --git-dir", GIT_TIMEOUT) {
        let line = format!("the reviews of code need a git repository: {error}");
        out::note(&call.program.info.line(&line));
    }
    let words = make_id(&begin.description);
    let mut at = 0_u64;
    loop {
        at += 1;
        let name = match at {
            1 => words.clone(),
            _ => format!("{words}-{at}"),
        };
        // The engine reserves a few names, and an existing directory is another plan's.
        let id = LoopId::parse(&name, IdForm::Name).ok();
        let Some(id) = id.filter(|id| !is_taken(&store, id)) else {
            continue;
        };
        let beginning = call.caller.beginning(Some(id));
        match begin.clone().begin(&store, beginning, call.actor) {
            Ok(held) => {
                start::enter(call.program, &held, &call.name);
                out::line(&format!("Plan {} is at new-plan.\n", held.id()));
                return call.print_instruction(&held);
            }
            Err(Refusal::Store(StoreError::Active { .. } | StoreError::NotOurs { .. })) => {}
            Err(error) => return Err(open_error::failure(call.program.info, error)),
        }
    }
}

/// Reads `max_reviews=N` and `tdd=true`, in any order and also written as flags, and the
/// description, byte for byte.
fn parse_start(call: &Call) -> Result<Start, Failure> {
    let mut start = Start::new(Mode::Plan, String::new());
    let mut rest = call.words.trim_start();
    loop {
        let (first, after) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let is_option = first.starts_with("--") || first.contains('=');
        let option = first.to_lowercase();
        let (name, value) = option.split_once('=').unwrap_or((&option, ""));
        let is_valid = match name.trim_start_matches("--") {
            "max_reviews" | "max-reviews" if is_option => {
                start.max_reviews = value.parse().ok().filter(|most| *most <= MAX_REVIEWS);
                start.max_reviews.is_some()
            }
            "tdd" if is_option => {
                start.tdd = value.parse().ok();
                start.tdd.is_some()
            }
            _ => {
                start.description = rest.to_owned();
                check_options(call, rest)?;
                return Ok(start);
            }
        };
        if !is_valid {
            let found = text::one_line(first, 60);
            let problem = format!(
                "expected max_reviews=0 to {MAX_REVIEWS}, or tdd=true or false, found “{found}”"
            );
            return Err(call.usage(problem, "without these words it is max_reviews=8 tdd=false"));
        }
        rest = after.trim_start();
    }
}

/// Refuses a description with an option in it, which would be text.
fn check_options(call: &Call, description: &str) -> Result<(), Failure> {
    let is_option = |word: &&str| {
        let word = word.trim_matches(['-', '[', ']', '(', ')']).to_lowercase();
        let (name, value) = word.split_once(['=', ':']).unwrap_or_default();
        match name {
            "max_reviews" | "max-reviews" => value.parse::<u64>().is_ok(),
            "tdd" => value.parse::<bool>().is_ok(),
            _ => false,
        }
    };
    let Some(option) = description.split_whitespace().find(is_option) else {
        return Ok(());
    };
    let problem = format!("“{}” is in the description", text::one_line(option, 60));
    let help = "options go in front of it, each as one word:\n    taskie new-plan max_reviews=4 tdd=true DESCRIPTION";
    Err(call.usage(problem, help))
}

/// Makes an id of the first whole words of a description, in ASCII letters.
fn make_id(description: &str) -> String {
    let letters = deunicode(description).to_ascii_lowercase();
    let parts = letters.split(|letter: char| !letter.is_ascii_alphanumeric());
    let words: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    let id = words.join("-");
    let fits = id.get(..=MAX_ID_CHARS).map_or(&*id, |start| {
        let whole = start.rsplit_once('-').map(|(whole, _)| whole);
        whole.unwrap_or(&start[..MAX_ID_CHARS])
    });
    match fits {
        "" => "plan".to_owned(),
        id => id.to_owned(),
    }
}

fn is_taken(store: &Store, id: &LoopId) -> bool {
    let document = store.path_of(id);
    let folder = document.parent().unwrap_or(&document);
    folder.symlink_metadata().is_ok() || store.loop_folder(id).symlink_metadata().is_ok()
}

/// Prints the next step. Takes over the plan, or takes up a directory without a journal.
pub(super) fn continue_plan(call: &Call) -> CommandResult {
    let mut plan = Plan::find(call)?;
    let next = plan.next();
    // It is neither finished nor without a usable state.
    if !["C21", "C24", "C25"].contains(&next.row) {
        match &plan.held {
            Some(held) => {
                take_over(call, held)?;
                // A kill may have come between the document and the rest of the entry.
                entered::record_taken_up(held.raw()).map_err(|why| {
                    Failure::refuse(format!("plan {}: {why}", plan.id), "try again")
                })?;
            }
            None => {
                let held = take_up::take_up(call, &plan.store, &plan.id, &plan.directory)?;
                let at = word(held.phase());
                out::line(&format!("Plan {} was taken up at {at}.", plan.id));
                plan.held = Some(held);
            }
        }
    }
    plan.print_next(call, &next)
}

/// Takes a plan over into this session. Asks if another session may still be at work on it.
pub(super) fn take_over(call: &Call, held: &AnyLoop) -> Result<(), Failure> {
    let Some(session) = &call.caller.session else {
        return Ok(());
    };
    let id = held.id();
    if held.raw().text("session_id") == *session {
        // Stops drive the plan of this session that was touched last.
        let _ = held.raw().store().touch(id);
        return Ok(());
    }
    if call.actor != Actor::Person {
        return Ok(());
    }
    ownership::check_consent(call.program.info, id)?;
    ownership::adopt_held(call.open(call.actor)?.raw())
}
