//! Files, read and replaced safely whatever stands at their path: the lowest room, which knows nothing of loops.
//!
//! | file         | subject                                                                    |
//! |--------------|----------------------------------------------------------------------------|
//! | `folder`     | a folder held open, and its files: for what lies in a project              |
//! | `below`      | the same by a path below a root                                            |
//! | `kept`       | a folder that is kept open between two uses                                |
//! | `private`    | a folder of the user's own, outside every project                          |
//! | `checks`     | why something that is there is not used                                    |
//! | `kill_point` | where a debug build can be told to kill itself, for tests                  |
//! | `read`       | a file that someone else wrote                                             |
//! | `replace`    | replacing a file so that a reader finds the old content or the new one     |
//! | `scratch`    | folders for data that goes with the process that made it                   |

mod below;
mod checks;
mod folder;
mod kept;
pub mod kill_point;
pub mod private;
mod read;
mod replace;
pub mod scratch;

pub use below::{Made, make_all};
pub use below::{folder_of, read_in};
pub use checks::{Distrust, UntrustedError};
pub use folder::Prepared;
pub use folder::TEMPORARY;
pub use folder::{Folder, Found, if_there};
pub use kept::Kept;
pub use read::{MOST, open};
pub use read::{read, read_to_string, text};
pub use replace::replace;
