//! Our own machine: the plan loop of the root's `machine.toml`, with its messages, personas and the Rust that only it needs.
//!
//! [`typestate`] is what `build.rs` generated; the other files are the few things that a machine file does not say. All of it
//! stands on the public API alone, as a stranger's program does: [`program`] puts it together.

#![expect(
    clippy::allow_attributes,
    reason = "`machine!` has them for machines of any shape, which a stranger's crate does not see"
)]

claudex_loop::machine!(plan as typestate);

pub mod closing;
pub mod context;
pub mod doctor;
pub mod driver;
pub mod interview;
pub mod new;
pub mod report;
pub mod run;
pub mod runner;
pub mod start;
pub mod summary;
pub mod verbs;

use claudex_loop::program::Program;
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::settings::Settings;

pub use typestate::{AnyLoop, Loop, Mode, OnStop, Phase, Start, Verb};

/// Names the plan loop's program in its messages.
pub const INFO: &ProgramInfo = &ProgramInfo::of(&typestate::TABLE);

/// Behaves as the plan loop does: by those of the machine file, all of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlanLoop;

impl OnStop for PlanLoop {}

/// Puts the program together: what follows from the machine file, and what only the plan loop has.
pub fn program() -> Program<typestate::Plan> {
    typestate::program(PlanLoop)
        .command(run::command(), run::run)
        .command(new::command(), new::run)
        .arguments(start::arguments)
        .start(start::fields)
        .context(context::of)
        .earlier(runner::history)
        .entered(entered)
        .reviewed(report::after_review)
        .answered(interview::take)
        .refused(verbs::instead)
        .caveats(notes)
        .check(doctor::check)
}

/// Returns whether a loop reviews the changes of the work tree.
pub fn reviews_changes(held: &AnyLoop) -> bool {
    held.fields().mode() == Mode::Review.to_string()
}

/// Returns what `status` has to say of a loop besides: what a summary admits, and that the agent was reminded.
fn notes(held: &AnyLoop, settings: &Settings) -> Vec<String> {
    let mut notes = summary::caveats(held, settings);
    let waits = matches!(held.phase(), Phase::Drafting | Phase::Reviewing);
    if waits && held.fields().reminders() > 0 {
        notes.push(format!(
            "the agent was reminded once and will not be again; to have it reminded:{}",
            INFO.command(&format!("resume {}", held.id()))
        ));
    }
    notes
}

/// Does what a phase asks for once a loop is in it: the runner of a round, the look before a summary, and the one after it,
/// whose caveats it returns.
///
/// # Errors
/// The runner cannot be written.
pub fn entered(held: &AnyLoop, settings: &Settings) -> Result<Vec<String>, String> {
    match held.phase() {
        phase if phase.is_terminal() => {
            if let Err(error) = runner::clear(held.raw()) {
                held.raw()
                    .store()
                    .log(&format!("{} clean-up: {error}", held.id()));
            }
            return Ok(closing::at_end(held));
        }
        phase if phase.review().is_some() => {
            let written = runner::write(held, &settings.personas);
            written.map_err(|error| format!("could not write the runner: {error}"))?;
        }
        Phase::Summarizing => closing::at_summary(held),
        _ => {}
    }
    Ok(Vec::new())
}
