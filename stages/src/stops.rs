//! The stops that `machine.toml` leaves to Rust: an open instruction is repeated, and the questions.

use claudex_loop::behaviours::ask::Asked;
use claudex_loop::behaviours::{attempt, or_else, settle};
use claudex_loop::{Refused, Step};

use crate::questions;
use crate::typestate::{AnyLoop, Asking, Choosing, Dispatched, Failed, Loop, OnStop, Recovering};

/// Behaves as the machine file and this file say.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Stages;

impl OnStop for Stages {
    fn dispatched(&self, held: Loop<Dispatched>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        settle(or_else(attempt(held), Loop::remind))
    }

    fn recovering(&self, held: Loop<Recovering>) -> Result<Step<AnyLoop>, Refused<AnyLoop>> {
        settle(or_else(attempt(held), Loop::remind))
    }

    fn asking_asks(&self, held: &Loop<Asking>) -> Result<Option<Asked>, String> {
        questions::asking(held.raw()).map(Some)
    }

    fn choosing_asks(&self, held: &Loop<Choosing>) -> Result<Option<Asked>, String> {
        Ok(Some(questions::choosing(held.raw())))
    }

    fn failed_asks(&self, held: &Loop<Failed>) -> Result<Option<Asked>, String> {
        Ok(Some(questions::failed(held.raw())))
    }
}
