//! The arguments of the commands that every machine's program has.

use camino::Utf8PathBuf;
use clap::builder::{
    BoolValueParser, PossibleValuesParser, StringValueParser, TypedValueParser as _,
};
use clap::{Arg, Args, Subcommand, value_parser};
use serde_json::Value as Json;

use super::settings::{FAILURES_FIELD, MAX_ROUNDS_LIMIT, ROUNDS_FIELD};
use crate::machine::table::FieldKind;
use crate::store::MAX_COUNT;

/// Returns the flag `--id LOOP` for [`Program::change`](super::Program::change).
pub fn loop_flag() -> clap::Arg {
    clap::Arg::new("id")
        .long("id")
        .value_name("LOOP")
        .help("The loop [default: the active one]")
}

/// Returns a name of the machine as it is typed: `max-rounds`.
pub(super) fn long(name: &str) -> String {
    name.replace('_', "-")
}

/// Returns the flag of a field or of an argument of a transition. Its value is JSON.
pub(super) fn flag(name: &'static str, doc: &str, kind: FieldKind) -> Arg {
    let (first, rest) = doc.split_at_checked(1).unwrap_or((doc, ""));
    let flag = Arg::new(name)
        .long(long(name))
        .value_name(long(name).to_uppercase())
        .value_parser(StringValueParser::new().map(Json::from))
        .allow_hyphen_values(true)
        .help(first.to_uppercase() + rest);
    match kind {
        FieldKind::Count => {
            let counts = match name {
                ROUNDS_FIELD | FAILURES_FIELD => 1..=MAX_ROUNDS_LIMIT,
                _ => 0..=MAX_COUNT,
            };
            let counts = value_parser!(u64).range(counts);
            flag.value_name("N").value_parser(counts.map(Json::from))
        }
        FieldKind::Path => {
            // Claude Code completes a path with an @ in front.
            let path = |path: String| Json::from(path.strip_prefix('@').unwrap_or(&path));
            let parser = StringValueParser::new().map(path);
            flag.value_name("PATH").value_parser(parser)
        }
        FieldKind::OneOf(words) => {
            flag.value_parser(PossibleValuesParser::new(words).map(Json::from))
        }
        FieldKind::Flag => flag
            .value_name("true|false")
            .value_parser(BoolValueParser::new().map(Json::from))
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true"),
        _ => flag,
    }
}

/// The commands that every machine has, but for `start`, whose flags are the machine's.
#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show where the loop is
    Status(ShowArgs),
    /// List the loops of this project
    List(Format),
    /// Show what happened to a loop, change by change
    #[command(alias = "history", mut_arg("id", |id| id.help("The loop; without one, all are listed")))]
    Journal(ShowArgs),
    /// Print everything about a loop on one page, as HTML or JSON
    Report {
        #[command(flatten)]
        target: LoopArgs,
        /// The format: a page for a browser, or its facts for programs
        #[arg(long, value_parser = ["html", "json"], default_value = "html")]
        format: String,
    },
    /// Review the round that a loop is in, or follow its review
    Review(ReviewArgs),
    /// Run the commands that verify the work
    ///
    /// Those that your configuration names or allows (`allow_commands`) run.
    Verify(LoopArgs),
    /// Have the stops of this session drive a loop
    ///
    /// Until another one of its loops is changed or chosen.
    Use {
        /// The loop
        #[arg(value_name = "LOOP")]
        id: String,
    },
    /// Resume a waiting, paused or archived loop
    Resume(LoopArgs),
    /// Pause a loop: no stop drives it until `resume`
    Pause(LoopArgs),
    /// Move a loop to the archive, until `resume`
    Archive(LoopArgs),
    /// Take a loop over into this session
    Adopt {
        #[command(flatten)]
        target: LoopArgs,
        /// Do not ask if another session may be working on it
        #[arg(long)]
        yes: bool,
    },
    /// Start a loop from a state document, such as that of a clone
    Import {
        /// The document; the loop continues in its phase
        file: Utf8PathBuf,
    },
    /// Show who reviews in which round
    Personas,
    /// Archive inactive loops, as a start does
    Sweep,
    /// Move all loops of this project to the archive
    Rollback {
        /// Do not ask; required without a terminal
        #[arg(long)]
        yes: bool,
    },
    /// Answer the question that the loop asks
    #[command(allow_missing_positional = true)]
    Answer {
        /// The loop [default: the active one]
        #[arg(value_name = "LOOP", allow_hyphen_values = true)]
        id: Option<String>,
        /// The label of an option; or a text of your own, if the question takes one
        #[arg(value_name = "LABEL", required = true, allow_hyphen_values = true)]
        label: String,
    },
    /// Check the installation
    Doctor(Format),
    /// Show the configuration
    #[command(subcommand)]
    Config(Config),
    /// Print the hooks for .claude/settings.json
    Hooks,
    /// Write the plugin of Claude Code that calls this program
    #[command(subcommand)]
    Plugin(Plugin),
    /// Print one line for the client's status line
    ///
    /// Reads the client's JSON from stdin.
    Statusline,
    /// Read and change state files, for scripts
    #[command(hide = true)]
    State {
        /// new-id, valid-id, write, get, set, move, sweep, find, counts, persona, persona-label
        helper: String,
        /// The arguments of the helper
        #[arg(allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
}

#[derive(Debug, Args)]
pub(super) struct ReviewArgs {
    /// The loop [default: the active one]
    #[arg(value_name = "LOOP")]
    pub(super) id: Option<String>,
    /// The reviewer: codex, claude, lint (built in), one of your configuration, auto [default: as configured, or auto]
    #[arg(long, value_name = "NAME")]
    pub(super) reviewer: Option<String>,
    /// Show the reviewer's last lines and follow the review that is running; never start one
    #[arg(long, conflicts_with = "reviewer")]
    pub(super) follow: bool,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    #[command(flatten)]
    pub(super) target: LoopArgs,
    #[command(flatten)]
    pub(super) format: Format,
}

/// Text or JSON.
#[derive(Debug, Clone, Copy, Args)]
pub(super) struct Format {
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// The loop that a verb or command is about.
#[derive(Debug, Args)]
pub(super) struct LoopArgs {
    /// The loop [default: the active one]
    #[arg(value_name = "LOOP")]
    pub(super) id: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Config {
    /// Print every setting that holds here, with its source
    Show(Format),
}

#[derive(Debug, Subcommand)]
pub(super) enum Plugin {
    /// Write the plugin's folder: hooks, launcher, slash commands
    Write {
        /// The folder: a new one, or a plugin's, whose files are replaced
        #[arg(value_name = "DIR")]
        dir: Utf8PathBuf,
    },
}
