//! `start`: a loop of any machine, from flags that the machine file names.
//!
//! The flags are the fields with `at_start`, each of its field's type. A machine that requires one text takes it as the
//! words after the flags, too.

use clap::builder::{ArgAction, PossibleValuesParser};
use clap::{Arg, ArgMatches, Command, value_parser};
use jiff::Timestamp;

use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
use super::program::{App, Program};
use super::{locate, loops, out, stranded, told};
use crate::drive::Held;
use crate::drive::words;
use crate::machine::begin::Beginning;
use crate::machine::table::{FieldInfo, FieldKind, ModeInfo, Table};
use crate::machine::time;
use crate::store::{IdForm, InvalidId, LoopId, StartError, StoreError, Value};
use crate::text;

/// Names of arguments that are no fields; no field's name has a space.
const MODE: &str = "the mode";
const WORDS: &str = "the words";
const ID: &str = "the id";

/// The one text that a start requires, which may be given as words without a flag.
fn in_words<M: Program>() -> Option<&'static FieldInfo> {
    let mut texts =
        fields(M::TABLE).filter(|field| field.kind == FieldKind::Text && M::REQUIRED.contains(&field.name));
    texts.next().filter(|_| texts.next().is_none())
}

fn fields(table: &'static Table) -> impl Iterator<Item = &'static FieldInfo> {
    table.fields.iter().filter(|field| field.at_start)
}

fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

/// What stands for the value in the help.
fn shouted(name: &str) -> String {
    kebab(name).to_uppercase()
}

/// The subcommand.
pub(super) fn command<M: Program>() -> Command {
    let mut command = Command::new("start").about("Start a loop that the Stop hook drives");
    if M::TABLE.modes.len() > 1 {
        let names = M::TABLE.modes.iter().map(|mode| {
            let value = clap::builder::PossibleValue::new(mode.name);
            if mode.doc.is_empty() {
                value
            } else {
                value.help(mode.doc)
            }
        });
        command = command.arg(
            Arg::new(MODE)
                .value_name("MODE")
                .required(true)
                .help("Where it begins")
                .value_parser(PossibleValuesParser::new(names)),
        );
    }
    if M::TABLE.state.ids == IdForm::Name {
        command = command.arg(
            Arg::new(ID)
                .long(id_flag(M::TABLE))
                .value_name("NAME")
                .required(true)
                .help("The loop's id: 1 to 64 of A-Z, a-z, 0-9, _ and -"),
        );
    }
    let in_words = in_words::<M>().map(|field| field.name);
    for field in fields(M::TABLE) {
        let required = M::REQUIRED.contains(&field.name) && in_words != Some(field.name);
        command = command.arg(flag(field).required(required));
    }
    if let Some(name) = in_words {
        command = command.arg(
            Arg::new(WORDS)
                .value_name(shouted(name))
                .num_args(1..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
                .required_unless_present(name)
                .conflicts_with(name)
                .help(format!("The same as --{}, without quotes", kebab(name))),
        );
    }
    command
}

/// The flag that names the loop, where people choose its id.
fn id_flag(table: &'static Table) -> &'static str {
    if fields(table).any(|field| field.name == "id") {
        "loop-id"
    } else {
        "id"
    }
}

fn flag(field: &'static FieldInfo) -> Arg {
    let arg = Arg::new(field.name)
        .long(kebab(field.name))
        .value_name(shouted(field.name))
        .help(field.doc);
    match field.kind {
        FieldKind::Count => arg.value_parser(value_parser!(u64)),
        FieldKind::Flag => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("true|false")
            .value_parser(value_parser!(bool)),
        FieldKind::Time => arg.value_parser(parse_time),
        FieldKind::Id => arg.value_parser(parse_id),
        FieldKind::List => arg.action(ArgAction::Append).allow_hyphen_values(true),
        FieldKind::OneOf(words) => arg.value_parser(PossibleValuesParser::new(words)),
        FieldKind::Text | FieldKind::Path | FieldKind::Held => {
            arg.action(ArgAction::Set).allow_hyphen_values(true)
        }
    }
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    text.parse()
        .map_err(|_| "a time looks like 2026-11-22T07:00:00Z".to_owned())
}

fn parse_id(text: &str) -> Result<LoopId, InvalidId> {
    LoopId::parse(text, IdForm::Name)
}

/// What was given for a field.
fn value(field: &FieldInfo, matches: &ArgMatches) -> Option<Value> {
    let text = || matches.get_one::<String>(field.name).cloned();
    match field.kind {
        FieldKind::Count => matches.get_one::<u64>(field.name).copied().map(Value::Count),
        FieldKind::Flag => matches.get_one::<bool>(field.name).copied().map(Value::Flag),
        FieldKind::Text => text().map(Value::Text),
        FieldKind::Time => matches.get_one(field.name).copied().map(time::of),
        FieldKind::Id => matches
            .get_one::<LoopId>(field.name)
            .map(|id| Value::Word(id.as_str().to_owned())),
        FieldKind::List => matches
            .get_many::<String>(field.name)
            .map(|texts| Value::List(texts.cloned().collect())),
        FieldKind::OneOf(_) | FieldKind::Path | FieldKind::Held => text().map(Value::Word),
    }
}

/// Every field that was given.
fn given<M: Program>(mode: &ModeInfo, matches: &ArgMatches) -> Result<Vec<(&'static str, Value)>, Failure> {
    let in_words = in_words::<M>();
    let mut given = Vec::new();
    for field in fields(M::TABLE) {
        let words = || {
            let words = matches.get_many::<String>(WORDS)?;
            Some(Value::Text(words.cloned().collect::<Vec<_>>().join(" ")))
        };
        let value = match in_words {
            Some(of) if of.name == field.name => value(field, matches).or_else(words),
            _ => value(field, matches),
        };
        let Some(value) = value else { continue };
        if !field.exists_in(mode.start) {
            return Err(Failure::plain(
                Exit::Usage,
                "claudex::start::absent",
                format!(
                    "--{}: the field does not exist in phase {}, where mode {} begins",
                    kebab(field.name),
                    M::TABLE.phases[mode.start].name,
                    mode.name
                ),
                "leave it out; nothing was started",
            ));
        }
        if M::REQUIRED.contains(&field.name) && value.as_str().is_some_and(|text| text.trim().is_empty()) {
            return Err(Failure::plain(
                Exit::Usage,
                "claudex::start::empty",
                format!("--{} is empty", kebab(field.name)),
                "say it in a word or more; nothing was started",
            ));
        }
        given.push((field.name, value));
    }
    Ok(given)
}

fn mode<M: Program>(matches: &ArgMatches) -> Result<&'static ModeInfo, Failure> {
    let modes = M::TABLE.modes;
    let name = match modes.len() {
        0 | 1 => None,
        _ => matches.get_one::<String>(MODE),
    };
    let found = match name {
        Some(name) => modes.iter().find(|mode| mode.name == name),
        None => modes.first(),
    };
    found.ok_or_else(|| {
        Failure::plain(
            Exit::Usage,
            "claudex::start::mode",
            "this machine has no such mode".to_owned(),
            "`--help` lists them",
        )
    })
}

/// Starts a loop.
pub(super) fn start<M: Program>(matches: &ArgMatches) -> Result<Exit, Failure> {
    let speaker = App::<M>::SPEAKER;
    let caller = Caller::from_env();
    if caller.inside && caller.session.is_none() {
        return Err(Failure::plain(
            Exit::Usage,
            "claudex::start::session",
            "this runs inside Claude Code, and CLAUDE_CODE_SESSION_ID is not set: the loop would belong to nobody"
                .to_owned(),
            "update Claude Code, or start the loop in a terminal of your own",
        ));
    }
    let named = match M::TABLE.state.ids {
        IdForm::Stamp => None,
        IdForm::Name => matches.get_one::<String>(ID),
    };
    let id = named
        .map(|name| LoopId::parse(name, IdForm::Name))
        .transpose()
        .map_err(|error| {
            Failure::plain(
                Exit::Usage,
                "claudex::start::id",
                error.to_string(),
                "nothing was started",
            )
        })?;
    let how = Beginning {
        id,
        ..Beginning::now(caller.session.clone().unwrap_or_else(|| UNKNOWN.to_owned()))
    };
    let mode = mode::<M>(matches)?;
    let given = given::<M>(mode, matches)?;
    let store = locate::for_start(speaker.state, &loops::here()?);
    let held = M::begin(mode, given, &store, how, caller.actor(false)).map_err(|error| match error {
        StartError::Active { ref id, .. } => {
            let program = speaker.program;
            let message = error.to_string();
            let help = format!("see it with `{program} status {id}`; one loop of a project runs at a time");
            Failure::plain(Exit::Refused, "claudex::start::active", message, &help)
        }
        StartError::Store(StoreError::NotStartedHere { ref id, .. }) => {
            let help = stranded::in_the_way(&speaker, id);
            Failure::plain(
                Exit::Refused,
                "claudex::start::not_started_here",
                error.to_string(),
                &help,
            )
        }
        error @ StartError::Store(StoreError::Exists { .. }) => Failure::new(Exit::Refused, error),
        error => Failure::new(Exit::Internal, error),
    })?;
    let raw = held.raw();
    loops::tell_repairs(&speaker, raw);
    raw.store().log(&format!("{} start by {}", raw.id(), raw.actor()));
    out::text(&format!(
        "Loop {} is in phase {}. Its state: {}\n",
        raw.id(),
        told::phase(raw).name,
        text::exact(store.path_of(raw.id()))
    ));
    out::line(match caller.session {
        Some(_) => "The next stop of this session drives it.",
        None => "The next session that ends a turn in this project drives it.",
    });
    match words::here(raw) {
        Ok(Some(text)) => out::text(&format!("\n{}\n", text.trim_end())),
        Ok(None) => {}
        Err(error) => out::note(&speaker.line(&error.to_string())),
    }
    Ok(Exit::Complete)
}
