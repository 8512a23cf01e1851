//! The promises of the room as a whole: starting, committing, healing, sweeping.

mod commit;
mod heal;
mod start;
mod sweep;
