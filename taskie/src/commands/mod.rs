//! The commands of Taskie's own, which users type and the agent calls.

mod limits;
mod look;
mod start;
mod take_up;
mod work;

use clap::{Arg, ArgMatches, Command};
use claudex_loop::Actor;
use claudex_loop::program::caller::Caller;
use claudex_loop::program::exit::{CommandResult, Exit, Failure};
use claudex_loop::program::{Group, Program, Variables, loops, open_error, out};

use crate::context::word;
use crate::files::Directory;
use crate::typestate::{PLUGIN, Transition};
use crate::{AnyLoop, stops};

pub use take_up::normalize;

/// The commands that are not slash commands, each with its help. Others: `messages/commands/`.
const OTHERS: &str = "\
ground-rules: Print the rules that every command of the plugin follows
next: Show the next step of a plan, and why
check: Check the files of a plan
advance: Advance to TARGET, the next phase, once the work is complete
max-reviews: Set the most reviews per cycle, 0 to 99; 0: none
drop-task: Remove task K, whose row says cancelled or postponed, from the plan";

pub(crate) fn all() -> Vec<Command> {
    let files = PLUGIN.map_or(&[][..], |plugin| plugin.files);
    let slash = files.iter().filter_map(|file| {
        let name = file.name.strip_prefix("commands/")?.strip_suffix(".md")?;
        let mut lines = file.text.lines();
        let about = lines.find_map(|line| line.strip_prefix("description: "))?;
        Some((name, about.trim_matches('\'')))
    });
    let all = slash.chain(OTHERS.lines().filter_map(|line| line.split_once(": ")));
    all.map(|(name, about)| command(name, about)).collect()
}

/// The names of the arguments.
const FIRST: &str = "first";
const WORDS: &str = "words";

fn command(name: &'static str, about: &'static str) -> Command {
    let (group, first) = match name {
        "next" | "check" => (Group::Information, None),
        "advance" => (Group::Loops, Some(("TARGET", "A word of next_phase"))),
        "more" => (Group::Person, Some(("N", "How many further reviews"))),
        "max-reviews" => (Group::Person, Some(("N", "How many reviews per cycle"))),
        "drop-task" => (Group::Person, Some(("K", "The number of the task"))),
        _ => (Group::Client, None),
    };
    let first =
        first.map(|(value, help)| Arg::new(FIRST).value_name(value).help(help).required(true));
    let words = Arg::new(WORDS).num_args(0..);
    let words = match name {
        "new-plan" => words
            .value_name("DESCRIPTION")
            .help("What the plan is about, after max_reviews=N and tdd=true [default: max_reviews=8 tdd=false]")
            .trailing_var_arg(true)
            .allow_hyphen_values(true),
        _ => words
            .value_name("PLAN")
            .help("The plan’s id [default: the active one]"),
    };
    let after = (name == "next").then_some(
        "In state.json, `next_phase` is the next step; `phase` is the last one, for people.",
    );
    Command::new(name)
        .about(about)
        .after_help(after)
        .display_order(group.place())
        // The output is only for the agent.
        .hide(name.starts_with("post-") || name == "ground-rules")
        .args(first)
        .arg(words)
}

/// Runs a command that only this program has.
pub(crate) fn run(program: &Program, name: &str, arguments: &ArgMatches) -> Option<CommandResult> {
    if name == "status" && !arguments.get_flag("json") && !arguments.contains_id("id") {
        return look::status_without_loops(program.info);
    }
    arguments.try_contains_id(WORDS).ok()?;
    let call = Call::new(program, name, arguments);
    Some(match name {
        "ground-rules" => call.print(include_str!("../../messages/ground-rules.md").trim_end()),
        "new-plan" => start::new_plan(&call),
        "continue-plan" => start::continue_plan(&call),
        "next-task" | "next-task-tdd" => work::next_task(&call),
        "continue-task" => work::continue_task(&call),
        "add-task" => limits::add_task(&call),
        "next" => look::next(&call),
        "check" => look::check(&call),
        "advance" => work::advance(call),
        "more" | "max-reviews" => limits::limit_reviews(call),
        "drop-task" => limits::drop_task(call),
        name if name.starts_with("post-") => work::post_review(&call),
        name if name.ends_with("-review") => work::review(&call),
        _ => work::begin(&call),
    })
}

struct Call<'p> {
    program: &'p Program,
    name: String,
    caller: Caller,
    actor: Actor,
    /// The words after it, byte for byte.
    words: String,
}

impl<'p> Call<'p> {
    /// Reads the arguments, or the text typed after the slash command of the same name.
    fn new(program: &'p Program, name: &str, matches: &ArgMatches) -> Self {
        let texts = |id: &str| {
            let texts = matches.try_get_many::<String>(id).ok().flatten();
            texts.into_iter().flatten().map(String::as_str)
        };
        let caller = Caller::from_env();
        let words: Vec<&str> = texts(FIRST).chain(texts(WORDS)).collect();
        let words = words.join(" ");
        if caller.is_slash_command && !words.trim().is_empty() {
            let typed = format!("The user typed after /taskie:{name}:\n{words}\n\n");
            out::text(&typed);
        }
        Self {
            program,
            name: name.to_owned(),
            actor: caller.actor(),
            caller,
            words,
        }
    }

    fn first(&self) -> Option<&str> {
        self.words.split_whitespace().next()
    }

    fn take_first(&mut self) -> String {
        let words = self.words.trim_start();
        let (first, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let first = first.to_owned();
        self.words = rest.to_owned();
        first
    }

    fn refuse_agent(&self) -> Result<(), Failure> {
        let is_loop = |id: &&str| loops::find(self.program.info, Some(id)).is_ok();
        loops::check_person(self.program.info, &self.name, self.first().filter(is_loop))
    }

    fn open(&self, actor: Actor) -> Result<AnyLoop, Failure> {
        let (store, id) = look::locate_plan(self)?;
        if !store.has_journal(&id) && !store.has_archived(&id) {
            let problem = format!("plan {id} was not taken up here");
            let help = format!("nothing was changed; take it up:\n    taskie continue-plan {id}");
            return Err(Failure::refuse(problem, &help));
        }
        let held = AnyLoop::open(&store, &id, actor)
            .map_err(|error| open_error::failure(self.program.info, error))?;
        loops::check_opened(self.program.info, held.raw(), self.actor)?;
        Ok(held)
    }

    /// Opens a plan for work in the caller's session, which takes it over like `continue-plan`.
    fn open_to_work(&self) -> Result<AnyLoop, Failure> {
        start::take_over(self, &self.open(self.actor)?)?;
        self.open(self.actor)
    }

    fn open_for_user(&self) -> Result<AnyLoop, Failure> {
        self.refuse_agent()?;
        self.open(self.actor)
    }

    /// Takes a transition, and does the work of the phase that it leads to.
    fn take(&self, held: AnyLoop, transition: Transition) -> Result<AnyLoop, Failure> {
        let run = |held: AnyLoop| Ok(held.take_transition(transition));
        self.program.change_held(&self.name, held, run)
    }

    fn directory(&self, held: &AnyLoop) -> Result<Directory, Failure> {
        stops::directory(held.raw()).map_err(unreadable)
    }

    fn print(&self, line: &str) -> CommandResult {
        out::line(line);
        Ok(Exit::Complete)
    }

    fn usage(&self, message: String, help: &str) -> Failure {
        Failure::with_help(Exit::Usage, message, help)
    }

    /// Prints the instruction of the phase that a plan is in.
    fn print_instruction(&self, held: &AnyLoop) -> CommandResult {
        let message = held.raw().phase_info().message;
        if message.is_none() {
            let at = word(held.phase());
            out::line(&format!("Plan {} is in phase {at}.", held.id()));
        }
        self.program.print(held, message, Variables::new(), true);
        Ok(Exit::Complete)
    }
}

/// Refuses a command for a plan whose directory cannot be read.
fn unreadable(problem: String) -> Failure {
    Failure::refuse(problem, "see who owns it")
}
