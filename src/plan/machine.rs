//! `machine`: checks machine files, draws them, and prints their JSON Schema for editors.
//!
//! The schema is derived from serde's errors about small files with a wrong value, which list the
//! keys and words. So it cannot differ from the model.

use camino::{Utf8Path, Utf8PathBuf};
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};
use claudex_build::model::Machine;
use claudex_loop::program::exit::{CommandResult, Exit, Failure};
use claudex_loop::program::{Group, out};
use claudex_loop::{files, text};
use serde::Deserialize as _;
use serde_json::{Map, Value, json};
use toml::de::ValueDeserializer;

use super::typestate::DIAGRAM;

#[derive(Debug, Subcommand)]
enum Machines {
    /// Check machine files; print every finding with its file, line and column
    Check {
        /// Machine files
        #[arg(required = true, value_name = "FILE")]
        files: Vec<Utf8PathBuf>,
    },
    /// Draw the graph as a Mermaid flowchart
    Diagram {
        /// A machine file [default: the plan loop's]
        file: Option<Utf8PathBuf>,
    },
    /// Print the JSON Schema of machine files, for editors
    Schema,
}

pub(super) fn command() -> Command {
    Machines::augment_subcommands(
        Command::new("machine")
            .about("Check and draw machine files")
            .subcommand_required(true)
            .arg_required_else_help(true)
            .display_order(Group::SetUp.place()),
    )
}

/// Runs the subcommand. Exits with 1 if a file has findings, and with 2 if one cannot be read.
pub(super) fn run(matches: &ArgMatches) -> CommandResult {
    let command = Machines::from_arg_matches(matches)?;

    let mut exit = Exit::Complete;
    match command {
        Machines::Check { files } => {
            for file in files {
                match load(&file) {
                    Ok(Some(machine)) => out::line(&format!(
                        "{}: machine `{}` is well-formed: {} phases, {} transitions, {} edges",
                        display_name(&file),
                        machine.name,
                        machine.phases.len(),
                        machine.first_entries().len(),
                        machine.edges().len(),
                    )),
                    Ok(None) if exit == Exit::Usage => {}
                    Ok(None) => exit = Exit::Refused,
                    Err(failure) => {
                        failure.print();
                        exit = failure.exit;
                    }
                }
            }
        }
        Machines::Diagram { file: None } => out::text(DIAGRAM),
        Machines::Diagram { file: Some(file) } => match load(&file)? {
            Some(machine) => out::text(&claudex_build::diagram(&machine)),
            None => exit = Exit::Refused,
        },
        Machines::Schema => {
            let mut schema = schema_at("@");
            schema["$schema"] = json!("http://json-schema.org/draft-07/schema#");
            schema["title"] = json!("machine.toml of claudex-loop");
            out::json(&schema);
        }
    }
    Ok(exit)
}

/// Reads and checks a machine file. Prints its findings, and returns `None` if it has any.
fn load(file: &Utf8Path) -> Result<Option<Machine>, Failure> {
    let name = display_name(file);
    let source = files::read_to_string(file).map_err(|error| {
        let reason = text::one_line(&error.to_string(), 400);
        let help = "name a regular file of UTF-8 text";
        Failure::with_help(Exit::Usage, format!("cannot read {name}: {reason}"), help)
    })?;
    let checked = claudex_build::check_source(&name, &source)
        .map_err(|found| found.cargo_lines().for_each(|line| out::note(&line)));
    Ok(checked.ok())
}

fn display_name(file: &Utf8Path) -> String {
    text::pasteable(&text::printable(file))
}

/// Returns the schema of the value at `@` in a file, from the values that the model refuses there.
fn schema_at(file: &str) -> Value {
    let at = |value: &str| schema_at(&file.replace('@', value));
    let table = |keys: Vec<String>| {
        let entries = keys.into_iter().map(|key| {
            let schema = at(&format!("{{{key} = @}}"));
            (key, schema)
        });
        let properties: Map<String, Value> = entries.collect();
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    };
    let mut forms = Vec::new();
    let text = ask(file, "\"?\"");
    // A variant with a value cannot be a text.
    let words = names(&text, "unknown variant")
        .filter(|words| !is_wrong_type(&ask(file, &format!("{:?}", words[0]))));
    match &words {
        Some(words) => forms.push(json!({ "enum": words })),
        None if text.starts_with("unknown variant") || is_wrong_type(&text) => {}
        None => forms.push(json!({ "type": "string" })),
    }
    if !is_wrong_type(&ask(file, "true")) {
        forms.push(json!({ "type": "boolean" }));
    }
    let number = ask(file, "1");
    // serde also accepts a list for a struct, but no file uses it.
    if number.ends_with("list") || number.ends_with("sequence") {
        forms.push(json!({ "type": "array", "items": at("[@]"), "minItems": 1 }));
    } else if !is_wrong_type(&number) {
        forms.push(json!({ "type": "integer", "minimum": 0 }));
    }
    let entry = ask(file, "{\"?\" = 1}");
    if let Some(keys) = names(&entry, "unknown field") {
        forms.push(table(keys));
    } else if let Some(variants) = names(&entry, "unknown variant") {
        if words.is_none() {
            let mut variant = table(variants);
            variant["minProperties"] = json!(1);
            variant["maxProperties"] = json!(1);
            forms.push(variant);
        }
    } else if !is_wrong_type(&entry) {
        forms.push(json!({ "type": "object", "additionalProperties": at("{a = @}") }));
    }
    match forms.len() {
        1 => forms.remove(0),
        _ => json!({ "anyOf": forms }),
    }
}

/// Returns the model's message about a value at `@` in a file. It is empty if the value is allowed
/// or another part is missing.
fn ask(file: &str, value: &str) -> String {
    let machine =
        ValueDeserializer::parse(&file.replace('@', value)).and_then(Machine::deserialize);
    let error = machine.err().filter(|error| {
        let span = error.span();
        span.is_some_and(|span| Some(span.start + 1) >= file.find('@'))
    });
    error.map_or_else(String::new, |error| error.message().to_owned())
}

/// Returns the names in a message with this beginning, without the first and wrong one.
fn names(message: &str, beginning: &str) -> Option<Vec<String>> {
    let names = message.split('`').skip(3).step_by(2).map(str::to_owned);
    message.starts_with(beginning).then(|| names.collect())
}

fn is_wrong_type(message: &str) -> bool {
    ["invalid type", "expected ", "wanted "]
        .iter()
        .any(|beginning| message.starts_with(beginning))
}
