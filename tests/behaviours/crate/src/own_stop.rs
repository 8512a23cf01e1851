use claudex_loop::behaviours::try_in_turn;
use claudex_loop::{Refusal, Refused, Step};

use crate::own::{AnyLoop, Counting, Loop, OnStop};

pub struct ThreeLines;

impl OnStop for ThreeLines {
    fn counting(&self, held: Loop<Counting>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        // Look by reference; what cannot be looked at is a refusal, and the turn ends.
        let file = held.raw().path("LINES");
        let lines = match std::fs::read_to_string(&file) {
            Ok(text) => text.lines().count(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
            Err(source) => {
                let refusal = Refusal::Observe { what: file.to_string(), source };
                return Err(Refused::new(held.into_any(), refusal));
            }
        };
        // Then try transitions in turn: the next only where a guard refused the one before.
        if lines >= 3 {
            try_in_turn(held, &[&|held| Ok(held.finish()?.into())])
        } else {
            try_in_turn(held, &[&|held| Ok(held.remind()?.into())])
        }
    }
}
