//! Our application: the plan loop of the root's `machine.toml`, with its messages, personas and start.
//!
//! [`typestate`] is what `build.rs` generated; the other files are the few things that a machine file does not say. The
//! rooms below (`hook`, `drive`, `review`, `machine`, `store`) know nothing of this one.

#![expect(
    clippy::allow_attributes,
    reason = "`machine!` has them for machines of any shape, which a stranger's crate does not see"
)]

crate::machine!(plan as typestate);

pub mod caller;
pub mod changes;
pub mod closing;
pub mod driver;
pub mod interview;
pub mod locate;
pub mod messages;
pub mod outlook;
pub mod report;
pub mod reviewers;
pub mod runner;
pub mod settings;
pub mod start;
pub mod stop;
pub mod summary;

pub use crate::app::near;
pub use typestate::{AnyLoop, Fields, Loop, Mode, OnStop, Phase, Start, Transition, Verb};
