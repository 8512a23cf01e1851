//! Whether the settings can be used, and what they say.

use crate::program::info::ProgramInfo;
use crate::program::locate;
use crate::program::settings::Settings;
use camino::Utf8Path;

use super::{Check, Problem};

/// The check, and the settings for those that follow: the defaults where there are none.
pub(super) fn check(info: &'static ProgramInfo, here: &Utf8Path) -> (Check, Settings) {
    let loaded = Settings::load(info, &locate::root(info.state, here));
    let result = match &loaded {
        Ok(settings) => Ok(format!(
            "reviewer {}, {} personas, swept after {} minutes without a sign of life",
            settings.reviewer,
            settings.personas.all().len(),
            settings.stale_after.as_secs() / 60
        )),
        Err(error) => Err(Problem::of(error, "mend or unset it")),
    };
    (
        Check::required("configuration", result),
        loaded.unwrap_or_else(|_| Settings::usual(info)),
    )
}
