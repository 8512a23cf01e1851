//! What a loop of any machine needs to be a program of its own: command line, hooks, and, where they are asked for, tools on machine files.
//!
//! A crate whose `build.rs` compiles a `machine.toml` is such a program with one line, `claudex_loop::main!(name);`, as the
//! whole of its `src/main.rs`; see `docs/your-own-loop.md`. This room knows no phase by name. Our own binary (`src/cli/`,
//! `src/plan/`) stands on the same pieces, and adds what only the plan loop has.
//!
//! | file | subject |
//! |---|---|
//! | `program` | a generated machine as a program, with its stops |
//! | `dispatch` | the command line of such a program |
//! | `start`, `verbs`, `loops`, `look`, `doctor` | its commands |
//! | `stop`, `session_start`, `answer`, `hooks` | what a client's hooks call |
//! | `client_files`, `others` | what a client has besides: its settings, plugins, and the Stop hooks of others |
//! | `speaker`, `told`, `words` | how it names itself, and what it says of a loop and its journal |
//! | `attempts` | what was tried and refused, into the journal and out of it |
//! | `stranded` | what it says of a loop that another version of the machine wrote |
//! | `locate`, `caller`, `near` | which loop is meant, who calls, what was mistyped |
//! | `exit`, `out`, `screen`, `table`, `shell` | exit codes, printing, fitting a terminal, quoting |
//! | `machine` | tools on machine files, with the feature `machine-tools` |

pub mod answer;
pub mod attempts;
pub mod caller;
pub mod client_files;
mod dispatch;
mod doctor;
pub mod exit;
pub mod hooks;
pub mod locate;
mod look;
pub mod loops;
#[cfg(feature = "machine-tools")]
pub mod machine;
pub mod near;
pub mod others;
pub mod out;
mod program;
pub mod screen;
pub mod session_start;
pub mod shell;
pub mod speaker;
mod start;
pub mod stop;
pub mod stranded;
pub mod table;
pub mod told;
mod verbs;
pub mod words;

pub use dispatch::main;
pub use program::{App, Program};
