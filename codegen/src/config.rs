//! The build script's part: reads the machine file, writes code, and names its sources to cargo.
//!
//! Problems become `cargo::error=` lines, because a panic buries its message in a backtrace.

use std::env;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::check_source;
use crate::diagnostic::{Diagnostic, Diagnostics, one_line};
use crate::emit;
use crate::model::Machine;
use crate::templates::{self, TemplateKind};

/// Set by cargo if the crate depends on claudex-loop with its feature `program`.
const HAS_PROGRAM: &str = "DEP_CLAUDEX_LOOP_PROGRAM";

/// Settings of a compilation, for a build script.
#[derive(Debug, Clone, Default)]
pub struct Config {
    commands: bool,
    root: PathBuf,
    out: PathBuf,
}

impl Config {
    /// Returns the settings that most crates want.
    pub fn new() -> Self {
        let folder = |variable| env::var_os(variable).unwrap_or_default().into();
        Self {
            commands: false,
            root: folder("CARGO_MANIFEST_DIR"),
            out: folder("OUT_DIR"),
        }
    }

    /// Sets whether to generate the command line even without the feature `program`.
    #[must_use]
    pub fn commands(mut self, commands: bool) -> Self {
        self.commands = commands;
        self
    }

    /// Sets the crate's folder, by default `CARGO_MANIFEST_DIR`.
    #[must_use]
    pub fn root(mut self, root: impl Into<PathBuf>) -> Self {
        self.root = root.into();
        self
    }

    /// Sets the folder for the code, by default `OUT_DIR`.
    #[must_use]
    pub fn out_dir(mut self, out: impl Into<PathBuf>) -> Self {
        self.out = out.into();
        self
    }

    /// Compiles a machine file, relative to the crate, to the `NAME.rs` and `NAME.program.rs` that
    /// `claudex_loop::machine!(NAME)` includes. Generates the command line, too, if the feature
    /// `program` of `claudex-loop` is on. Cargo fails the build after the errors that this prints.
    pub fn compile(&self, file: impl AsRef<Path>) {
        let lines = self.compile_to_lines(file).join("\n") + "\n";
        // Nothing can be reported if cargo has ended.
        let _ = io::stdout().lock().write_all(lines.as_bytes());
    }

    /// Like [`Config::compile`], but returns the lines for cargo.
    pub fn compile_to_lines(&self, file: impl AsRef<Path>) -> Vec<String> {
        let mut lines = Vec::new();
        if let Err(errors) = self.run(file.as_ref(), &mut lines) {
            lines.extend(errors.iter().map(|error| format!("cargo::error={error}")));
        }
        lines.iter().map(|line| one_line(line)).collect()
    }

    /// Compiles a machine file, and adds the lines that name its sources to cargo.
    fn run(&self, file: &Path, lines: &mut Vec<String>) -> Result<(), Vec<String>> {
        let Self { root, out, .. } = self;
        if root.as_os_str().is_empty() || out.as_os_str().is_empty() {
            let missing = "CARGO_MANIFEST_DIR or OUT_DIR is not set; call this from a build script";
            return Err(vec![missing.to_owned()]);
        }
        let file_name = file.to_string_lossy();
        lines.push(format!("cargo::rerun-if-changed={file_name}"));
        let source = fs::read_to_string(root.join(file))
            .map_err(|reason| vec![format!("cannot read {file_name}: {reason}")])?;
        let machine = check_source(&file_name, &source)
            .map_err(|found| found.cargo_lines().collect::<Vec<_>>())?;
        let errors = check_templates(root, &file_name, &source, &machine, lines);
        if !errors.is_empty() {
            return Err(errors);
        }

        let name = &machine.name;
        // The code of a former name would be included without a word.
        let record = out.join(file_name.replace(['/', '\\'], "-") + ".name");
        if let Ok(old) = fs::read_to_string(&record)
            && old != **name
        {
            for end in [".rs", ".program.rs"] {
                let _ = fs::remove_file(out.join(old.clone() + end));
            }
        }
        let _ = fs::write(&record, &**name);
        let has_program = self.commands || env::var_os(HAS_PROGRAM).is_some();
        let generated = emit::emit(&machine, &source, &file_name, has_program);
        for (target, text) in [
            (format!("{name}.rs"), generated.types),
            (format!("{name}.program.rs"), generated.program),
        ] {
            let target = out.join(target);
            if fs::read(&target).is_ok_and(|old| old == text.as_bytes()) {
                continue;
            }
            let place = target.display();
            fs::write(&target, text)
                .map_err(|reason| vec![format!("cannot write {place}: {reason}")])?;
        }
        Ok(())
    }
}

/// Returns the problems of the templates, and adds the lines that name them to cargo.
fn check_templates(
    root: &Path,
    file_name: &str,
    source: &str,
    machine: &Machine,
    lines: &mut Vec<String>,
) -> Vec<String> {
    let mut missing = Vec::new();
    let mut errors = Vec::new();
    for (kind, path, span) in emit::templates(machine) {
        lines.push(format!("cargo::rerun-if-changed={path}"));
        match fs::read_to_string(root.join(&path)) {
            Ok(text) => errors.extend(templates::check(machine, kind, &path, &text).cargo_lines()),
            Err(reason) => {
                let is_plain = kind == TemplateKind::Plain;
                let noun = if is_plain { "file" } else { "template" };
                let message = format!("cannot read the {noun} {path}: {reason}");
                let found = Diagnostic::new("template", span, message);
                missing.push(found.help(format!("write the {noun}, or name another")));
            }
        }
    }
    errors.extend(Diagnostics::new(file_name, source, missing).cargo_lines());
    errors
}
