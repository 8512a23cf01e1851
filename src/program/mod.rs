//! A whole program of any machine: command line, hooks, review, configuration and doctor.
//!
//! A crate whose `build.rs` compiles a `machine.toml` is such a program with one line, `claudex_loop::main!(name);`, as the
//! whole of its `src/main.rs`; see `docs/your-own-loop.md`. What a program has besides, its `main` adds to a [`Program`], as our
//! own does (`src/plan/`). This room knows no phase by name.
//!
//! | file | subject |
//! |---|---|
//! | `assembled` | a generated machine as a program, and what a program adds to it |
//! | `arguments`, `dispatch`, `typed` | its command line, and what was typed after a slash command |
//! | `start`, `verbs`, `loops`, `pause`, `rollback`, `review`, `display`, `config`, `state`, `generate` | its commands |
//! | `hooks`, `stop`, `turn`, `session_start`, `compaction`, `answer`, `permission` | what a client's hooks call |
//! | `doctor`, `client_files` | checks of the installation, and what the client's files say |
//! | `settings`, `reviewers` | the person's configuration, and who reviews |
//! | `info`, `messages`, `next_action`, `words`, `rounds` | how it names itself, and what it says of a loop and its journal |
//! | `attempts` | what was tried and refused, into the journal and out of it |
//! | `incompatible` | the ways out for a loop that cannot be opened |
//! | `locate`, `vanished`, `caller`, `suggest` | which loop is meant, which state folder is gone, who calls, what was mistyped |
//! | `exit`, `out`, `color`, `shell` | exit codes, printing, colours, quoting |
//! | `plugin` | the plugin's folder: hooks, launcher, slash commands |

mod answer;
mod arguments;
mod assembled;
pub mod attempts;
pub mod caller;
mod chosen;
mod client_files;
mod color;
mod compaction;
mod config;
pub mod consent;
mod dispatch;
mod display;
mod doctor;
pub mod exit;
mod generate;
mod help;
pub mod hooks;
mod import;
pub mod incompatible;
pub mod info;
pub mod locate;
pub mod loops;
pub mod messages;
mod next_action;
pub mod out;
mod pause;
mod permission;
pub mod plugin;
pub mod review;
pub mod reviewers;
mod rollback;
pub mod rounds;
pub mod session_start;
pub mod settings;
pub mod shell;
pub mod start;
mod state;
mod state_file;
mod state_folders;
pub mod stop;
pub mod suggest;
mod turn;
mod typed;
mod vanished;
mod verb_args;
mod verbs;
mod verify;
pub mod words;

pub use arguments::Time;
pub use assembled::{App, NotTaken, Program, RunCommand, RunVerb};
pub use clap;
pub use color::Tone;
pub use help::Group;
pub use next_action::NextAction;
pub use verb_args::{LoopArgs, Rejecting};
