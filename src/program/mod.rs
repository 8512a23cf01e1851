//! A whole program of any machine: command line, hooks, review, configuration and doctor.
//!
//! A crate whose `build.rs` compiles a `machine.toml` is such a program with one line, `claudex_loop::main!(name);`, as the
//! whole of its `src/main.rs`; see `docs/your-own-loop.md`. Its other parts it implements as an [`Extension`], as our own
//! does (`src/plan/`). No module here knows a phase by name.
//!
//! | module | subject |
//! |---|---|
//! | `builder`, `extension` | the program of a generated machine, and the additions of a machine's crate |
//! | `app` | the machine without its types |
//! | `main`, `command_line`, `arguments`, `slash_arguments` | the call, its commands and arguments, the text typed after a slash command |
//! | `stop` | the Stop hook, step by step |
//! | `hooks`, `surroundings`, `turn_end`, `session_loops` | parts of a hook: input, environment, the turn that ends, the session's loop |
//! | `session_start`, `compaction`, `question_answer`, `permission` | the other hooks |
//! | `start`, `verbs`, `resume`, `adopt`, `use_command`, `archive`, `import`, `review`, `verify`, `display`, `config`, `state`, `generate` | the commands |
//! | `loops`, `locate`, `caller` | finding a loop, and who may decide about it |
//! | `doctor`, `client_files` | checks of the installation, and the client's files |
//! | `settings`, `reviewers` | the user's configuration, and the reviewers |
//! | `info`, `messages`, `next_action`, `last_message`, `change_text`, `durations`, `rounds` | texts about a loop and its journal |
//! | `attempts`, `incompatible` | refused attempts, and loops that cannot be opened |
//! | `exit`, `out`, `color`, `shell`, `help`, `suggest` | exit codes, printing, colours, quoting, help, mistyped words |
//! | `plugin` | the plugin's folder: hooks, launcher, slash commands |

pub mod adopt;
mod app;
mod archive;
mod arguments;
pub mod attempts;
mod builder;
pub mod caller;
mod change_text;
mod client_files;
mod color;
mod command_line;
mod compaction;
mod config;
mod display;
mod doctor;
mod durations;
pub mod exit;
mod extension;
mod generate;
mod help;
pub mod hooks;
mod import;
pub mod incompatible;
pub mod info;
mod last_message;
pub mod locate;
pub mod loops;
mod main;
pub mod messages;
mod next_action;
pub mod out;
mod permission;
pub mod plugin;
mod question_answer;
mod resume;
pub mod review;
pub mod reviewers;
pub mod rounds;
pub mod session_loops;
pub mod session_start;
pub mod settings;
pub mod shell;
pub mod slash_arguments;
pub mod start;
mod state;
mod state_file;
mod stop;
pub mod suggest;
pub mod surroundings;
mod turn_end;
mod verbs;
mod verify;

pub use app::{App, HeldLoop, ParsedVerb, into_typed, into_untyped};
pub use arguments::{LoopArgs, Time};
pub use builder::Program;
pub use clap;
pub use color::Tone;
pub use extension::{Extension, NextAction, NoExtension, NotTaken, RunCommand, RunVerb, Variables};
pub use help::Group;
