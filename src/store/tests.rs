//! The promises of the room as a whole: starting, committing, repairing, sweeping.

mod commit;
mod index;
mod lists;
mod paths;
mod place;
mod power;
mod repair;
mod start;
mod sweep;
mod versions;
