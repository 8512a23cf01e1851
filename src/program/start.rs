//! `start`: a loop of any machine, from flags that the machine file names.
//!
//! The flags are the fields with `at_start`. Each of several modes is a subcommand with its own.
//! One required text may also be the words after the flags.

use std::collections::BTreeMap;

use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};

use super::app::{HeldLoop, Program};
use super::caller::Caller;
use super::exit::{CommandResult, Exit, Failure};
pub use super::extension::StartRequest;
use super::extension::Variables;
use super::info::ProgramInfo;
use super::settings::{FAILURES_FIELD, ROUNDS_FIELD, Settings};
use super::{arguments, command_line, console, locate, loops, open_error};
use crate::git;
use crate::machine::table::{FieldInfo, FieldKind, ModeInfo, Table};
use crate::machine::{LoopHandle, Refusal};
use crate::message::Message;
use crate::store::{IdForm, LoopId};
use crate::{template, text};

/// The name of the argument for the text without a flag; no field's name has a space.
pub const WORDS: &str = "the words";
const ID: &str = "the id";
/// The text above the first phase's message, for a mode without a message.
const STARTED: Message = template!("started.txt");

/// Returns the one text that a start requires, which may be words without a flag.
fn text_in_words(table: &'static Table) -> Option<&'static FieldInfo> {
    let is_text = |field: &&FieldInfo| matches!(field.kind, FieldKind::Text) && field.required;
    let mut texts = fields(table).filter(is_text);
    texts.next().filter(|_| texts.next().is_none())
}

fn fields(table: &'static Table) -> impl Iterator<Item = &'static FieldInfo> {
    table.state.declared.iter().filter(|field| field.at_start)
}

pub(super) fn command(table: &'static Table) -> Command {
    let command = Command::new("start").about("Start a loop that the Stop hook drives");
    if let [only] = table.modes {
        return with_arguments(table, command, only);
    }
    let modes = table.modes.iter().map(|mode| {
        let about = mode.doc.trim_end_matches('.');
        with_arguments(table, Command::new(mode.name).about(about), mode)
    });
    command
        .subcommands(modes)
        .subcommand_required(true)
        .disable_help_subcommand(true)
        .subcommand_value_name("MODE")
        .subcommand_help_heading("Modes")
}

fn with_arguments(table: &'static Table, mut command: Command, mode: &ModeInfo) -> Command {
    if table.state.ids == IdForm::Name {
        let is_taken = fields(table).any(|field| field.name == "id");
        command = command.arg(
            Arg::new(ID)
                .long(if is_taken { "loop-id" } else { "id" })
                .value_name("NAME")
                .required(true)
                .value_parser(|name: &str| LoopId::parse(name, IdForm::Name))
                .help("The loop's id: 1 to 64 of A-Z, a-z, 0-9, _ and -"),
        );
    }
    let fields = fields(table).filter(|field| field.exists_in(mode.start));
    let flags = fields.map(|field| {
        let doc = format!("{}{}", field.doc, default_help(field, mode));
        arguments::flag(field.name, &doc, field.kind)
    });
    command = command.args(flags);
    let Some(FieldInfo { name, .. }) = text_in_words(table) else {
        return command;
    };
    let flag = arguments::long(name);
    let words = Arg::new(WORDS)
        .value_name(flag.to_uppercase())
        .num_args(1..)
        .trailing_var_arg(true)
        .conflicts_with(name)
        .help(format!("The same as --{flag}, without quotes"));
    command.arg(words)
}

/// Returns the default of a field for its help: ` [default: 3]`.
fn default_help(field: &FieldInfo, mode: &ModeInfo) -> String {
    if field.required {
        return " [required]".to_owned();
    }
    let value = match (mode.start_value(field), field.kind) {
        (Value::Number(count), _) => count.to_string(),
        (Value::String(text), FieldKind::Path | FieldKind::OneOf(_)) if !text.is_empty() => text,
        _ => return String::new(),
    };
    match field.name {
        ROUNDS_FIELD | FAILURES_FIELD => format!(" [default: {value}, or as configured]"),
        _ => format!(" [default: {value}]"),
    }
}

/// Returns the value of a field in the arguments, unless it is a required text without words.
fn value(table: &'static Table, field: &FieldInfo, matches: &ArgMatches) -> Option<Value> {
    let value = matches.get_one::<Value>(field.name).cloned().or_else(|| {
        text_in_words(table).filter(|words| words.name == field.name)?;
        let words: Vec<_> = matches.get_many::<String>(WORDS)?.cloned().collect();
        Some(words.join(" ").into())
    })?;
    let is_blank = value.as_str().is_some_and(|text| text.trim().is_empty());
    (!is_blank || !field.required).then_some(value)
}

/// The largest text that a start takes, in bytes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Starts a loop with the user's arguments, first the mode if there are several.
pub(super) fn start_with(program: &Program, arguments: Vec<String>) -> CommandResult {
    let whole = command_line::command(program);
    let start = whole.find_subcommand("start").cloned().unwrap_or_default();
    let matches = start.no_binary_name(true).try_get_matches_from(arguments);
    begin(program, &matches?)
}

pub(super) fn begin(program: &Program, matches: &ArgMatches) -> CommandResult {
    let info = program.info;
    let caller = Caller::from_env();
    let modes = info.table.modes;
    let (name, matches) = matches.subcommand().unwrap_or((modes[0].name, matches));
    let named = modes.iter().find(|mode| mode.name == name);
    let mode = named.expect("the command line has only these modes");
    let fields = fields(info.table)
        .filter(|field| field.exists_in(mode.start))
        .filter_map(|field| Some((field.name, value(info.table, field, matches)?)));
    let here = loops::current_folder()?;
    let store = locate::for_start(info.state, &here);
    let settings = loops::settings(info, store.root(), None)?;
    // Git then removes its temporary data.
    console::set_on_signals(&git::INTERRUPTED);
    let request = StartRequest {
        mode,
        fields: fields.collect(),
        arguments: matches,
        here: &here,
        store: &store,
        actor: caller.actor(),
        beginning: caller.beginning(matches.try_get_one(ID).ok().flatten().cloned()),
    };
    let (held, archived) = begin_loop(program, request, &settings)?;
    print(program, mode, &*held, &archived, matches);
    Ok(Exit::Complete)
}

/// Begins a loop. Returns it with the inactive loops that were archived first.
///
/// # Errors
/// Returns an error if a field is missing or wrong, or if the extension or the store refuses.
pub fn begin_loop(
    program: &Program,
    mut request: StartRequest<'_>,
    settings: &Settings,
) -> Result<(HeldLoop, Vec<LoopId>), Failure> {
    let StartRequest {
        mode, store, actor, ..
    } = request;
    program.extension.start(&mut request)?;
    let mut fields = request.fields;
    for (name, value) in settings.start_values(program.info, mode) {
        fields.entry(name).or_insert(value);
    }
    fields.retain(|_, value| !value.is_null());
    check(program.info, mode, &fields)?;

    let beginning = request.beginning;
    let archived = store.archive_stale(beginning.now.into(), settings.stale_after());
    let fields = fields.into_iter().collect();
    let begun = program.app.begin(store, mode, fields, beginning, actor);
    let held = begun.map_err(|refusal| match refusal {
        Refusal::Actor(why) => {
            let start = program.info.start(mode.name);
            Failure::refuse(why, &format!("ask the user to start it:{start}"))
        }
        refusal => open_error::start_failure(program, store, refusal),
    })?;
    enter(program, &*held, "start");
    Ok((held, archived))
}

/// Does the work of the first phase, which no stop would do. The next stop reports a failure.
pub fn enter(program: &Program, held: &dyn LoopHandle, command: &str) {
    let raw = held.raw();
    let log = |line: &str| raw.store().log(&format!("{} {command}{line}", raw.id()));
    log(&format!(" by {}", raw.actor()));
    if let Err(error) = program.enter(held) {
        log(&format!(": {error}"));
    }
}

/// Prints the message of a mode, or else of the first phase, below the loop's place.
fn print(
    program: &Program,
    mode: &ModeInfo,
    held: &dyn LoopHandle,
    archived: &[LoopId],
    matches: &ArgMatches,
) {
    let info = program.info;
    let caller = Caller::from_env();
    let raw = held.raw();
    let state = text::escape_hidden(raw.store().path_of(raw.id()));
    let mut notes = raw.record().repairs().to_vec();
    notes.extend((archived.iter()).map(|id| locate::archived_note(info, id, "")));
    notes.extend(flag_in_words(program, mode, matches));
    // A flag of the extension is a boolean, one of a field is JSON.
    let is_set = |id: &&str| {
        matches!(matches.try_get_one(id), Ok(Some(true)))
            || matches!(matches.try_get_one(id), Ok(Some(Value::Bool(true))))
    };
    let flags: Vec<&str> = matches.ids().map(clap::Id::as_str).filter(is_set).collect();
    let variables = [
        ("notes", json!(notes)),
        ("from_prompt", json!(caller.is_slash_command)),
        ("flags", json!(flags)),
        ("state", json!(state)),
        ("has_session", json!(caller.session.is_some())),
    ];
    let variables = Variables::from_iter(variables.map(|(name, value)| (name.to_owned(), value)));
    let message = mode.message.unwrap_or(STARTED);
    program.print(held, Some(message), variables.clone(), true);
    if mode.message.is_none() {
        program.print(held, raw.phase_info().message, variables, false);
    }
}

/// Returns a note about a flag behind the first of the words, where it is text.
fn flag_in_words(program: &Program, mode: &ModeInfo, matches: &ArgMatches) -> Option<String> {
    let words = matches.try_get_many::<String>(WORDS).ok()??;
    let whole = command_line::command(program);
    let start = whole.find_subcommand("start")?;
    let start = start.find_subcommand(mode.name).unwrap_or(start);
    let is_flag = |word: &&str| {
        let name = word.split('=').next().and_then(|it| it.strip_prefix("--"));
        name.is_some() && start.get_arguments().any(|known| known.get_long() == name)
    };
    let mut words = words.flat_map(|word| word.split_whitespace());
    let flag = words.find(is_flag)?;
    Some(format!(
        "{flag} is part of the text: flags go in front of it"
    ))
}

/// Refuses a start without a required field, or with a text that is too long.
fn check(
    info: &ProgramInfo,
    mode: &ModeInfo,
    fields: &BTreeMap<&str, Value>,
) -> Result<(), Failure> {
    let table = info.table;
    let mut required = self::fields(table).filter(|field| field.required);
    if let Some(FieldInfo { name, .. }) = required.find(|field| !fields.contains_key(field.name)) {
        let problem = format!("mode {} requires a {}", mode.name, name.replace('_', " "));
        let help = match text_in_words(table) {
            Some(words) if words.name == *name => format!("give it:{}", info.start(mode.name)),
            _ => format!("give it with --{}", arguments::long(name)),
        };
        return Err(Failure::with_help(Exit::Usage, problem, &help));
    }
    for (name, value) in fields {
        let bytes = value.as_str().map_or(0, str::len);
        if bytes > MAX_TEXT_BYTES {
            let name = name.replace('_', " ");
            let problem = format!("{name}: expected at most {MAX_TEXT_BYTES} bytes, found {bytes}");
            let help = "put the details into a file of the project and name it there";
            return Err(Failure::with_help(Exit::Usage, problem, help));
        }
    }
    Ok(())
}
