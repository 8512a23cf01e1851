//! Whether the settings can be used, and what they say.

use camino::Utf8Path;
use claudex_loop::plan::locate;
use claudex_loop::plan::settings::Settings;

use super::{Check, Problem};

/// The check, and the settings for those that follow: the defaults where there are none.
pub(super) fn check(here: &Utf8Path) -> (Check, Settings) {
    let loaded = Settings::load(&locate::root(here));
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
        loaded.unwrap_or_default(),
    )
}
