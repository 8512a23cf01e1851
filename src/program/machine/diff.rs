//! `machine diff`: what a change of a machine means for loops that are on disk, and the `[[migrations]]` entry to paste.

use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use serde::Serialize;

use super::{Own, Subject};
use crate::files;
use crate::program::exit::{Exit, Failure};
use crate::program::out;
use crate::store::shape::{Difference, Migrations, Shape, Suggestion, Verdict, compare};
use crate::text::one_line;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report<'r> {
    old: Named<'r>,
    new: Named<'r>,
    verdict: Verdict,
    differences: &'r [Difference],
    /// An entry to paste, where one is wanted.
    migration: Option<String>,
}

#[derive(Debug, Serialize)]
struct Named<'r> {
    file: &'r str,
    machine: &'r str,
    graph_hash: &'r str,
}

/// A machine of which only the shape is asked for.
struct Side {
    file: String,
    shape: Shape,
    migrations: Migrations,
}

impl Side {
    fn load(file: Option<&Utf8Path>, own: &Own) -> Result<Self, Failure> {
        let refused = |file: &str, error: crate::store::shape::ShapeError| {
            Failure::headed(Exit::Refused, plain(&format!("{file}: {error}")), error)
        };
        // A state folder keeps the shapes of the machines whose loops it holds: JSON, where a machine file is TOML.
        if let Some(file) = file
            && file.extension() == Some("json")
        {
            let bytes = files::read(file).map_err(|error| {
                Failure::plain(
                    Exit::Usage,
                    "claudex::machine::read",
                    plain(&error.to_string()),
                    "give the path of a machine.toml, or of a file in `machines/` of a state folder",
                )
            })?;
            let shape = Shape::read(&bytes).map_err(|error| refused(file.as_str(), error))?;
            return Ok(Self {
                file: file.to_string(),
                shape,
                migrations: Migrations::default(),
            });
        }
        let Subject { file, machine, .. } = Subject::load(file, own)?;
        let shape = Shape::read(claudex_build::shape(&machine).as_bytes());
        let shape = shape.map_err(|error| refused(&file, error))?;
        let migrations = Migrations::read(&claudex_build::migrations(&machine));
        let migrations = migrations.map_err(|error| refused(&file, error))?;
        Ok(Self {
            file,
            shape,
            migrations,
        })
    }

    fn named(&self) -> Named<'_> {
        Named {
            file: &self.file,
            machine: &self.shape.machine,
            graph_hash: &self.shape.hash,
        }
    }
}

/// `machine diff`
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// The machine file that loops were begun with, or its shape: `machines/<graph hash>.json` of a state folder
    old: Utf8PathBuf,
    /// The new machine file [default: this program's own]
    new: Option<Utf8PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, own: &Own) -> Result<Exit, Failure> {
    let Arguments { old, new, json } = arguments;
    let old = Side::load(Some(old), own)?;
    let new = Side::load(new.as_deref(), own)?;
    let mut found = compare(&old.shape, &new.shape, &new.migrations);
    // The worst first; within a verdict as they were found, which is the order of the file.
    found.sort_by_key(|one| std::cmp::Reverse(one.verdict));
    let verdict = found
        .iter()
        .map(|one| one.verdict)
        .max()
        .unwrap_or(Verdict::Safe);
    let migration = (verdict >= Verdict::Migration)
        .then(|| entry(&old, &new, &found))
        .flatten();
    if *json {
        out::json(&Report {
            old: old.named(),
            new: new.named(),
            verdict,
            differences: &found,
            migration,
        });
    } else {
        out::text(&words(&old, &new, &found, verdict, migration.as_deref()));
    }
    Ok(match verdict {
        Verdict::Safe | Verdict::Migrated => Exit::Complete,
        Verdict::Migration => Exit::Migration,
        Verdict::Breaks => Exit::Breaks,
    })
}

fn words(
    old: &Side,
    new: &Side,
    found: &[Difference],
    verdict: Verdict,
    migration: Option<&str>,
) -> String {
    let mut text = String::new();
    for (what, side) in [("old", old), ("new", new)] {
        let Named {
            file,
            machine,
            graph_hash,
        } = side.named();
        let _ = writeln!(
            text,
            "{what}: machine `{}`, graph hash {graph_hash}, {}",
            plain(machine),
            plain(file)
        );
    }
    if found.is_empty() {
        let same = if old.shape.hash == new.shape.hash {
            "The machines are the same"
        } else {
            "The machines differ in the order of their declarations alone"
        };
        let _ = writeln!(text, "\n{same}: loops on disk go on as they are.");
        return text;
    }
    let mut heading = None;
    for one in found {
        if heading != Some(one.verdict) {
            let _ = writeln!(text, "\n{}:", one.verdict);
            heading = Some(one.verdict);
        }
        let _ = writeln!(text, "- {}", plain(&one.what));
        let _ = writeln!(text, "  {}", plain(&one.means));
        if !one.remedy.is_empty() {
            let _ = writeln!(text, "  {}", plain(&one.remedy));
        }
    }
    let _ = writeln!(
        text,
        "\n{}",
        match verdict {
            Verdict::Safe => "Loops on disk go on as they are.",
            Verdict::Migrated => "Loops on disk are migrated when they are opened.",
            Verdict::Migration =>
                "Loops on disk are refused until an entry of `[[migrations]]` says how they go on.",
            Verdict::Breaks =>
                "Loops on disk cannot go on with the new machine. A verb of it that ends loops in every phase, such as cancel, gives one up.",
        }
    );
    if let Some(migration) = migration {
        let place = if new.migrations.takes(&old.shape.hash) {
            "The entry for this version does not say it all. It could say:"
        } else {
            "Check and complete what is proposed here, and put it at the end of the new machine.toml:"
        };
        let _ = writeln!(text, "\n{place}\n\n{migration}");
    }
    text
}

/// A `[[migrations]]` entry that says what can be guessed; what is not sure is for a person to check.
fn entry(old: &Side, new: &Side, found: &[Difference]) -> Option<String> {
    let suggested: Vec<&Suggestion> = found
        .iter()
        .filter_map(|one| one.suggestion.as_ref())
        .collect();
    if suggested.is_empty() || old.shape.machine != new.shape.machine {
        return None;
    }
    let (mut phases, mut fields, mut set) = (Vec::new(), Vec::new(), Vec::new());
    let mut words: Vec<(&str, Vec<String>)> = Vec::new();
    for one in suggested {
        match one {
            Suggestion::Phase { old, new } => phases.push(format!("{old} = \"{new}\"")),
            Suggestion::Field { old, new } => fields.push(format!("{old} = \"{new}\"")),
            Suggestion::Set { field, value } => set.push(format!("{field} = {value}")),
            Suggestion::Word { field, old, new } => {
                let pair = format!("{old} = \"{new}\"");
                match words.iter_mut().find(|(of, _)| of == field) {
                    Some((_, pairs)) => pairs.push(pair),
                    None => words.push((field, vec![pair])),
                }
            }
        }
    }
    let words = words
        .iter()
        .map(|(field, pairs)| format!("{field} = {{ {} }}", pairs.join(", ")))
        .collect();
    let mut text = format!("[[migrations]]\nfrom = \"{}\"\n", old.shape.hash);
    for (key, pairs) in [
        ("phases", phases),
        ("fields", fields),
        ("words", words),
        ("set", set),
    ] {
        let pairs: Vec<String> = pairs;
        if !pairs.is_empty() {
            let _ = writeln!(text, "{key} = {{ {} }}", pairs.join(", "));
        }
    }
    Some(plain_lines(&text))
}

/// A name or a sentence from a file, on one line.
fn plain(text: &str) -> String {
    one_line(text, 500)
}

/// Each line made plain.
fn plain_lines(text: &str) -> String {
    text.lines()
        .map(|line| plain(line) + "\n")
        .collect::<String>()
        .trim_end()
        .to_owned()
}
