//! `demo`: runs `demo.sh`, which takes a pipeline to its end, in a new folder.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgMatches, value_parser};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{out, shell};
use claudex_loop::text;

/// The argument, and the default folder.
const DEFAULT_FOLDER: &str = "stages-demo";

/// Returns the command line of the demo.
pub(crate) fn command() -> clap::Command {
    let folder = Arg::new(DEFAULT_FOLDER)
        .value_name("DEFAULT_FOLDER")
        .value_parser(value_parser!(Utf8PathBuf))
        .help("The folder that is made; it stays, to look at [default: stages-demo]");
    clap::Command::new("demo")
        .about("Run the whole pipeline by a script, in a new folder: no model, no network")
        .arg(folder)
}

/// Runs the script in a new folder.
pub(crate) fn demo(_: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = matches.get_one::<Utf8PathBuf>(DEFAULT_FOLDER);
    let folder = folder.map_or(Utf8Path::new(DEFAULT_FOLDER), Utf8PathBuf::as_path);
    let made = std::fs::create_dir(folder).and_then(|()| folder.canonicalize_utf8());
    let root = made.map_err(|error| {
        let message = format!("{} cannot be made: {error}", text::shown(folder));
        let help = "name another folder, which is not there yet:\n    stages demo DEFAULT_FOLDER";
        Failure::plain(Exit::Usage, "stages::demo", message, help)
    })?;
    let failed = |why: String| {
        let message = format!("the demo cannot go on: {why}");
        let help = "see what the script printed, and report it as a bug";
        Failure::plain(Exit::Internal, "stages::demo", message, help)
    };

    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut script = Command::new("sh");
    script.args(["-c", include_str!("../demo.sh"), "demo.sh"]);
    script.current_dir(&root).env("STAGES", program);
    let status = script.status().map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    out::line(&format!(
        "\nTo look at it:\n    cd {}\n    ls requirements\n    XDG_STATE_HOME=\"$PWD/.state\" stages status",
        shell::quoted(root.as_str()),
    ));
    Ok(Exit::Complete)
}
