//! Whether the environment names folders by relative paths, which would be folders of the repository.

use crate::process::environment::is_relative_home;

use super::{Check, Problem};

/// Returns a warning that names what is not obeyed, or `None` where all of it is.
pub(super) fn check() -> Option<Check> {
    let mut passed_over: Vec<String> = std::env::vars_os()
        .filter(|(name, value)| is_relative_home(name, value))
        .map(|(name, value)| format!("{}={}", name.to_string_lossy(), value.to_string_lossy()))
        .collect();
    passed_over.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    passed_over.extend(
        std::env::split_paths(&path)
            .filter(|folder| !folder.is_absolute())
            .map(|folder| match folder.to_string_lossy() {
                empty if empty.is_empty() => "an empty folder in PATH".to_owned(),
                folder => format!("{folder} in PATH"),
            }),
    );
    let first = passed_over.first()?;
    let more = match passed_over.len() {
        1 => String::new(),
        count => format!(", and {} more", count - 1),
    };
    let problem = Problem::new(
        format!(
            "passed over, since a relative path means another folder in each project: {first}{more}"
        ),
        "give absolute paths, or take those out of the environment",
    );
    Some(Check::useful("environment", Err(problem)))
}
