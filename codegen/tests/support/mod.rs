//! Machines that are edited, and what is said of them: place, message and help, several findings joined by an ampersand.
//!
//! A test file that has this module defines `said`, which edits its own right machine, and lists its cases with `cases!`.

/// The text with each edit made. An edit from nothing adds to the end; any other text has to stand there once.
pub(crate) fn edited(machine: &str, edits: &[(&str, &str)]) -> String {
    let mut source = machine.to_owned();
    for (from, to) in edits {
        if from.is_empty() {
            source.push_str(to);
        } else {
            assert_eq!(
                source.matches(from).count(),
                1,
                "{from:?} has to stand once in\n{source}"
            );
            source = source.replace(from, to);
        }
    }
    source
}

/// What is said of a machine.
pub(crate) fn found(source: &str) -> String {
    match claudex_build::check_source("m.toml", source) {
        Ok(_) => "nothing".to_owned(),
        Err(found) => found.to_string().replace('\n', " & "),
    }
}

/// `name: ["from" => "to"] says "what";`, each a test.
macro_rules! cases {
    ($($name:ident: [$($from:expr => $to:expr),* $(,)?] says $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            let said = said(&[$(($from, $to)),*]);
            assert_eq!(said, $expected, "\n@@{}@@{said}@@", stringify!($name));
        })*
    };
}
