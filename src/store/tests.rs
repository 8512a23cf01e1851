//! The promises of the room as a whole: starting, committing, repairing, sweeping.

mod commit;
mod index;
mod lists;
mod nulls;
mod paths;
mod place;
mod power;
mod random;
mod repair;
mod start;
mod sweep;
