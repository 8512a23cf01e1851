//! `start`: flags and topic in, a loop on disk and the first instructions out.

use claudex_loop::app::stranded;
use claudex_loop::files::scratch;
use claudex_loop::plan::caller::Caller;
use claudex_loop::plan::interview;
use claudex_loop::plan::messages::{REVIEW_STARTED, STARTED, Started};
use claudex_loop::plan::start::{self, StartRefused, Wanted};
use claudex_loop::plan::{Mode, locate};
use claudex_loop::review::changes::ChangesError;
use claudex_loop::review::worktree::WorktreeError;
use claudex_loop::store::{StartError, StoreError};
use jiff::Timestamp;

use super::args;
use super::exit::{Exit, Failure};
use super::{hooks, out};

/// Starts a loop.
pub(crate) fn start(arguments: args::Start) -> Result<Exit, Failure> {
    let (mode, name) = match arguments.mode {
        args::Mode::Plan => (Mode::Plan, "plan"),
        args::Mode::Review => (Mode::Review, "review"),
    };
    let caller = Caller::from_env();
    let from_prompt = arguments.rest.iter().any(|word| word == "--from-prompt");
    let wanted = wanted(arguments.rest, name, &caller)?;
    let here = super::here()?;
    if mode == Mode::Review {
        remove_scratch_on_signals();
    }
    let held = start::start(mode, &wanted, &here, &caller, Timestamp::now()).map_err(refused)?;
    let notes = start::notes(&held);
    let message = match mode {
        Mode::Plan => STARTED,
        Mode::Review => REVIEW_STARTED,
    };
    let interview = from_prompt && interview::is_due(&held, wanted.skip_interview);
    let text = message
        .render(&Started::of(&held, notes, interview))
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    out::text(&text);
    Ok(Exit::Complete)
}

/// Removes the copy of the work tree that a start makes for a look at its changes, where a signal ends it in the middle.
fn remove_scratch_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    // Without the handlers the next command in the project removes it.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            scratch::remove_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}

/// The exit code of a refused start, as the seeds fix it.
pub(crate) fn exit_of(error: &StartRefused) -> Exit {
    match error {
        StartRefused::Store(
            StartError::Active { .. } | StartError::Store(StoreError::NotStartedHere { .. }),
        ) => Exit::Refused,
        StartRefused::Store(_) | StartRefused::Io { .. } => Exit::Internal,
        StartRefused::Changes(ChangesError::Worktree(
            WorktreeError::Io { .. } | WorktreeError::Answer { .. },
        )) => Exit::Internal,
        _ => Exit::Usage,
    }
}

fn refused(error: StartRefused) -> Failure {
    active(exit_of(&error), &error).unwrap_or_else(|| Failure::new(exit_of(&error), error))
}

/// The refusal for another loop's sake, with the ways out of it.
pub(crate) fn active(exit: Exit, error: &StartRefused) -> Option<Failure> {
    if let StartRefused::Store(StartError::Store(StoreError::NotStartedHere { id, .. })) = error {
        let help = stranded::in_the_way(&locate::SPEAKER, id);
        let code = "claudex::start::not_started_here";
        return Some(Failure::plain(exit, code, error.to_string(), &help));
    }
    let StartRefused::Store(StartError::Active { id, .. }) = error else {
        return None;
    };
    let listed = super::here().map(|here| locate::loops(&here)).unwrap_or_default();
    if !listed.iter().any(|(_, one)| one.id.as_str() == id && one.ours) {
        let help = "this version cannot drive it: finish it with the one that began it, or move every loop of the project \
                    aside:\n    claudex-loop rollback";
        return Some(Failure::plain(
            exit,
            "claudex::start::active",
            error.to_string(),
            help,
        ));
    }
    let help = format!(
        "see it with `claudex-loop status`, take it over with /claudex:adopt, or give it up (/claudex:cancel):\n    \
         claudex-loop cancel {id}"
    );
    Some(Failure::plain(
        exit,
        "claudex::start::active",
        error.to_string(),
        &help,
    ))
}

/// What was typed: words of a command line, or what the prompt hook stored.
fn wanted(words: Vec<String>, command: &str, caller: &Caller) -> Result<Wanted, Failure> {
    let mut wanted = Wanted::default();
    let mut words = words.into_iter();
    let mut topic: Vec<String> = Vec::new();
    let mut from_prompt = false;
    while let Some(word) = words.next() {
        match word.as_str() {
            "--from-draft" => wanted.from_draft = true,
            "--skip-interview" => wanted.skip_interview = true,
            "--interviewed" => wanted.interviewed = true,
            "--from-prompt" => from_prompt = true,
            "--rounds" => wanted.rounds = Some(words.next().ok_or_else(|| refused(StartRefused::NoRounds))?),
            "--plan" => wanted.plan = words.next().map(Into::into),
            "--continue" => {
                wanted.continues = Some(words.next().ok_or_else(|| refused(StartRefused::NoContinue))?);
            }
            "--" => {
                topic.extend(words);
                break;
            }
            flag if flag.starts_with("--rounds=") => {
                wanted.rounds = Some(flag["--rounds=".len()..].to_owned())
            }
            flag if flag.starts_with("--continue=") => {
                wanted.continues = Some(flag["--continue=".len()..].to_owned());
            }
            flag if flag.starts_with("--plan=") => wanted.plan = Some(flag["--plan=".len()..].into()),
            // One argument that holds a whole topic may begin with dashes; a bare word with dashes is a flag.
            flag if flag.starts_with("--") && !flag.contains(char::is_whitespace) => {
                return Err(refused(StartRefused::Flag {
                    flag: flag.to_owned(),
                }));
            }
            _ => {
                topic.push(word);
                topic.extend(words);
                break;
            }
        }
    }
    wanted.topic = topic.join(" ");
    if from_prompt {
        let typed = hooks::take(command, caller)?.ok_or_else(hooks::nothing_stored)?;
        let prompted = start::split(&typed).map_err(refused)?;
        wanted = Wanted {
            rounds: prompted.rounds.or(wanted.rounds),
            from_draft: wanted.from_draft || prompted.from_draft,
            skip_interview: wanted.skip_interview || prompted.skip_interview,
            interviewed: wanted.interviewed || prompted.interviewed,
            topic: prompted.topic,
            plan: wanted.plan,
            continues: prompted.continues.or(wanted.continues),
        };
    }
    Ok(wanted)
}
