//! Looking at loops of any machine: status, list, journal. Nothing here changes one, but for what opening heals.

mod history;
mod listing;
mod status;

pub(super) use history::journal;
pub(super) use listing::list;
pub(super) use status::status;
