//! `verify`: runs the commands that verify the work and that the user's configuration allows.

use super::builder::Program;
use super::console::Console;
use super::exit::{Ended, Exit, Failure};
use super::{loops, messages, out};
use crate::behaviours::verify;

/// Runs the commands of the phase that a loop is in.
pub(super) fn verify(program: &Program, id: Option<&str>) -> Ended {
    let info = program.info;
    let held = loops::open_found(program, id)?;
    let raw = held.raw();
    let console = Console::new(info.line(""), false);
    let ran = match verify::verify(raw, &mut |event| console.event(event)) {
        Ok(Some(ran)) => ran,
        Ok(None) => return Ok(Exit::Interrupted),
        Err(why) => {
            let problem = format!("loop {}: {why}", raw.id());
            return Err(Failure::refuse(problem, &messages::unchanged(raw)));
        }
    };
    out::text(&format!("\n{}\n\n", verify::text(raw)));
    match ran.problem(raw) {
        None => {
            console.line("all commands passed on the work tree as it is");
            Ok(Exit::Complete)
        }
        Some(problem) => {
            out::note(&info.line(&problem));
            Ok(Exit::Refused)
        }
    }
}
