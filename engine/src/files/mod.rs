//! Safe opening of files: a symlink, pipe or device is refused with an [`UntrustedError`].

mod folder;
pub mod kill_point;
mod lock;
mod paths;
mod read;
mod replace;
#[cfg(test)]
pub(crate) mod testing;

pub(crate) use folder::UNTRUSTED_HELP;
pub use folder::{FileInfo, Folder, UntrustedError, optional};
pub use lock::Lock;
pub use paths::{folder_of, make_all, make_private, without_dots};
pub use read::{MAX_BYTES, open, read, read_to_string, text};
pub use replace::{PreparedFile, TEMPORARY};
