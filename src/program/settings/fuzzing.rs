//! What holds of every configuration, whatever its bytes.

use camino::Utf8Path;

use super::layers::Layers;

/// Checks that a file is refused with a line that it has.
pub(crate) fn config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let path = Utf8Path::new("/c.toml");
    let mut user = Layers::new(crate::plan::INFO);
    let mut project = Layers::new(crate::plan::INFO);
    let results = [
        user.add_user(path, &text).and_then(|()| user.finish()),
        project
            .add_project(path, &text)
            .and_then(|()| project.finish()),
    ];
    for error in results.into_iter().filter_map(Result::err) {
        let text_of_error = error.to_string();
        let line = text_of_error.split(':').nth(1);
        let line: Option<usize> = line.and_then(|line| line.parse().ok());
        let lines = text.matches('\n').count() + 1;
        assert!(
            line.is_some_and(|line| (1..=lines).contains(&line)),
            "{error}"
        );
    }
}
