//! The commands that Taskie has besides those of every machine: what people type, and what the agent calls.
//!
//! | file      | subject                                                                 |
//! |-----------|-------------------------------------------------------------------------|
//! | `advance` | the agent's one way on                                                  |
//! | `look`    | `next` and `check`, which move nothing                                  |
//! | `start`   | `new-plan` and `continue-plan`                                          |
//! | `take_up` | a directory that another program wrote                                  |
//! | `work`    | the tasks: in automation, and by hand                                   |
//! | `by_hand` | reviews that no automation asked for                                    |
//! | `limits`  | how many reviews and how many tasks there are                           |

mod advance;
mod by_hand;
mod limits;
mod look;
mod start;
mod take_up;
mod work;

use clap::{Arg, ArgAction, ArgMatches, Command};
use claudex_loop::behaviours::loop_message;
use claudex_loop::hooks::prompt;
use claudex_loop::machine::Raw;
use claudex_loop::program::caller::Caller;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{
    Group, Program, RunCommand, TypedApp as _, attempts, incompatible, loops, messages, out,
};
use claudex_loop::store::LoopId;
use claudex_loop::{Actor, StateHome, Store, Timestamp, text};

use crate::typestate::{Taskie, Verb};
use crate::{AnyLoop, context, entered};

pub use take_up::normalized;

/// Adds the commands to the program.
pub(crate) fn add(program: Program) -> Program {
    let words: [(&str, &str, RunCommand); 11] = [
        (
            "new-plan",
            "Start a plan: [max_reviews=N] [tdd=true] <description>",
            start::new_plan,
        ),
        (
            "continue-plan",
            "Continue a plan in this session, or one that another program wrote",
            start::continue_plan,
        ),
        (
            "create-tasks",
            "Write the tasks; from standalone, back into automation",
            work::create_tasks,
        ),
        (
            "complete-task",
            "Do a task, which is then reviewed; from standalone, back into automation",
            work::complete_task,
        ),
        (
            "complete-task-tdd",
            "Do a task test first, which is then reviewed",
            work::complete_task_tdd,
        ),
        (
            "next-task",
            "Do a task without reviews, and leave automation",
            work::next_task,
        ),
        (
            "next-task-tdd",
            "Do a task test first without reviews, and leave automation",
            work::next_task_tdd,
        ),
        (
            "continue-task",
            "Continue the current task",
            work::continue_task,
        ),
        ("add-task", "Add a task", limits::add_task),
        ("next", "Show the next step of a plan, and why", look::next),
        ("check", "Check the files of a plan", look::check),
    ];
    let rules = || {
        Command::new("ground-rules")
            .about("Print the rules that every command of the plugin follows")
            .hide(true)
    };
    let mut program = program.command(rules, |_, _| {
        out::text(include_str!("../../messages/ground-rules.md"));
        Ok(Exit::Complete)
    });
    for (name, about, run) in words {
        let group = match name {
            "next" | "check" => Group::Look,
            _ => Group::Client,
        };
        program = program.command(
            move || command(name, about).display_order(group.place()),
            run,
        );
    }
    for (review, answer, what) in [
        ("plan-review", "post-plan-review", "the plan"),
        ("tasks-review", "post-tasks-review", "the tasks"),
        ("code-review", "post-code-review", "the current task’s code"),
        ("all-code-review", "post-all-code-review", "all code"),
    ] {
        let command = |name, about: &str| command(name, about).display_order(Group::Client.place());
        let have = move || command(review, &format!("Review {what}"));
        // What it says is for the agent alone.
        let answered =
            move || command(answer, &format!("Answer the newest review of {what}")).hide(true);
        program = program
            .command(have, work::review)
            .command(answered, work::post_review);
    }
    let numbered: [(&str, &str, &str, &str, RunCommand); 4] = [
        (
            "advance",
            "TARGET",
            "Go on to the next phase once the work is complete",
            "The next phase, as `next` names it",
            advance::advance,
        ),
        (
            "more",
            "N",
            "Grant N further reviews of this cycle",
            "The number of further reviews",
            limits::more,
        ),
        (
            "max-reviews",
            "N",
            "Set the most reviews per cycle; 0: none",
            "The number of reviews, 0 to 99",
            limits::max_reviews,
        ),
        (
            "drop-task",
            "K",
            "Remove a task whose row says cancelled or postponed from the plan",
            "The number of the task",
            limits::drop_task,
        ),
    ];
    for (name, value, about, help, run) in numbered {
        let group = match name {
            "advance" => Group::Loops,
            _ => Group::Person,
        };
        let make = move || {
            let first = Arg::new(FIRST)
                .value_name(value)
                .required_unless_present(FROM_PROMPT)
                .help(help);
            let command = Command::new(name).about(about).arg(first);
            with_words(command.display_order(group.place()), name)
        };
        program = program.command(make, run);
    }
    program
}

/// The names of the arguments.
const FIRST: &str = "first";
const WORDS: &str = "words";
const FROM_PROMPT: &str = "from_prompt";
const JSON: &str = "json";
/// The command's own name: one function does the work of several.
const NAME: &str = "name";

fn command(name: &'static str, about: &str) -> Command {
    let command = with_words(Command::new(name).about(about.to_owned()), name);
    let json = Arg::new(JSON)
        .long("json")
        .action(ArgAction::SetTrue)
        .help("As JSON");
    match name {
        "next" => command.arg(json).after_help(
            "In state.json next_phase is what is to be done; phase is what ran last, the last cycle’s context: it is for people, and no \
             edge depends on it.",
        ),
        "check" => command.arg(json),
        _ => command,
    }
}

fn with_words(command: Command, name: &'static str) -> Command {
    let what = if name == "new-plan" {
        "DESCRIPTION"
    } else {
        "PLAN"
    };
    let words = Arg::new(WORDS)
        .value_name(what)
        .num_args(0..)
        .help(match name {
            "new-plan" => "What the plan is about, after max_reviews=N and tdd=true",
            _ => "The plan’s id [default: the active one]",
        });
    command
        .arg(
            words
                .trailing_var_arg(name == "new-plan")
                .allow_hyphen_values(name == "new-plan"),
        )
        .arg(
            Arg::new(FROM_PROMPT)
                .long("from-prompt")
                .action(ArgAction::SetTrue)
                .hide(true),
        )
        .arg(Arg::new(NAME).long("name").default_value(name).hide(true))
}

/// A call of one of the commands.
struct Call {
    info: &'static ProgramInfo,
    name: String,
    caller: Caller,
    actor: Actor,
    /// Whether it was typed as a slash command.
    from_prompt: bool,
    /// What stands before the words, where the command wants it.
    first: String,
    /// What was typed after it, byte for byte.
    words: String,
}

impl Call {
    /// Reads what was given here, or typed after the slash command of the same name.
    fn of(info: &'static ProgramInfo, matches: &ArgMatches) -> Result<Self, Failure> {
        let text = |id: &str| match matches.try_get_one::<String>(id) {
            Ok(Some(text)) => text.clone(),
            _ => String::new(),
        };
        let name = text(NAME);
        let caller = Caller::from_env();
        let words = matches.get_many::<String>(WORDS).into_iter().flatten();
        let words = words.map(String::as_str).collect::<Vec<_>>().join(" ");
        if !matches.get_flag(FROM_PROMPT) {
            let actor = caller.actor(false);
            let first = text(FIRST);
            return Ok(Self {
                info,
                name,
                caller,
                actor,
                from_prompt: false,
                first,
                words,
            });
        }
        let actor = caller.actor(true);
        let words = typed(info, &name, &caller)?;
        if !words.trim().is_empty() {
            out::text(&format!(
                "The user typed after /taskie:{name}:\n{words}\n\n"
            ));
        }
        Ok(Self {
            info,
            name,
            caller,
            actor,
            from_prompt: true,
            first: String::new(),
            words,
        })
    }

    /// Refuses the command to an agent.
    fn persons_only(&self) -> Result<(), Failure> {
        let id = self
            .words
            .split_whitespace()
            .next()
            .filter(|id| loops::find(self.info, Some(id)).is_ok());
        loops::person_only(self.info, self.actor, &self.name, id)
    }

    /// Returns the plan that the call is about: the first word where there is a plan of that name, else the caller's own. Other words
    /// are for the agent.
    fn plan(&self) -> Result<(Store, LoopId), Failure> {
        let first = self.words.split_whitespace().next();
        match first.map(|first| loops::find(self.info, Some(first))) {
            Some(Ok(found)) => Ok(found),
            // Only what follows a slash command may be for the agent.
            Some(Err(failure)) if !self.from_prompt => Err(failure),
            _ => loops::find_for(self.info, &self.caller),
        }
    }

    fn open(&self, actor: Actor) -> Result<AnyLoop, Failure> {
        let (store, id) = self.plan()?;
        let held = AnyLoop::open(&store, &id, actor)
            .map_err(|error| incompatible::failure(self.info, error))?;
        loops::tell_repairs(self.info, held.raw());
        loops::own_session(self.info, held.raw(), self.actor)?;
        Ok(held)
    }

    /// Takes a transition of the user's, or returns why it is refused.
    fn take(&self, held: AnyLoop, verb: Verb) -> Result<AnyLoop, Failure> {
        let (store, id) = (held.raw().store().clone(), held.raw().id().clone());
        let now = Taskie::take(verb, held).map_err(|refused| {
            attempts::refused(&store, &id, self.actor, &self.name, &refused.refusal);
            let help = messages::unchanged(refused.held.raw());
            self.refused(format!("plan {id}: {refused}"), &help)
        })?;
        store.log(&format!(
            "{id} {} by {}: now {}",
            self.name,
            self.actor,
            messages::phase(now.raw()).name
        ));
        self.entered(&now)?;
        Ok(now)
    }

    /// Does what entering a phase asks for.
    fn entered(&self, now: &AnyLoop) -> Result<(), Failure> {
        let settings = loops::settings(self.info, now.raw().store().root(), None)?;
        entered::entered(now, &settings)
            .map(drop)
            .map_err(|problem| {
                let what = format!(
                    "plan {}: what follows from {} was not done: {problem}",
                    now.id(),
                    self.name
                );
                Failure::plain(
                    Exit::Internal,
                    "claudex::taskie::entered",
                    what,
                    "make room or the folder writable",
                )
            })
    }

    fn refused(&self, message: String, help: &str) -> Failure {
        Failure::plain(Exit::Refused, "claudex::taskie", message, help)
    }

    fn usage(&self, message: String, help: &str) -> Failure {
        Failure::plain(Exit::Usage, "claudex::taskie::usage", message, help)
    }

    /// Says what the phase that a plan is in asks of the agent.
    fn say(&self, held: &AnyLoop) -> Result<Exit, Failure> {
        let raw = held.raw();
        let settings = loops::settings(self.info, raw.store().root(), None)?;
        let own = context::of(held, &settings, Timestamp::now());
        match loop_message::render(raw, messages::phase(raw).message, own) {
            Ok(Some(text)) => out::text(&format!("{}\n", text.trim())),
            Ok(None) => out::line(&format!(
                "Plan {} is in phase {}.",
                raw.id(),
                phase_word(raw)
            )),
            Err(error) => out::note(&self.info.line(&error.to_string())),
        }
        Ok(Exit::Complete)
    }
}

/// Returns `next_phase` as it stands in the document.
fn phase_word(raw: &Raw) -> &'static str {
    messages::phase(raw).stored
}

/// Takes what was typed after a slash command of this session.
fn typed(info: &ProgramInfo, name: &str, caller: &Caller) -> Result<String, Failure> {
    let home = StateHome::of_user(info.program);
    let taken = match (home.folder(), caller.session.as_deref()) {
        (Some(home), Some(session)) => prompt::take(session, name, home),
        _ => Ok(None),
    };
    let taken = taken.map_err(|error| {
        Failure::plain(
            Exit::Internal,
            "claudex::prompt::io",
            format!("cannot read the command that was typed: {error}"),
            "see whether you may write in your state folder, and whether its disk is full",
        )
    })?;
    taken.ok_or_else(|| {
        Failure::plain(
            Exit::Usage,
            "claudex::prompt::none",
            format!("nothing was typed after {name} in this session"),
            "type the slash command itself: it keeps what follows it for ten minutes",
        )
    })
}

/// Shows a text of somebody's on one line.
fn shown(text: &str) -> String {
    text::one_line(&text::shown(text), 60)
}
