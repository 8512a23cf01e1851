//! `new`: a crate with a small machine.

use std::fs;
use std::io::{self, Write as _};

use camino::Utf8Path;
use clap::{Arg, ArgMatches, Command};
use claudex_loop::program::exit::{CommandResult, Exit, Failure};
use claudex_loop::program::{Group, out};
use claudex_loop::text;

/// The files of the crate, with placeholders.
const FILES: [(&str, &str); 6] = [
    ("Cargo.toml", include_str!("new/Cargo.toml.in")),
    ("build.rs", include_str!("new/build.rs.in")),
    MACHINE,
    ("messages/writing.md", include_str!("new/writing.md.in")),
    ("src/main.rs", include_str!("new/main.rs.in")),
    (".gitignore", "/target\n"),
];
const MACHINE: (&str, &str) = ("machine.toml", include_str!("new/machine.toml.in"));
/// The clone that the program was built in, or `None` in a release.
const CLONE: Option<&str> = match option_env!("CLAUDEX_RELEASE") {
    Some(_) => None,
    None => Some(env!("CARGO_MANIFEST_DIR")),
};
/// The names that a machine may have, but a crate that depends on ours may not.
const RESERVED_NAMES: &str = "alloc build claudex_build claudex_loop claudex_loop_engine claudex_testkit core deps examples \
                     incremental proc_macro std test";

pub(super) fn command() -> Command {
    let name = Arg::new("name")
        .value_name("NAME")
        .required(true)
        .help("The crate's name, and that of the folder that is made here");
    Command::new("new")
        .about("Write a crate with a small loop of its own, to begin with")
        .display_order(Group::SetUp.place())
        .arg(name)
}

pub(super) fn run(matches: &ArgMatches) -> CommandResult {
    let name: &String = matches.get_one("name").expect("clap requires it");
    if !is_crate_name(name) {
        let name = text::one_line(&text::printable(name), 80);
        let message = format!("`{name}` cannot be the name of a crate and its machine");
        let help = "begin with a to z, then use a to z, 0 to 9 and single - or _, at most 64 in all, and no name that Rust or this project needs:\n    claudex-loop new release-train";
        return Err(Failure::with_help(Exit::Usage, message, help));
    }
    // In a registry, each crate has a folder of its own.
    let clone = CLONE.filter(|clone| !clone.contains("/registry/src/"));
    let folder = Utf8Path::new(name);
    write(folder, clone).map_err(|error| {
        let message = match error.kind() {
            io::ErrorKind::AlreadyExists => format!("{folder} already exists"),
            _ => format!("cannot write {folder}: {error}"),
        };
        let help = "choose another name, or go to another folder";
        Failure::with_help(Exit::Refused, message, help)
    })?;

    let names = FILES.map(|(file, _)| file).join(", ");
    let source = clone.map_or_else(String::new, |clone| {
        format!("It takes claudex-loop from {clone}, where this program was built.\n")
    });
    out::line(&format!(
        "The crate {name} is in {folder}: {names}.\n{source}To try it:\n    cd {folder}\n    cargo run --quiet -- start \"a haiku\""
    ));
    Ok(Exit::Complete)
}

/// Returns whether a name is valid for a crate and, with `_` for `-`, for a machine.
fn is_crate_name(name: &str) -> bool {
    let name = name.replace('-', "_");
    let machine = claudex_build::check_source(MACHINE.0, &MACHINE.1.replace("@machine@", &name));
    let is_reserved = RESERVED_NAMES.split(' ').any(|reserved| reserved == name);
    !is_reserved && machine.is_ok_and(|machine| *machine.name == name)
}

/// Writes the files into a new folder. The crate depends on the clone, or on the registry.
fn write(folder: &Utf8Path, clone: Option<&str>) -> io::Result<()> {
    fs::create_dir(folder)?;
    let path = |folder: &str| {
        let path = clone.map(|clone| format!(", path = {:?}", format!("{clone}{folder}")));
        path.unwrap_or_default()
    };
    let machine = folder.as_str().replace('-', "_");
    for (file, text) in FILES {
        let file = folder.join(file);
        fs::create_dir_all(file.parent().unwrap_or(folder))?;
        let text = text
            .replace("@crate@", folder.as_str())
            .replace("@machine@", &machine)
            .replace("@version@", env!("CARGO_PKG_VERSION"))
            .replace("@path@", &path(""))
            .replace("@build-path@", &path("/codegen"))
            .replace("@testkit-path@", &path("/testkit"));
        fs::File::create_new(&file)?.write_all(text.as_bytes())?;
    }
    Ok(())
}
