//! What holds of every configuration, whatever its bytes.

use camino::Utf8Path;
use miette::NarratableReportHandler;

use super::{Settings, SettingsError, project, user};

/// What a file is refused for has a place in it, and can be shown.
pub(crate) fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Utf8Path::new("/c.toml");
    let usual = || Settings::usual(crate::plan::INFO);
    let of_user = user::apply(path, &text, &mut usual());
    let of_project = project::apply(Utf8Path::new("/p"), &text, path, &mut usual());
    for refused in [of_user, of_project].into_iter().filter_map(Result::err) {
        let SettingsError::Findings(found) = refused else {
            panic!("{refused}: no place")
        };
        let said = found.to_string();
        let place = said.split_once(".toml:").expect("a file").1;
        let line: usize = place
            .split(':')
            .next()
            .and_then(|line| line.parse().ok())
            .expect("a line");
        assert!(
            (1..=text.matches('\n').count() + 1).contains(&line),
            "{said}"
        );
        NarratableReportHandler::new()
            .render_report(&mut String::new(), &*found)
            .expect("it is shown");
    }
}
