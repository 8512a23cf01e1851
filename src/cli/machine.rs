//! `machine`: look at the plan loop's machine, and check any machine.toml.

use claudex_loop::plan::typestate;

use super::args::Machine;
use super::exit::{Exit, Failure};
use super::out;

/// Runs a machine command.
pub(crate) fn machine(command: Machine) -> Result<Exit, Failure> {
    match command {
        Machine::Show => out::text(typestate::SPEC),
        Machine::Diagram => out::text(typestate::DIAGRAM),
        Machine::Check { file } => {
            let source = fs_err::read_to_string(&file).map_err(|error| {
                Failure::plain(
                    Exit::Usage,
                    "claudex::machine::read",
                    error.to_string(),
                    "give the path of a machine.toml, saved as UTF-8",
                )
            })?;
            let machine = claudex_build::check_source(file.as_str(), &source).map_err(|diagnostics| {
                let message = format!("{file}: {} findings, and no machine", diagnostics.list.len());
                Failure::headed(Exit::Refused, message, diagnostics)
            })?;
            out::line(&format!(
                "{file}: machine `{}` is well-formed: {} phases, {} transitions, {} edges",
                machine.name.value,
                machine.phases.len(),
                machine.transition_names().len(),
                machine.edges().len(),
            ));
        }
    }
    Ok(Exit::Complete)
}
