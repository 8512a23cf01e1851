//! `demo`: runs `demo.sh`, which takes a plan from new-plan to complete, in a new folder.

use std::process::Command;

use clap::{Arg, ArgMatches};
use claudex_loop::program::Group;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::text;

/// The argument, and its default.
const FOLDER: &str = "taskie-demo";

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
pub(crate) fn demo(matches: &ArgMatches) -> Result<Exit, Failure> {
    let folder = matches.get_one::<String>(FOLDER);
    let folder = folder.map_or(FOLDER, String::as_str);
    let run = || {
        std::fs::create_dir(folder)?;
        let mut script = Command::new("sh");
        script.args(["-c", include_str!("../demo.sh"), "demo.sh"]);
        script.current_dir(folder);
        script.env("TASKIE", std::env::current_exe()?).status()
    };
    let problem = match run() {
        Ok(status) if status.success() => return Ok(Exit::Complete),
        Ok(status) => status.to_string(),
        Err(error) => error.to_string(),
    };
    let what = format!("cannot run the demo in {}: {problem}", text::shown(folder));
    let help = "name a folder that does not exist yet:\n    taskie demo FOLDER";
    Err(Failure::plain(Exit::Refused, what, help))
}
