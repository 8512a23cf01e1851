//! The part of a build script: reads the machine file, tells cargo what the code depends on, writes the code.
//!
//! What is wrong becomes `cargo::error=` lines on a normal way out, since a build script that panics buries its message
//! in a backtrace. Knows no more of a machine than the files that it names.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::diagnostic::{Diagnostic, Diagnostics, one_line};
use crate::emit::{self, Options, gate};
use crate::templates::{self, TemplateKind};
use crate::{check_source, generate_checked};

/// Set by cargo for build scripts of crates that depend on claudex-loop with its feature `program`: claudex-loop's own build
/// script says so, and its manifest has `links`.
const HAS_PROGRAM: &str = "DEP_CLAUDEX_LOOP_PROGRAM";

/// Settings of a compilation, for a build script.
#[derive(Debug, Clone)]
pub struct Config {
    commands: Option<bool>,
    root: Option<PathBuf>,
    out: Option<PathBuf>,
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Config {
    /// Makes the settings that crates want: with a command line where claudex-loop has its feature `program`, else types alone.
    pub fn new() -> Self {
        Self {
            commands: None,
            root: None,
            out: None,
        }
    }

    /// Says whether to generate the command line, which needs the feature `program` of `claudex-loop`. Unless told, it is
    /// generated where that feature is on; cargo tells the build script of a crate that depends on `claudex-loop`.
    #[must_use]
    pub fn commands(mut self, commands: bool) -> Self {
        self.commands = Some(commands);
        self
    }

    /// Sets the crate's folder; `CARGO_MANIFEST_DIR` where it is not given.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = Some(root.into());
        self
    }

    /// Sets the folder for the code; `OUT_DIR` where it is not given.
    #[must_use]
    pub fn out_dir(mut self, out: impl Into<PathBuf>) -> Self {
        self.out = Some(out.into());
        self
    }

    /// Compiles a machine file, given relative to the crate, to `NAME.rs` in the folder for the code, beside a
    /// `NAME.format.rs` by which `claudex_loop::machine!(NAME)` finds it.
    /// Everything that is wrong is told to cargo, which then fails the build; this returns normally all the same.
    pub fn compile(&self, file: impl AsRef<Path>) {
        let mut lines = Vec::new();
        self.run(file.as_ref(), &mut lines);
        let mut out = io::stdout().lock();
        for line in lines {
            // Cargo has gone away: nobody is left to tell.
            if writeln!(out, "{line}").is_err() {
                return;
            }
        }
    }

    /// Like [`Config::compile`], with the lines for cargo handed back instead of printed.
    pub fn compile_to_lines(&self, file: impl AsRef<Path>) -> Vec<String> {
        let mut lines = Vec::new();
        self.run(file.as_ref(), &mut lines);
        lines
    }

    fn run(&self, file: &Path, lines: &mut Vec<String>) {
        let given = |own: &Option<PathBuf>, variable| {
            own.clone().map(Ok).unwrap_or_else(|| {
                std::env::var_os(variable)
                    .ok_or(variable)
                    .map(OsString::into)
            })
        };
        let folders = given(&self.root, "CARGO_MANIFEST_DIR")
            .and_then(|root| Ok((root, given(&self.out, "OUT_DIR")?)));
        let (root, out) = match folders {
            Ok(folders) => folders,
            Err(variable) => {
                lines.push(error(&format!(
                    "{variable} is not set; call this from a build script"
                )));
                return;
            }
        };
        let name = file.to_string_lossy().into_owned();
        lines.push(one_line(&format!("cargo::rerun-if-changed={name}")));
        let source = match read(&root.join(file)) {
            Ok(source) => source,
            Err(reason) => {
                lines.push(error(&format!("{name}: {reason}")));
                return;
            }
        };
        let machine = match check_source(&name, &source) {
            Ok(machine) => machine,
            Err(found) => return tell(&found, lines),
        };
        let (mut missing, mut wrong) = (Vec::new(), Vec::new());
        for kind in TemplateKind::ALL {
            for (path, span) in emit::templates(&machine, kind) {
                lines.push(one_line(&format!("cargo::rerun-if-changed={path}")));
                match read(&root.join(&path)) {
                    Ok(text) => wrong.extend(templates::check(&machine, kind, &path, &text)),
                    Err(reason) => {
                        let message = format!("{kind} {path}: {reason}");
                        let found = Diagnostic::new("template", span, message);
                        missing.push(found.help(format!("write the {kind}, or name another")));
                    }
                }
            }
        }
        if !missing.is_empty() {
            wrong.push(Diagnostics::new(&name, &source, missing));
        }
        if !wrong.is_empty() {
            return wrong.iter().for_each(|found| tell(found, lines));
        }
        let options = Options {
            commands: self
                .commands
                .unwrap_or_else(|| std::env::var_os(HAS_PROGRAM).is_some()),
            file: name,
        };
        let name = &machine.name.value;
        let files = [format!("{name}.rs"), format!("{name}.program.rs")];
        if let Some(other) = claim(out.join(&files[0]), &root.join(file)) {
            return lines.push(error(&format!(
                "{} and {} both name their machine `{name}`, and one would replace the other; give one another `name`",
                other.strip_prefix(&root).unwrap_or(&other).display(),
                options.file
            )));
        }
        let generated = generate_checked(&machine, &source, &options);
        let gate = (format!("{name}.format.rs"), gate(&files));
        let [types, program] = files;
        for (target, text) in [gate, (types, generated.types), (program, generated.program)] {
            let target = out.join(target);
            if fs::read(&target).is_ok_and(|old| old == text.as_bytes()) {
                continue;
            }
            if let Err(reason) = fs::write(&target, text) {
                return lines.push(error(&format!(
                    "cannot write the generated code to {}: {reason}",
                    target.display()
                )));
            }
        }
    }
}

/// Notes that a machine file is about to write this code; another file that wrote it in this process, if there is one. A build
/// script is one process, so this sees two machines of one name in a crate.
fn claim(code: PathBuf, file: &Path) -> Option<PathBuf> {
    static WRITTEN: Mutex<BTreeMap<PathBuf, PathBuf>> = Mutex::new(BTreeMap::new());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let first = written.entry(code).or_insert_with(|| file.to_owned());
    (first != file).then(|| first.clone())
}

/// The text of a file, or in a few words why there is none.
fn read(path: &Path) -> Result<String, String> {
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => error.to_string(),
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("it is not UTF-8 (at byte {at})")
    })
}

fn error(message: &str) -> String {
    one_line(&format!("cargo::error={message}"))
}

fn tell(found: &Diagnostics, lines: &mut Vec<String>) {
    lines.extend(
        found
            .cargo_lines()
            .map(|line| format!("cargo::error={line}")),
    );
}
