//! The arguments. Verbs of the machine stand beside our own commands at the top level.

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use claudex_loop::app::machine::Command as Machine;
use claudex_loop::plan::Verb;
use claudex_loop::plan::settings::MOST_ROUNDS;
use claudex_loop::process::limits::{self, Limits};

/// What `--help` says last.
const EXIT_CODES: &str = "\
Exit codes:
  0  complete
  1  refused: another loop is active (start), the transition is not open here, or the answer is no
  2  bad usage
  3  a failure of our own, or of the system
  4  the loop stopped at max rounds, or stalled (run)
  5  the reviewer could not run (run, review)
  6  another loop is active (run)
  7  loops on disk need a migration (machine diff)
  8  loops on disk cannot go on (machine diff)
  130  interrupted by a signal";

/// A loop engine for coding agents: a plan is drafted, grilled by a reviewer round after round, and summed up.
#[derive(Debug, Parser)]
#[command(name = "claudex-loop", version, after_help = EXIT_CODES, max_term_width = 100)]
pub(crate) struct Cli {
    /// Print the protocol that plugin and binary speak, and exit
    #[arg(long)]
    pub(crate) protocol: bool,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Take a plan document through the whole loop, outside Claude Code
    #[command(after_help = EXIT_CODES)]
    Run(Run),
    /// Start a loop that Claude Code's Stop hook drives
    Start(Start),
    /// Review the round that a loop is in, or follow the review that is running
    Review(Review),
    /// Show where the loop is
    Status(Look),
    /// List the loops of this project
    List(Format),
    /// Let a loop that waits, or that was swept, go on (a person's command)
    Resume(Target),
    /// Take a loop over into this session (a person's command)
    Adopt(Target),
    /// Show what happened to a loop, change by change; without an id, which loops there are
    #[command(alias = "history")]
    Journal(Look),
    /// Put loops aside that showed no sign of life for CLAUDEX_STALE_MINUTES (15)
    Sweep {
        /// Say what would be put aside, and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Move everything of every loop of this project to a dated folder (a person's command)
    Rollback {
        /// Do not ask; needed where there is no terminal to ask on
        #[arg(long)]
        yes: bool,
        /// Take what the command's prompt hook stored
        #[arg(long, hide = true)]
        from_prompt: bool,
    },
    /// Show who reviews in which round
    Personas,
    /// Check that everything a loop needs is there
    Doctor {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Look at the configuration: where it is, what holds, what is wrong with it
    #[command(subcommand)]
    Config(Config),
    /// Look at machines: the plan loop's own, or any machine.toml
    #[command(subcommand)]
    Machine(Machine),
    /// Read and change state files; what the plugin's state-helpers.sh calls
    #[command(subcommand)]
    State(State),
    /// Print the completions of a shell
    Completions {
        /// Which one
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Print the man page, or write one for each command
    Man {
        /// Write the pages into this folder, which is made
        #[arg(long, value_name = "DIR")]
        dir: Option<Utf8PathBuf>,
    },
    /// Claude Code's Stop hook: one JSON value on stdin, one decision on stdout
    Stop,
    /// Claude Code's prompt hooks: keeps what was typed after one of our commands
    Prompt,
    /// Claude Code's hook on AskUserQuestion: takes the answers of the interview into the topic
    Answer,
    /// Claude Code's hook at the start of a session: says in one line where a loop waits
    SessionStart,
    #[command(flatten)]
    Verb(Verb),
}

/// The whole command line. What a verb of the machine leaves open, such as how far an argument may go, is said here.
pub(crate) fn command() -> clap::Command {
    let rounds = |argument: clap::Arg| {
        argument
            .help("How many further rounds")
            .value_name("N")
            .required(false)
            .default_value("1")
            .value_parser(clap::value_parser!(u64).range(1..=MOST_ROUNDS))
    };
    Cli::command().mut_subcommand("more", |more| more.mut_arg("rounds", rounds))
}

/// `run`
#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The plan, a Markdown file
    #[arg(value_name = "PLAN.md")]
    pub(crate) plan: Utf8PathBuf,
    /// How many rounds at most [default: 3, or CLAUDEX_MAX_PLAN_ROUNDS]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub(crate) rounds: Option<String>,
    /// Who reviews: codex, claude, lint (built in), one of your configuration, auto [default: CLAUDEX_REVIEWER, else auto]
    #[arg(long, value_name = "NAME")]
    pub(crate) reviewer: Option<String>,
    /// A command that revises the plan between rounds; it gets the findings on stdin
    #[arg(long, value_name = "COMMAND")]
    pub(crate) drafter: Option<String>,
    #[command(flatten)]
    pub(crate) time: Time,
    /// Print the outcome as JSON on stdout, and nothing else there
    #[arg(long)]
    pub(crate) json: bool,
}

/// The limits of a review.
#[derive(Debug, Args)]
pub(crate) struct Time {
    /// How long one review may take, such as 90s or 10m
    #[arg(long, value_name = "TIME", value_parser = limits::parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// How long it may be silent
    #[arg(long, value_name = "TIME", value_parser = limits::parse_duration)]
    pub(crate) idle_timeout: Option<Duration>,
}

impl Time {
    pub(crate) fn limits(&self, usual: Limits) -> Limits {
        Limits {
            timeout: self.timeout.unwrap_or(usual.timeout),
            idle: self.idle_timeout.unwrap_or(usual.idle),
        }
    }
}

/// `start`
#[derive(Debug, Args)]
pub(crate) struct Start {
    /// plan or review
    #[arg(value_enum)]
    pub(crate) mode: Mode,
    /// Flags (--rounds N, --from-draft, --skip-interview, --interviewed, --continue ID, --plan PATH), then the topic
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "FLAGS AND TOPIC"
    )]
    pub(crate) rest: Vec<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Mode {
    Plan,
    Review,
}

/// `review`
#[derive(Debug, Args)]
pub(crate) struct Review {
    /// The loop's id
    #[arg(value_name = "ID")]
    pub(crate) id: String,
    /// Who reviews: codex, claude, lint (built in), one of your configuration, auto [default: CLAUDEX_REVIEWER, else auto]
    #[arg(long, value_name = "NAME")]
    pub(crate) reviewer: Option<String>,
    #[command(flatten)]
    pub(crate) time: Time,
    /// Show the reviewer's last lines and follow the review that is running; never start one
    #[arg(long, conflicts_with_all = ["reviewer", "timeout", "idle_timeout"])]
    pub(crate) follow: bool,
}

/// A loop to look at.
#[derive(Debug, Args)]
pub(crate) struct Look {
    /// The loop's id
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Take the id from what the command's prompt hook stored
    #[arg(long, hide = true, conflicts_with = "id")]
    pub(crate) from_prompt: bool,
}

/// Text or JSON.
#[derive(Debug, Args)]
pub(crate) struct Format {
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A loop that a person's command is about.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// The loop's id [default: the active one]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Take the id from what the command's prompt hook stored
    #[arg(long, hide = true, conflicts_with = "id")]
    pub(crate) from_prompt: bool,
}

/// `config`
#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print where the user's and the project's file are, and whether they are there
    Path {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print every setting that holds here, with where it comes from
    Show {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Check both files and the environment; exit 2 with every finding where something is wrong
    Check,
    /// Print the JSON Schema of the user's file
    Schema {
        /// That of a project's file
        #[arg(long)]
        project: bool,
    },
    /// Write the user's file, with every setting commented out, where there is none
    Init,
}

/// `state`
#[derive(Debug, Subcommand)]
pub(crate) enum State {
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
