//! What holds of every configuration, whatever its bytes.

use camino::Utf8Path;

use super::{Settings, SettingsError, Whose};

/// Checks that a file is refused with a line that it has.
pub(crate) fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Utf8Path::new("/c.toml");
    let usual = || Settings::usual(crate::plan::INFO);
    let of_user = usual().apply(Whose::User, path, &text);
    let of_project = usual().apply(Whose::Project, path, &text);
    for error in [of_user, of_project].into_iter().filter_map(Result::err) {
        let SettingsError::Invalid { line, .. } = error else {
            panic!("{error}: no place")
        };
        let lines = text.matches('\n').count() + 1;
        assert!((1..=lines).contains(&line), "{error}");
    }
}
