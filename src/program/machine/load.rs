//! Machine files, whatever stands at their path: text that is checked, or the reason why there is none.

use std::io::{self, Read as _};

use camino::Utf8Path;
use claudex_build::model::Machine;
use claudex_build::{Diagnostic, Diagnostics};

use super::Own;
use crate::files;
use crate::program::exit::{Exit, Failure};
use crate::text;

/// More is no machine file, and is not read to its end.
const MOST: u64 = 16 * 1024 * 1024;

/// A machine that passed its checks, and where it comes from.
pub(super) struct Subject {
    /// The file, as it is named in messages.
    pub(super) file: String,
    pub(super) source: String,
    pub(super) machine: Machine,
}

/// Why there is no machine.
pub(super) enum Trouble {
    /// The file cannot be read; in words.
    Unreadable {
        /// The file, as it is named in messages.
        file: String,
        reason: String,
    },
    /// It can, and this is wrong with it.
    Found(Diagnostics),
}

impl Subject {
    /// The machine of a file, of stdin (`-`), or without one the program's own.
    pub(super) fn load(file: Option<&Utf8Path>, own: &Own) -> Result<Self, Failure> {
        let loaded = match file {
            Some(file) => Self::of(file),
            None => checked(own.table.file.to_owned(), own.source.to_owned()),
        };
        loaded.map_err(Trouble::failure)
    }

    /// The machine of a file, or of stdin (`-`).
    pub(super) fn of(file: &Utf8Path) -> Result<Self, Trouble> {
        let name = named(file);
        checked(name.clone(), text_of(file, name)?)
    }

    /// `machine.toml:31`
    pub(super) fn place(&self, offset: usize) -> String {
        format!(
            "{}:{}",
            self.file,
            claudex_build::line_of(&self.source, offset)
        )
    }
}

impl Trouble {
    pub(super) fn failure(self) -> Failure {
        match self {
            Trouble::Unreadable { file, reason } => Failure::plain(
                Exit::Usage,
                "claudex::machine::read",
                format!("{file}: {reason}"),
                "give the path of a machine.toml, or - for stdin",
            ),
            Trouble::Found(diagnostics) => {
                let number = diagnostics.list.len();
                let findings = if number == 1 { "finding" } else { "findings" };
                let message = format!("{}: {number} {findings}, and no machine", diagnostics.name);
                Failure::headed(Exit::Refused, message, diagnostics)
            }
        }
    }
}

/// What messages call a file.
fn named(file: &Utf8Path) -> String {
    if file == "-" {
        "stdin".to_owned()
    } else {
        text::pasteable(&text::shown(file))
    }
}

fn checked(file: String, source: String) -> Result<Subject, Trouble> {
    match claudex_build::check_source(&file, &source) {
        Ok(machine) => Ok(Subject {
            file,
            source,
            machine,
        }),
        Err(diagnostics) => Err(Trouble::Found(diagnostics)),
    }
}

/// The text of a file; a pipe or a device is not waited for.
fn text_of(file: &Utf8Path, name: String) -> Result<String, Trouble> {
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        let read = io::stdin().lock().take(MOST).read_to_end(&mut bytes);
        read.map(|_| bytes)
    } else {
        files::read(file)
    };
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => {
            let reason = match error.kind() {
                io::ErrorKind::NotFound => "there is no such file".to_owned(),
                io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
                _ => text::one_line(&error.to_string(), 400),
            };
            return Err(Trouble::Unreadable { file: name, reason });
        }
    };
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        // What stands before it is the same in both, so that the place is right.
        let source = claudex_build::diagnostic::shown(&String::from_utf8_lossy(error.as_bytes()));
        let found = Diagnostic::new(
            "claudex::machine::encoding",
            at..at + char::REPLACEMENT_CHARACTER.len_utf8(),
            "this is not UTF-8",
        );
        let list = vec![found.help("save the file as UTF-8")];
        Trouble::Found(Diagnostics { name, source, list })
    })
}
