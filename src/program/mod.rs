//! A whole program of any machine: command line, hooks, review, configuration and doctor.
//!
//! With a `build.rs` that compiles a `machine.toml`, `claudex_loop::main!(name);` is the whole of
//! `src/main.rs`; see `docs/your-own-loop.md`. Other parts implement [`Extension`], as ours do
//! (`src/plan/`). No module here knows a phase by name.
//!
//! Begin with `main`, which calls commands and hooks; `stop` is the Stop hook, `review` a review.

mod app;
mod archive;
mod arguments;
pub mod attempts;
pub mod caller;
mod client_files;
mod command_line;
pub mod console;
mod display;
mod doctor;
pub mod exit;
mod extension;
mod hooks;
pub mod import;
pub mod info;
mod last_message;
pub mod locate;
pub mod loops;
mod main;
pub mod next_action;
pub mod open_error;
pub mod out;
pub mod ownership;
mod permission;
pub mod plugin;
mod question_answer;
pub mod review;
pub mod reviewers;
pub mod rounds;
pub mod session_start;
pub mod settings;
mod slash_arguments;
pub mod start;
mod state;
mod stop;
mod turn_end;
mod verbs;

pub use app::{App, HeldLoop, Program, Verb, into_typed, into_untyped};
pub use arguments::loop_flag;
pub use clap;
pub use command_line::Group;
pub use extension::{Extension, NextAction, Variables};
pub use verbs::ChangeResult;
