//! `demo`: runs `demo.sh`, which takes a pipeline to its end, in a new folder.

use std::process::Command;

use camino::Utf8PathBuf;
use clap::{Arg, ArgMatches, value_parser};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{out, shell};
use claudex_loop::text;

const FOLDER: &str = "folder";

/// Returns the command line of the demo.
pub(crate) fn command() -> clap::Command {
    let folder = Arg::new(FOLDER)
        .value_name("FOLDER")
        .value_parser(value_parser!(Utf8PathBuf))
        .help("The folder that is made; it stays, to look at [default: stages-demo]");
    clap::Command::new("demo")
        .about("Run the whole pipeline by a script, in a new folder: no model, no network")
        .arg(folder)
}

/// Runs the script in a new folder.
pub(crate) fn demo(_: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = matches.get_one::<Utf8PathBuf>(FOLDER).cloned();
    let folder = folder.unwrap_or_else(|| "stages-demo".into());
    let made = std::fs::create_dir(&folder).and_then(|()| folder.canonicalize_utf8());
    let root = made.map_err(|error| {
        let message = format!("{} cannot be made: {error}", text::shown(&folder));
        let help = "name another folder, which is not there yet:\n    stages demo FOLDER";
        Failure::plain(Exit::Usage, "stages::demo", message, help)
    })?;
    let run = || {
        let mut script = Command::new("sh");
        script.args(["-c", include_str!("../demo.sh"), "demo.sh"]);
        script.current_dir(&root);
        script.env("STAGES", std::env::current_exe()?).status()
    };
    let problem = match run() {
        Ok(status) if status.success() => None,
        Ok(status) => Some(status.to_string()),
        Err(error) => Some(error.to_string()),
    };
    if let Some(problem) = problem {
        let message = format!("the demo cannot go on: {problem}");
        let help = "see what the script printed, and report it as a bug";
        return Err(Failure::plain(
            Exit::Internal,
            "stages::demo",
            message,
            help,
        ));
    }
    out::line(&format!(
        "\nTo look at it:\n    cd {}\n    ls requirements\n    XDG_STATE_HOME=\"$PWD/.state\" stages status",
        shell::quoted(root.as_str()),
    ));
    Ok(Exit::Complete)
}
