//! Whether this user's own folder outside every project can be used: the record of loops, what was typed, what sessions saw.

use crate::files::UntrustedError;
use crate::program::info::ProgramInfo;
use crate::store::StateHome;

use super::{Check, Problem};

/// The folder is the user's own, closed to others, and can be written.
pub(super) fn check(info: &ProgramInfo) -> Check {
    Check::required("state home", usable(info))
}

fn usable(info: &ProgramInfo) -> Result<String, Problem> {
    let home = StateHome::of_user(info.program);
    let folder = home
        .checked()
        .map_err(|error| Problem::of(&error, "set HOME to your home folder"))?;
    match StateHome::try_out(folder) {
        Ok(true) => Ok(format!("{folder}")),
        Ok(false) => Ok(format!("{folder} (made by the first start)")),
        Err(error) => Err(match UntrustedError::of(&error) {
            Some(UntrustedError { path, why }) => {
                Problem::new(format!("{path}: {why}"), why.help())
            }
            None => Problem::new(
                format!("{folder} cannot be written: {error}"),
                "make that folder writable for you, or set XDG_STATE_HOME to one that is",
            ),
        }),
    }
}
