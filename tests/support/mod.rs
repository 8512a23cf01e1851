//! What several test programs need. Each declares `#[path = "../support/mod.rs"] mod support;`, and uses all that is here.

pub(crate) mod stranger;

pub(crate) use stranger::{Crate, target};
