//! The command line of a machine's program: which commands there are, and what they take.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, Subcommand, ValueEnum};

use super::assembled::{App, LOOP, Program};
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::help::{Group, grouped};
use super::{chosen, color, plugin, start};
use crate::behaviours::verify;
use crate::machine::{Actor, Table};
use crate::process::limits::{Limits, parse_duration};

/// What `--help` says last.
const EXIT_CODES: &str = "\
Exit codes: 0 complete, 1 refused, 2 usage, 3 fault, 5 no verdict, 130 signal";

/// The commands that every machine has, but for `start`, whose flags are the machine's.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show where the loop is
    #[command(display_order = Group::Look.place())]
    Status(Look),
    /// List the loops of this project
    #[command(display_order = Group::Look.place())]
    List(Format),
    /// Show what happened to a loop, change by change
    ///
    /// Without a loop it lists those that there are.
    #[command(alias = "history", display_order = Group::Look.place())]
    Journal(Journal),
    /// Print everything about a loop on one page, as HTML or JSON
    #[command(display_order = Group::Look.place())]
    Report(Report),
    /// Review the round that a loop is in, or follow its review
    #[command(display_order = Group::Loops.place())]
    Review(Review),
    /// Let a loop that waits, or that was put aside, go on
    #[command(display_order = Group::Person.place())]
    Resume {
        #[command(flatten)]
        target: Target,
        /// Take it over, too, as `adopt` does
        #[arg(long)]
        adopt: bool,
        /// Do not ask before a loop is taken from a session that may be at work on it
        #[arg(long, requires = "adopt")]
        yes: bool,
    },
    /// Hold a loop: no stop drives it until `resume`
    #[command(display_order = Group::Person.place())]
    Pause(Target),
    /// Take a loop over into this session
    #[command(display_order = Group::Person.place())]
    Adopt {
        #[command(flatten)]
        target: Target,
        /// Do not ask before it is taken from a session that may be at work on it
        #[arg(long)]
        yes: bool,
    },
    /// Take up a state document that this program did not write
    #[command(display_order = Group::Person.place())]
    Import {
        /// The document; the loop goes on in the phase that it names
        file: Utf8PathBuf,
        /// The loop's id, where people choose it [default: the file's name]
        #[arg(long, value_name = "NAME")]
        id: Option<String>,
    },
    /// Show who reviews in which round
    #[command(display_order = Group::Look.place())]
    Personas,
    /// Put loops aside that show no sign of life
    #[command(display_order = Group::SetUp.place())]
    Sweep {
        /// For how long, such as 90m or 36h [default: limits.stale-minutes of the configuration, 15m]
        #[arg(long, value_name = "TIME", value_parser = parse_duration)]
        older_than: Option<Duration>,
        /// Say what would be put aside, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Move everything of every loop of this project to a dated folder
    #[command(display_order = Group::Person.place())]
    Rollback {
        /// Do not ask; needed where there is no terminal to ask on
        #[arg(long)]
        yes: bool,
        /// Take what the command's prompt hook stored
        #[arg(long, hide = true)]
        from_prompt: bool,
    },
    /// Check that everything a loop needs is there
    #[command(display_order = Group::Look.place())]
    Doctor(Format),
    /// Look at the configuration, and say what is wrong with it
    #[command(subcommand, display_order = Group::SetUp.place())]
    Config(Config),
    /// Print the hooks for .claude/settings.json
    #[command(display_order = Group::SetUp.place())]
    Hooks {
        /// Call the program by its name, not by the path where it lies now
        #[arg(long)]
        by_name: bool,
    },
    /// Write the plugin of Claude Code that calls this program
    #[command(subcommand, display_order = Group::SetUp.place())]
    Plugin(plugin::Command),
    /// Print one line for the client's status line
    ///
    /// What the client says stands on stdin.
    #[command(display_order = Group::SetUp.place())]
    Statusline,
    /// Print a completion script for a shell
    #[command(display_order = Group::SetUp.place())]
    Completions {
        /// Which one
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// What Claude Code's hooks call: one JSON value on stdin, one answer on stdout
    #[command(hide = true)]
    Hook {
        /// Which one
        hook: Hook,
    },
    /// Read and change state files; what scripts call
    #[command(subcommand, hide = true)]
    State(State),
}

/// What only the program of a machine that asks has.
#[derive(Debug, Subcommand)]
pub(super) enum Asking {
    /// Answer the question that the loop asks
    #[command(allow_missing_positional = true, display_order = Group::Person.place())]
    Answer {
        /// The loop [default: the active one]
        #[arg(value_name = "LOOP", allow_hyphen_values = true)]
        id: Option<String>,
        /// The option, letter by letter; or a text of your own, where the question takes one
        #[arg(value_name = "LABEL", required = true, allow_hyphen_values = true)]
        label: String,
    },
}

/// What only the program of a machine that verifies the work has.
#[derive(Debug, Subcommand)]
pub(super) enum Verifying {
    /// Run the commands that verify the work
    ///
    /// Those that your configuration names or allows (`allow_commands`) run.
    #[command(display_order = Group::Loops.place())]
    Verify {
        /// The loop [default: the active one]
        #[arg(value_name = "LOOP")]
        id: Option<String>,
    },
}

/// What only the program of a machine with many loops has.
#[derive(Debug, Subcommand)]
pub(super) enum Choosing {
    /// Have the stops of this session drive a loop
    ///
    /// Until it is over, or another one is chosen.
    #[command(display_order = Group::Loops.place())]
    Use {
        /// The loop
        #[arg(value_name = "LOOP")]
        id: Option<String>,
    },
}

/// A hook.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Hook {
    /// The Stop hook
    Stop,
    /// The prompt hooks: keep what was typed after one of our commands
    Prompt,
    /// The hook on AskUserQuestion: takes an answer of the person
    Answer,
    /// The hook at the start of a session: says in one line where a loop waits
    SessionStart,
    /// The hook before a compaction: keeps which session is compacted
    PreCompact,
}

/// `review`
#[derive(Debug, Args)]
pub(super) struct Review {
    /// The loop [default: the active one]
    #[arg(value_name = "LOOP")]
    pub(super) id: Option<String>,
    /// Who reviews: codex, claude, lint (built in), one of your configuration, auto [default: as configured, else auto]
    #[arg(long, value_name = "NAME")]
    pub(super) reviewer: Option<String>,
    #[command(flatten)]
    pub(super) time: Time,
    /// Review this file, which belongs to no loop: the findings are written, and no loop counts them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["id", "follow"])]
    pub(super) file: Option<Utf8PathBuf>,
    /// Show the reviewer's last lines and follow the review that is running; never start one
    #[arg(long, conflicts_with_all = ["reviewer", "timeout", "idle_timeout"])]
    pub(super) follow: bool,
}

/// Sets the limits of a review.
#[derive(Debug, Args)]
pub struct Time {
    /// How long one review may take, such as 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub timeout: Option<Duration>,
    /// How long it may be silent
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub idle_timeout: Option<Duration>,
}

impl Time {
    /// Returns these limits, or the usual ones if none are given.
    ///
    /// # Errors
    /// Returns an error if an agent gives a shorter limit than the usual one: a review that is cut short counts as failed.
    pub fn limits(&self, usual: Limits) -> Result<Limits, Failure> {
        let limits = Limits {
            timeout: self.timeout.unwrap_or(usual.timeout),
            idle: self.idle_timeout.unwrap_or(usual.idle),
        };
        let is_shorter = limits.timeout < usual.timeout || limits.idle < usual.idle;
        if is_shorter && Caller::from_env().actor(false) == Actor::Agent {
            return Err(Failure::plain(
                Exit::Refused,
                "claudex::review::limits",
                "an agent may not shorten the user’s time limits".to_owned(),
                "leave --timeout and --idle-timeout out",
            ));
        }
        Ok(limits)
    }
}

/// A loop to look at.
#[derive(Debug, Args)]
pub(super) struct Look {
    #[command(flatten)]
    pub(super) target: Target,
    #[command(flatten)]
    pub(super) format: Format,
}

/// A loop that is reported on.
#[derive(Debug, Args)]
pub(super) struct Report {
    #[command(flatten)]
    pub(super) target: Target,
    /// How it is written
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub(super) format: ReportFormat,
}

/// The name of the argument by which a program's own verb `report` prints what every other program's does.
const FORMAT: &str = "the format";

impl Report {
    /// Adds that argument to the verb, unless it has a `--format` of its own.
    fn with_format(own: clap::Command) -> clap::Command {
        if own
            .get_arguments()
            .any(|one| one.get_long() == Some("format"))
        {
            return own;
        }
        let flags = own
            .get_arguments()
            .filter(|one| !one.is_positional() && one.get_id() != LOOP);
        let format = clap::Arg::new(FORMAT)
            .long("format")
            .value_name("FORMAT")
            .value_parser(clap::value_parser!(ReportFormat))
            .conflicts_with_all(flags.map(clap::Arg::get_id))
            .help("Print all about a loop on one page, and do nothing else; its id may stand as the first argument");
        own.arg(format)
    }

    /// Returns the page that a call of the verb asks for, where it does.
    pub(super) fn instead_of(own: &clap::Command, given: &clap::ArgMatches) -> Option<Self> {
        let format = *given.try_get_one(FORMAT).ok()??;
        let first = own
            .get_positionals()
            .next()
            .map(|first| first.get_id().as_str());
        let first = first.and_then(|first| given.get_raw(first)?.next());
        let id = given.get_one(LOOP).cloned();
        let id = id.or_else(|| Some(first?.to_string_lossy().into_owned()));
        let target = Target {
            id,
            from_prompt: false,
        };
        Some(Self { target, format })
    }
}

/// The form of a report.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
pub(super) enum ReportFormat {
    /// A page for a browser, with nothing from elsewhere
    Html,
    /// The same facts for programs
    Json,
}

/// A loop whose journal is wanted.
#[derive(Debug, Args)]
pub(super) struct Journal {
    #[command(flatten)]
    pub(super) look: Look,
    /// Print no more than whether each change follows from the one before it
    #[arg(long, conflicts_with = "json")]
    pub(super) verify: bool,
}

/// Text or JSON.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Format {
    /// As JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// A loop that a command is about.
#[derive(Debug, Args)]
pub(super) struct Target {
    /// The loop [default: the active one]
    #[arg(value_name = "LOOP")]
    pub(super) id: Option<String>,
    /// Take the id from what the command's prompt hook stored
    #[arg(long, hide = true, conflicts_with = "id")]
    pub(super) from_prompt: bool,
}

/// `config`
#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Print every setting that holds here, with its source
    Show(Format),
    /// Print the paths of both files; exit 2 with the first problem, if there is one
    Check,
    /// Write the user's file with every setting commented out, if there is none
    Init,
}

/// `state`
#[derive(Debug, Subcommand)]
pub(super) enum State {
    /// Print a new id
    NewId,
    /// Exit 0 when this is an id, else 1
    #[command(name = "valid-id")]
    ValidId {
        #[arg(allow_hyphen_values = true)]
        id: String,
    },
    /// Replace a file atomically by what comes on stdin
    Write { file: Utf8PathBuf },
    /// Print a field's value; exit 1 when there is none
    Get { file: Utf8PathBuf, field: String },
    /// Set a field; `-` reads the value from stdin
    Set {
        file: Utf8PathBuf,
        field: String,
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Change the phase, if it is FROM: exit 0 when it was, 1 when it was not
    Move {
        file: Utf8PathBuf,
        from: String,
        to: String,
    },
    /// Write a pid (default: the caller's) into a lock file
    LockWrite { file: Utf8PathBuf, pid: Option<u32> },
    /// Exit 0 when the process of a lock file is alive, else 1
    LockActive { file: Utf8PathBuf },
    /// Sweep as start does
    Sweep,
    /// Print the newest state file; exit 1 when there is none
    Find,
    /// Print high=N medium=N low=N of a findings file; zeros for a missing one
    Counts { file: Utf8PathBuf },
    /// Print who reviews in a round
    Persona { round: u64 },
    /// Print the label of who reviews in a round
    PersonaLabel { round: u64 },
}

/// Holds what a client calls at every turn, or many times a minute. To make all the commands for clap costs more than their answers.
#[derive(Debug)]
pub(super) enum Frequent {
    Hook(Hook),
    Statusline,
}

/// Returns which of those this process is called for, and what `--protocol` asks; `None`: clap has to look at the arguments.
pub(super) fn frequent() -> Option<(Option<String>, Frequent)> {
    let mut words: Vec<String> = (std::env::args_os().skip(1))
        .map(|word| word.into_string().ok())
        .collect::<Option<_>>()?;
    let asked = words
        .first()
        .and_then(|first| first.strip_prefix("--protocol="));
    let asked = asked.map(str::to_owned);
    words.drain(..usize::from(asked.is_some()));
    let call = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        // The most frequent call of all does not wait until clap has made a list of the names.
        ["hook", "stop"] => Frequent::Hook(Hook::Stop),
        ["hook", name] => Frequent::Hook(Hook::from_str(name, false).ok()?),
        ["statusline"] => Frequent::Statusline,
        _ => return None,
    };
    Some((asked, call))
}

/// Reads the arguments of this process.
pub(super) fn read<M: App>(program: &Program<M>) -> clap::error::Result<clap::ArgMatches> {
    command(program).try_get_matches()
}

fn protocol() -> clap::Arg {
    clap::Arg::new("protocol")
        .long("protocol")
        .value_name("N")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value("")
        .help(
            "Print the protocol that plugin and program speak, and exit; with N, go on where it is that one",
        )
}

/// Returns the whole command line.
pub(super) fn command<M: App>(program: &Program<M>) -> clap::Command {
    let info = program.info;
    let mut command = clap::Command::new(info.program)
        .bin_name(info.program)
        .version(M::VERSION)
        .after_help(EXIT_CODES)
        .arg_required_else_help(true)
        .disable_help_subcommand(true)
        .arg(protocol().hide(true))
        .arg(color::flag())
        .subcommand(start::command::<M>().hide(info.begin.is_some()));
    for own in &program.commands {
        command = command.subcommand((own.command)());
    }
    for own in &program.verbs {
        let own = (own.command)();
        command = command.subcommand(match own.get_name() {
            "report" => Report::with_format(own),
            _ => own,
        });
    }
    let verbs = M::Verb::augment_subcommands(clap::Command::new(info.program));
    let verbs = verbs.get_subcommands().filter(|verb| !verb.is_hide_set());
    let verbs = verbs.map(|verb| verb.clone().display_order(place(M::TABLE, verb.get_name())));
    command = command.subcommands(verbs);
    // What a program calls its own goes before what every program has under that name.
    let common = Command::augment_subcommands(clap::Command::new(info.program));
    let common = common.get_subcommands().cloned();
    let common: Vec<_> = common
        .filter(|one| command.find_subcommand(one.get_name()).is_none())
        .collect();
    let mut command = command.subcommands(common);
    if M::TABLE.phases.iter().all(|phase| phase.review.is_none()) {
        for about_reviews in ["review", "personas"] {
            command = command.mut_subcommand(about_reviews, |one| one.hide(true));
        }
    }
    if asks(M::TABLE) {
        command = Asking::augment_subcommands(command);
    }
    if verify::is_used(M::TABLE) {
        command = Verifying::augment_subcommands(command);
    }
    if chosen::has_many(info) {
        command = Choosing::augment_subcommands(command);
    }
    let command = command.about(M::TABLE.doc).long_about(None);
    grouped((program.arguments)(command))
}

/// Returns where a verb stands in the help, behind what every program has: with a person's where only a person takes it.
fn place(table: &Table, verb: &str) -> usize {
    let mut edges = table
        .edges()
        .filter(|edge| edge.transition.replace('_', "-") == verb);
    let group = match edges.all(|edge| edge.by == [Actor::Person]) {
        true => Group::Person,
        false => Group::Loops,
    };
    group.place() + 1
}

/// Returns whether a phase of a machine asks a person.
pub(super) fn asks(table: &Table) -> bool {
    table.phases.iter().any(|phase| phase.question.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_with_a_format_of_its_own_keeps_it() {
        let own = clap::Command::new("report").arg(clap::Arg::new("how").long("format"));
        let command = Report::with_format(own.clone());
        let given = command.get_matches_from(["report", "--format", "short"]);
        assert!(Report::instead_of(&own, &given).is_none());
        assert_eq!(
            given.get_one::<String>("how").map(String::as_str),
            Some("short")
        );
    }
}
