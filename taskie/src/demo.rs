//! `demo`: runs `demo.sh`, which takes a plan from new-plan to complete, in a new folder.

use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use clap::{Arg, ArgMatches, value_parser};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, out, shell};
use claudex_loop::text;

/// The argument, and the default folder.
const FOLDER: &str = "taskie-demo";

/// Returns the command line of the demo.
pub(crate) fn command() -> clap::Command {
    let folder = Arg::new(FOLDER)
        .value_name("FOLDER")
        .value_parser(value_parser!(Utf8PathBuf))
        .help("The new folder; it is kept for you to look at [default: taskie-demo]");
    clap::Command::new("demo")
        .about("Take a sample plan from new-plan to complete by a script, in a new folder")
        .display_order(Group::SetUp.place())
        .arg(folder)
}

/// Runs the script in a new folder.
pub(crate) fn demo(_: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = matches.get_one::<Utf8PathBuf>(FOLDER);
    let folder = folder.map_or(Utf8Path::new(FOLDER), Utf8PathBuf::as_path);
    let made = std::fs::create_dir(folder).and_then(|()| folder.canonicalize_utf8());
    let root = made.map_err(|error| {
        let message = format!("cannot make {}: {error}", text::shown(folder));
        let help = "name a folder that does not exist yet:\n    taskie demo FOLDER";
        Failure::plain(Exit::Refused, "claudex::taskie::demo", message, help)
    })?;
    let failed = |why: String| {
        let message = format!("the demo failed: {why}");
        let help = "see what the script printed, and report it as a bug";
        Failure::plain(Exit::Internal, "claudex::taskie::demo", message, help)
    };
    let program = std::env::current_exe().map_err(|error| failed(error.to_string()))?;
    let mut script = Command::new("sh");
    script.args(["-c", include_str!("../demo.sh"), "demo.sh"]);
    script.current_dir(&root).env("TASKIE", program);
    let status = script.status().map_err(|error| failed(error.to_string()))?;
    if !status.success() {
        return Err(failed(status.to_string()));
    }
    out::line(&format!(
        "\nTo look at it:\n    cd {}/words\n    git log --oneline\n    ls .taskie/plans/count-words\n    XDG_STATE_HOME={state} taskie status count-words",
        shell::quoted(root.as_str()),
        state = shell::quoted(root.join("home/state").as_str()),
    ));
    Ok(Exit::Complete)
}
