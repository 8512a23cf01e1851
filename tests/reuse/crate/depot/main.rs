#![deny(warnings)]
use depot::{AnyLoop, OnStop};

struct Depot;

impl OnStop for Depot {
    fn verifies(&self, held: &AnyLoop) -> Result<Vec<String>, String> {
        let text = std::fs::read_to_string(held.raw().path("COMMANDS.ignored")).map_err(|error| error.to_string())?;
        Ok(text.lines().map(str::to_owned).collect())
    }
}

claudex_loop::main!(depot, Depot);
