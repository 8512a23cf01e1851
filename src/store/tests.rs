//! The promises of the room as a whole: starting, committing, healing, sweeping.

mod commit;
mod lists;
mod paths;
mod repair;
mod start;
mod sweep;
mod versions;
