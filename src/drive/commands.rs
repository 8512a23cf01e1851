//! The commands of the user's configuration: what `run` may start.
//!
//! ```toml
//! [commands.build]
//! program     = "cargo"
//! arguments   = ["build", "--locked"]
//! environment = ["CARGO_HOME"]
//! timeout     = "2m"
//! ```
//!
//! A machine names a command and never holds one, and a project's own file cannot add any: whoever clones a repository must
//! not run a program that the repository names. The rest of the file is the application's; it is passed over here.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use derive_more::{Display, Error};
use serde::Deserialize;

use super::user_file::{self, FileError};
use crate::process::environment::find_program;
use crate::process::limits::parse_duration;
use crate::text;

/// How long a command may take that does not say otherwise: less than the Stop hook of the plugin.
pub const USUAL: Duration = Duration::from_secs(50);
/// The longest that one can be given: a minute less than what a client gives a hook that does not say otherwise.
pub const LONGEST: Duration = Duration::from_secs(540);

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program: a name that is looked up in PATH, or an absolute path.
    pub program: String,
    /// Arguments, passed as they are, without a shell.
    pub arguments: Vec<String>,
    /// Names of environment variables that its process gets besides the usual ones.
    pub environment: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

/// Why nothing can be said of the commands.
#[derive(Debug, Display, Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum CommandsError {
    /// The file cannot be read, or may not.
    #[display("{_0}")]
    #[diagnostic(transparent)]
    File(FileError),
    /// Something in it cannot be used.
    #[display("{}:{line}: {problem}", text::one_line(path.as_str(), 300))]
    #[diagnostic(
        code(claudex::config::commands),
        help("docs/configuration.md shows the table; mend the file, or take the command out")
    )]
    Wrong {
        /// The file.
        path: Utf8PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong, on one line.
        problem: String,
    },
}

/// The part of the file that is looked at.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    commands: BTreeMap<String, toml::Spanned<CommandTable>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct CommandTable {
    program: String,
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default)]
    environment: Vec<String>,
    timeout: Option<String>,
}

/// The user's command of this name, None where the file has none; and the file, there or not.
///
/// # Errors
/// See [`CommandsError`]: a file with a mistake in its commands is not used in part.
pub fn find(name: &str) -> Result<(Option<Command>, Utf8PathBuf), CommandsError> {
    let path = user_file::path().map_err(CommandsError::File)?;
    let found = match user_file::text(&path).map_err(CommandsError::File)? {
        Some(text) => parse(&path, &text)?.remove(name),
        None => None,
    };
    Ok((found, path))
}

/// The commands of a file's text.
fn parse(path: &Utf8Path, source: &str) -> Result<BTreeMap<String, Command>, CommandsError> {
    let wrong = |offset: usize, problem: &str| CommandsError::Wrong {
        path: path.to_owned(),
        line: source.as_bytes()[..offset.min(source.len())]
            .iter()
            .filter(|&&byte| byte == b'\n')
            .count()
            + 1,
        problem: text::one_line(problem, 300),
    };
    if let Some(deep) = user_file::deep_key(source) {
        return Err(wrong(deep.start, "a key has too many parts"));
    }
    let file: File = toml::from_str(source)
        .map_err(|error| wrong(error.span().map_or(0, |span| span.start), error.message()))?;
    let mut commands = BTreeMap::new();
    for (name, table) in file.commands {
        let (at, table) = (table.span().start, table.into_inner());
        let refused =
            |(problem, help): (String, &str)| wrong(at, &format!("command `{name}`: {problem}; {help}"));
        let timeout = match table.timeout.as_deref().map(parse_duration) {
            None => USUAL,
            Some(Ok(timeout)) => timeout,
            Some(Err(error)) => return Err(refused((error.to_string(), "write it like 90s or 2m30s"))),
        };
        let command = Command {
            program: table.program,
            arguments: table.arguments,
            environment: table.environment,
            timeout,
        };
        if let Some(problem) = command.problem() {
            return Err(refused(problem));
        }
        commands.insert(name, command);
    }
    Ok(commands)
}

impl Command {
    /// Returns whether its program is there to be started for the project with this root.
    pub fn is_installed(&self, root: &Utf8Path) -> bool {
        find_program(&self.program, std::env::var_os("PATH").as_deref(), root).is_some()
    }

    /// What in it cannot be, and what to do.
    fn problem(&self) -> Option<(String, &'static str)> {
        program_problem(&self.program)
            .or_else(|| argument_problem(&self.arguments))
            .or_else(|| self.environment.iter().find_map(|name| variable_problem(name)))
            .or_else(|| timeout_problem(self.timeout))
    }
}

/// What is wrong with the name of a program, and what to do.
pub(crate) fn program_problem(program: &str) -> Option<(String, &'static str)> {
    if program.trim().is_empty() || text::plain(program) != program || program.contains('\n') {
        let problem = "`program` is not the name of a program".to_owned();
        return Some((problem, "an absolute path, or a name that is found in PATH"));
    }
    let relative = program.contains('/') && !program.starts_with('/');
    relative.then(|| {
        (
            format!("`{}` is a relative path", text::one_line(program, 80)),
            "give an absolute path, or a name that is found in PATH: a relative path would mean another program in each project",
        )
    })
}

/// What is wrong with arguments, and what to do.
pub(crate) fn argument_problem(arguments: &[String]) -> Option<(String, &'static str)> {
    arguments
        .iter()
        .any(|argument| argument.contains('\0'))
        .then(|| ("an argument cannot hold a zero byte".to_owned(), "take it out"))
}

/// What is wrong with the name of a variable, and what to do.
pub(crate) fn variable_problem(name: &str) -> Option<(String, &'static str)> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let fits = !name.is_empty()
        && name.bytes().all(inner)
        && !name.starts_with(|first: char| first.is_ascii_digit());
    (!fits).then(|| {
        (
            format!("`{}` is not the name of a variable", text::one_line(name, 60)),
            "give names alone, such as OPENAI_API_KEY; their values are taken from your environment",
        )
    })
}

/// What is wrong with a command's time, and what to do.
pub(crate) fn timeout_problem(timeout: Duration) -> Option<(String, &'static str)> {
    (timeout > LONGEST).then(|| {
        (
            "a command runs within a stop, for 9m at most".to_owned(),
            "give it less to do, or have the agent run what takes longer",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(source: &str) -> Result<BTreeMap<String, Command>, String> {
        parse(Utf8Path::new("/a b/config.toml"), source).map_err(|error| error.to_string())
    }

    #[test]
    fn a_command_is_read_and_the_rest_of_the_file_is_passed_over() {
        let source = "reviewer = 7\n[whatever]\nx = 1\n[commands.build]\nprogram = \"cargo\"\narguments = [\"a b\", \"$(x)\"]\n\
                      environment = [\"CARGO_HOME\"]\ntimeout = \"2m\"\n[commands.\"x.y\"]\nprogram = \"/bin/true\"\n";
        let commands = read(source).unwrap();
        assert_eq!(
            commands["build"],
            Command {
                program: "cargo".into(),
                arguments: vec!["a b".into(), "$(x)".into()],
                environment: vec!["CARGO_HOME".into()],
                timeout: Duration::from_secs(120),
            }
        );
        assert_eq!(commands["x.y"].timeout, USUAL);
        assert_eq!(read("").unwrap().len(), 0);
    }

    #[test]
    fn each_mistake_is_told_with_its_line() {
        let wrong = |table: &str| read(&format!("\n\n[commands.b]\n{table}\n")).unwrap_err();
        let said = |table: &str, what: &str| {
            let told = wrong(table);
            assert!(
                told.starts_with("/a b/config.toml:") && told.contains(what),
                "{told}"
            );
            assert_eq!(text::one_line(&told, 1000), told);
        };
        said("", "missing field `program`");
        said("program = 1", "invalid type");
        said("program = \"x\"\nprogam = \"y\"", "unknown field `progam`");
        said("program = \"./x\"", "`./x` is a relative path");
        said("program = \"\"", "not the name of a program");
        said("program = \"a\\u001bb\"", "not the name of a program");
        said("program = \"x\"\narguments = [\"a\\u0000\"]", "zero byte");
        said(
            "program = \"x\"\nenvironment = [\"A=1\"]",
            "`A=1` is not the name of a variable",
        );
        said("program = \"x\"\ntimeout = \"10m\"", "for 9m at most");
        said("program = \"x\"\ntimeout = \"50\"", "`50` has no unit");
        assert!(wrong("program = \"x\"\nprogam = \"y\"").starts_with("/a b/config.toml:5: "));
        said("program = x", "");
        said(&format!("{}z = 1", "a.".repeat(100_000)), "too many parts");
        said(&format!("x = {}", "[".repeat(100_000)), "");
    }

    #[test]
    fn what_is_wrong_in_one_command_is_not_hidden_by_another() {
        let source = "[commands.good]\nprogram = \"x\"\n[commands.bad]\nprogram = \"x/y\"\n";
        assert!(read(source).unwrap_err().contains("command `bad`"));
    }
}
