//! The promises of the room as a whole: starting, committing, healing, sweeping.

mod commit;
mod heal;
mod lists;
mod paths;
mod start;
mod sweep;
mod versions;
