//! `demo`: runs `demo.sh`, which takes a plan from new-plan to complete, in a new folder.

use std::process::{Command, ExitStatus};

use camino::Utf8Path;
use clap::{Arg, ArgMatches};
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::info::ProgramInfo;
use claudex_loop::program::{Group, out, shell};
use claudex_loop::text;

/// The argument, and its default.
const FOLDER: &str = "taskie-demo";
/// The code of the demo's errors.
const CODE: &str = "claudex::taskie::demo";

/// Returns the command line of the demo.
pub(crate) fn command() -> clap::Command {
    let folder = Arg::new(FOLDER)
        .value_name("FOLDER")
        .default_value(FOLDER)
        .help("The new folder; it is kept for you to look at");
    clap::Command::new("demo")
        .about("Take a sample plan from new-plan to complete by a script, in a new folder")
        .display_order(Group::SetUp.place())
        .arg(folder)
}

/// Runs the script in a new folder.
pub(crate) fn demo(_: &'static ProgramInfo, matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = matches.get_one::<String>(FOLDER);
    let folder = Utf8Path::new(folder.map_or(FOLDER, String::as_str));
    let made = std::fs::create_dir(folder).and_then(|()| folder.canonicalize_utf8());
    let root = made.map_err(|error| {
        let what = format!("cannot make {}: {error}", text::shown(folder));
        let help = "name a folder that does not exist yet:\n    taskie demo FOLDER";
        Failure::plain(Exit::Refused, CODE, what, help)
    })?;
    let mut script = Command::new("sh");
    script.args(["-c", include_str!("../demo.sh"), "demo.sh"]);
    script.current_dir(&root);
    let program = std::env::current_exe();
    let ended = program.and_then(|program| script.env("TASKIE", program).status());
    if !ended.as_ref().is_ok_and(ExitStatus::success) {
        let what = format!("the demo failed: {ended:?}");
        let help = "see what the script printed, and report it as a bug";
        return Err(Failure::plain(Exit::Internal, CODE, what, help));
    }
    out::line(&format!(
        "\nTo look at it:\n    cd {}/words\n    git log --oneline\n    ls .taskie/plans/count-words\n    XDG_STATE_HOME={} taskie status count-words",
        shell::quoted(root.as_str()),
        shell::quoted(root.join("home/state").as_str()),
    ));
    Ok(Exit::Complete)
}
