//! Files, read and replaced safely whatever stands at their path: the lowest room, which knows nothing of loops.
//!
//! | file      | subject                                                                    |
//! |-----------|----------------------------------------------------------------------------|
//! | `folder`  | a folder held open, and its files: for what lies in a project              |
//! | `private` | a folder of the user's own, outside every project                          |
//! | `trust`   | why something that is there is not used                                    |
//! | `read`    | a file that someone else wrote                                             |
//! | `replace` | replacing a file so that a reader finds the old content or the new one     |
//! | `scratch` | folders for data that goes with the process that made it                   |

mod folder;
pub(crate) mod private;
mod read;
mod replace;
pub mod scratch;
mod trust;

pub use folder::{Folder, Found, folder_of, if_there};
pub(crate) use folder::{Made, make_all};
pub(crate) use read::MOST;
pub use read::{read, read_in, read_to_string, text};
pub(crate) use replace::TEMPORARY;
pub use replace::replace;
pub use trust::{Distrust, UntrustedError};
