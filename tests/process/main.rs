//! The program as a process: what a client, a person and a script see of it, each test in a project of its own.

mod bad_paths;
mod config;
mod coverage;
mod doctor;
mod following;
mod going_on;
mod helping;
mod hook;
mod hostile;
mod index;
mod interview;
mod looking;
mod machine;
mod one_text;
mod ownership;
#[path = "../support/paste.rs"]
mod paste;
mod programs;
mod putting_away;
mod review_mode;
mod reviewers;
mod round;
mod run;
mod session_start;
mod sessions;
mod smoke;
mod start;
mod state_helpers;
mod support;
mod tamper;
mod terminal;
mod text;
mod untouched;
mod updating;
mod upgrade;
mod versions;
