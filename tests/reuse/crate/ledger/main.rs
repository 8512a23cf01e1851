#![deny(warnings)]
use std::process::ExitCode;

use claudex_loop::machine::LoopHandle;
use claudex_loop::program::{Extension, Variables};
use claudex_loop::review::Subject;

claudex_loop::machine!(ledger);
use ledger::{AnyLoop, OnStop};

struct Ledger;

/// The first row that is open: `open FILE: what it is for`.
impl OnStop for Ledger {
    fn subjects(&self, held: &AnyLoop) -> Result<Vec<Subject>, String> {
        let table = held.raw().read("TABLE").map_err(|error| format!("TABLE: {error}"))?;
        let table = String::from_utf8_lossy(&table);
        let mut rows = table.lines().filter_map(|row| row.strip_prefix("open ")?.split_once(": "));
        let Some((file, what)) = rows.next() else {
            return Ok(Vec::new());
        };
        let row = Subject { name: "its row".to_owned(), text: Some(what.to_owned()) };
        Ok(vec![row, Subject { name: file.to_owned(), text: None }])
    }
}

impl Extension for Ledger {
    fn context(&self, held: &dyn LoopHandle) -> Variables {
        let rule = format!("Round {}: sums have two digits.", held.raw().count("round"));
        [("rule".to_owned(), rule.into())].into_iter().collect()
    }
}

fn main() -> ExitCode {
    ledger::extended_program(Ledger, Ledger).main()
}
