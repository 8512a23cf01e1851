//! Whether this user's own folder outside every project can be used: the record of loops, what was typed, what sessions saw.

use claudex_loop::files::UntrustedError;
use claudex_loop::store::StateHome;

use super::{Check, Problem};

/// The folder is the user's own, closed to others, and can be written.
pub(super) fn check() -> Check {
    Check::required("state home", usable())
}

fn usable() -> Result<String, Problem> {
    let home = StateHome::of_user();
    let folder = home
        .checked()
        .map_err(|error| Problem::of(&error, "set HOME to your home folder"))?;
    match StateHome::try_out(folder) {
        Ok(true) => Ok(format!("{folder}/claudex-loop")),
        Ok(false) => Ok(format!("{folder}/claudex-loop (made by the first start)")),
        Err(error) => Err(match UntrustedError::of(&error) {
            Some(UntrustedError { path, why }) => Problem::new(format!("{path}: {why}"), why.help()),
            None => Problem::new(
                format!("{folder}/claudex-loop cannot be written: {error}"),
                "make that folder writable for you, or set XDG_STATE_HOME to one that is",
            ),
        }),
    }
}
