//! Files that are opened safely: a symlink, a pipe or a device at the path is refused.
//!
//! | file         | subject                                                                 |
//! |--------------|-------------------------------------------------------------------------|
//! | `folder`     | a folder held open, and the files in it                                 |
//! | `paths`      | opening and making folders by path                                      |
//! | `replace`    | replacing a file whole                                                  |
//! | `read`       | reading a file that the user named                                      |
//! | `lock`       | advisory locks on files                                                 |
//! | `kill_point` | where a debug build kills itself in a test                              |
//!
//! # Errors
//!
//! Each function returns an error if the system refuses, and an [`UntrustedError`] if a file or folder is of the wrong kind.

mod folder;
pub mod kill_point;
mod lock;
mod paths;
mod read;
mod replace;

pub use folder::{Distrust, Folder, Found, UntrustedError, if_there};
pub use lock::Lock;
pub use paths::{folder_of, make_all, make_private, open_private};
pub use read::{MAX_BYTES, open, read, read_to_string, text};
pub use replace::{Prepared, TEMPORARY};
