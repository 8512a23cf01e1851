//! Files, read and replaced safely whatever stands at their path: the lowest room, which knows nothing of loops.
//!
//! | file      | subject                                                                    |
//! |-----------|----------------------------------------------------------------------------|
//! | `private` | a folder of the user's own, outside every project                          |
//! | `read`    | a file that someone else wrote                                             |
//! | `replace` | replacing a file so that a reader finds the old content or the new one     |
//! | `scratch` | folders for data that goes with the process that made it                   |

pub(crate) mod private;
mod read;
mod replace;
pub mod scratch;

pub use read::{read, read_to_string};
pub use replace::replace;
pub(crate) use replace::{Prepared, TEMPORARY, sync_folder_of};
