//! An errand whose state file is its notes. What it does stands in `machine.toml`; in Rust is what it costs, since a list of sums is
//! no field that a guard could read.

use std::process::ExitCode;

use claudex_loop::program::NotTaken;
use claudex_loop::program::clap::{Arg, ArgMatches, Command, value_parser};
use claudex_loop::program::exit::{Exit, Failure};
use serde::{Deserialize, Serialize};

/// Lists what was paid, in order.
pub type Costs = Vec<Cost>;

/// Holds one payment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cost {
    what: String,
    amount: f64,
}

claudex_loop::machine!(errand);

/// All that a stop does stands in the machine file.
struct Errand;

impl errand::OnStop for Errand {}

fn main() -> ExitCode {
    errand::program(Errand)
        .verb(pay_command, pay)
        .taking(|held, verb| {
            if let errand::Verb::Drop { .. } = verb {
                held.add_text("It was dropped.");
            }
            Ok(())
        })
        .status(|held| {
            let paid: f64 = held.fields().costs().iter().map(|cost| cost.amount).sum();
            vec![("paid", format!("{paid:.2}"))]
        })
        .main()
}

fn pay_command() -> Command {
    Command::new("pay")
        .about("Write down what was paid")
        .arg(
            Arg::new("amount")
                .required(true)
                .value_parser(value_parser!(f64)),
        )
        .arg(Arg::new("what").required(true))
}

fn pay(
    held: errand::AnyLoop,
    given: &ArgMatches,
) -> Result<errand::AnyLoop, NotTaken<errand::AnyLoop>> {
    let errand::AnyLoop::Working(mut held) = held else {
        return Err(Failure::plain(
            Exit::Refused,
            "errand::over",
            format!("errand {} is over", held.id()),
            "write it into the notes",
        )
        .into());
    };
    let (amount, what) = (given.get_one("amount"), given.get_one::<String>("what"));
    let (amount, what) = (
        amount.copied().unwrap_or_default(),
        what.cloned().unwrap_or_default(),
    );
    let mut costs = held.fields().costs();
    held.add_text(&format!("Paid {amount:.2} for {what}."));
    costs.push(Cost { what, amount });
    held.set_costs(&costs)?;
    Ok(held.pay()?.into_any())
}
