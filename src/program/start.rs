//! `start`: a loop of any machine, from flags that the machine file names.
//!
//! The flags are the fields with `at_start`, each of its field's type; of several modes each is a subcommand with its own. A machine
//! that requires one text takes it as the words after the flags, too. [`Extension::start`](super::Extension::start) sets other fields.

use camino::Utf8PathBuf;
use clap::builder::{ArgAction, PossibleValuesParser};
use clap::{Arg, ArgMatches, Command, value_parser};
use jiff::Timestamp;
use serde_json::json;

use super::app::HeldLoop;
use super::builder::Program;
use super::caller::{Caller, UNKNOWN};
use super::exit::{Exit, Failure};
pub use super::extension::{StartFields, StartRequest};
use super::info::ProgramInfo;
use super::settings::{MAX_FAILURES, MAX_ROUNDS, Settings};
use super::{incompatible, locate, loops, messages, out, shell, slash_arguments, suggest};
use crate::machine::Actor;
use crate::machine::Beginning;
use crate::machine::table::{Constant, FieldInfo, FieldKind, ModeInfo, Table};
use crate::review::scratch;
use crate::store::{IdForm, LoopId, MOST_COUNT, StartError, Store, StoreError, WhyNotOurs};
use crate::text;
use serde_json::Value;

/// The name of the argument that takes the text without a flag; no field's name has a space.
pub const WORDS: &str = "the words";
const ID: &str = "the id";

/// The one text that a start requires, which may be given as words without a flag.
pub(super) fn in_words(program: &Program) -> Option<&'static FieldInfo> {
    let mut texts = fields(program.info.table)
        .filter(|field| field.kind == FieldKind::Text && program.required.contains(&field.name));
    texts.next().filter(|_| texts.next().is_none())
}

pub(super) fn fields(table: &'static Table) -> impl Iterator<Item = &'static FieldInfo> {
    table.fields.iter().filter(|field| field.at_start)
}

fn kebab(name: &str) -> String {
    name.replace('_', "-")
}

/// The subcommand, which has one for each of several modes.
pub(super) fn command(program: &Program) -> Command {
    let table = program.info.table;
    let command = Command::new("start").about("Start a loop that the Stop hook drives");
    match table.modes {
        [] => command,
        [only] => with_arguments(program, command, only),
        modes => modes
            .iter()
            .map(|mode| {
                with_arguments(
                    program,
                    Command::new(mode.name).about(mode.doc.trim_end_matches('.')),
                    mode,
                )
            })
            .fold(command, Command::subcommand)
            .subcommand_required(true)
            .disable_help_subcommand(true)
            .subcommand_value_name("MODE")
            .subcommand_help_heading("Modes"),
    }
}

/// Returns the command that starts a loop in a mode, of the whole command line.
pub(super) fn of_mode(whole: &Command, mode: &str) -> Option<Command> {
    let start = whole.find_subcommand("start")?;
    Some(start.find_subcommand(mode).unwrap_or(start).clone())
}

/// Adds the arguments of a start in a mode.
fn with_arguments(program: &Program, mut command: Command, mode: &ModeInfo) -> Command {
    let table = program.info.table;
    if table.state.ids == IdForm::Name {
        command = command.arg(
            Arg::new(ID)
                .long(id_flag(table))
                .value_name("NAME")
                .required(true)
                .help("The loop's id: 1 to 64 of A-Z, a-z, 0-9, _ and -"),
        );
    }
    let in_words = in_words(program).map(|field| field.name);
    command = command.arg(slash_arguments::flag());
    for field in fields(table) {
        command = command.arg(flag(field, mode));
    }
    if let Some(name) = in_words {
        command = command.arg(
            Arg::new(WORDS)
                .value_name(kebab(name).to_uppercase())
                .num_args(1..)
                .trailing_var_arg(true)
                .allow_hyphen_values(true)
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

fn flag(field: &'static FieldInfo, mode: &ModeInfo) -> Arg {
    let value = match field.kind {
        FieldKind::Count => "N".to_owned(),
        FieldKind::Path => "PATH".to_owned(),
        _ => kebab(field.name).to_uppercase(),
    };
    let mut letters = field.doc.chars();
    let doc: String = letters
        .next()
        .into_iter()
        .flat_map(char::to_uppercase)
        .chain(letters)
        .collect();
    let arg = Arg::new(field.name)
        .long(kebab(field.name))
        .value_name(value)
        .help(format!("{doc}{}", usual(field, mode)))
        // It is refused with the reason.
        .hide(!field.exists_in(mode.start));
    match field.kind {
        FieldKind::Count => arg.value_parser(value_parser!(u64).range(..=MOST_COUNT)),
        FieldKind::Flag => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("true|false")
            .value_parser(value_parser!(bool)),
        FieldKind::OneOf(words) => arg.value_parser(PossibleValuesParser::new(words)),
        FieldKind::Text | FieldKind::Path | FieldKind::Data(_) | FieldKind::Held => {
            arg.action(ArgAction::Set).allow_hyphen_values(true)
        }
    }
}

/// Returns the default of a field for its help: ` [default: 3]`.
fn usual(field: &FieldInfo, mode: &ModeInfo) -> String {
    let of_mode = mode.initial.iter().find(|(name, _)| *name == field.name);
    let value = match of_mode.map_or(field.initial, |(_, value)| *value) {
        Constant::Count(count) => count.to_string(),
        Constant::Text(text) if field.kind != FieldKind::Text => text.to_owned(),
        _ => String::new(),
    };
    match value.as_str() {
        "" => value,
        _ if [MAX_ROUNDS, MAX_FAILURES].contains(&field.name) => {
            format!(" [default: {value}, or as configured]")
        }
        _ => format!(" [default: {value}]"),
    }
}

/// Returns the given value of a field.
fn value(field: &FieldInfo, matches: &ArgMatches) -> Option<Value> {
    match field.kind {
        FieldKind::Count => matches.get_one::<u64>(field.name).copied().map(Value::from),
        FieldKind::Flag => matches
            .get_one::<bool>(field.name)
            .copied()
            .map(Value::from),
        _ => matches
            .get_one::<String>(field.name)
            .cloned()
            .map(Value::from),
    }
}

/// Every field that was given.
fn given(
    program: &Program,
    mode: &ModeInfo,
    matches: &ArgMatches,
) -> Result<Vec<(&'static str, Value)>, Failure> {
    let in_words = in_words(program);
    let mut given = Vec::new();
    for field in fields(program.info.table) {
        let words = || {
            let words = matches.get_many::<String>(WORDS)?;
            Some(Value::from(words.cloned().collect::<Vec<_>>().join(" ")))
        };
        let value = match in_words {
            Some(of) if of.name == field.name => value(field, matches).or_else(words),
            _ => value(field, matches),
        };
        // A text of white space alone says nothing.
        let message = |value: &Value| {
            !program.required.contains(&field.name)
                || value.as_str().is_none_or(|text| !text.trim().is_empty())
        };
        let Some(value) = value.filter(message) else {
            continue;
        };
        if !field.exists_in(mode.start) {
            return Err(Failure::plain(
                Exit::Usage,
                format!(
                    "--{}: the field does not exist in phase {}, where mode {} begins",
                    kebab(field.name),
                    program.info.table.phases[mode.start].name,
                    mode.name
                ),
                "leave it out; nothing was started",
            ));
        }
        given.push((field.name, value));
    }
    Ok(given)
}

/// Returns the mode of a start, and its arguments.
fn mode<'a>(
    info: &ProgramInfo,
    matches: &'a ArgMatches,
) -> Result<(&'static ModeInfo, &'a ArgMatches), Failure> {
    let modes = info.table.modes;
    let found = match matches.subcommand() {
        Some((name, given)) => modes.iter().find(|mode| mode.name == name).zip(Some(given)),
        None => modes.first().zip(Some(matches)),
    };
    found.ok_or_else(|| {
        Failure::plain(
            Exit::Usage,
            "this machine has no such mode".to_owned(),
            "`--help` lists them",
        )
    })
}

/// The most bytes of a text that a start takes.
pub const MAX_TEXT_BYTES: usize = 64 * 1024;

/// Starts a loop.
pub(super) fn start(program: &Program, matches: &ArgMatches) -> Result<Exit, Failure> {
    let (mode, matches) = mode(program.info, matches)?;
    let from_prompt = matches.get_flag(slash_arguments::FROM_PROMPT);
    let reparsed = if from_prompt {
        Some(from_typed(program, mode, &Caller::from_env())?)
    } else {
        None
    };
    let matches = reparsed.as_ref().unwrap_or(matches);
    started(program, mode, matches, from_prompt)
}

/// Starts a loop as a user decided: in this mode, with these arguments.
pub(super) fn start_with(program: &Program, arguments: Vec<String>) -> Result<Exit, Failure> {
    let whole = super::command_line::command(program);
    let start = whole.find_subcommand("start").cloned();
    let start = start
        .unwrap_or_else(|| command(program))
        .no_binary_name(true);
    let matches = start
        .try_get_matches_from(arguments)
        .map_err(|error| Failure::usage(&error))?;
    let (mode, matches) = mode(program.info, &matches)?;
    started(program, mode, matches, true)
}

fn started(
    program: &Program,
    mode: &'static ModeInfo,
    matches: &ArgMatches,
    from_prompt: bool,
) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    if caller.inside && caller.session.is_none() {
        return Err(Failure::plain(
            Exit::Usage,
            "this runs inside Claude Code, and CLAUDE_CODE_SESSION_ID is not set: the loop would belong to nobody"
                .to_owned(),
            "update Claude Code, or start the loop in a terminal of your own",
        ));
    }
    let here = loops::here()?;
    let store = locate::for_start(info.state, &here);
    let actor = caller.actor(from_prompt);
    let settings = loops::settings(info, store.root(), None)?;
    let call = Call {
        caller,
        actor,
        here,
        settings,
    };
    let held = begin(program, mode, matches, &store, &call)?;
    let Call {
        caller, settings, ..
    } = call;
    let raw = held.raw();
    let state = text::exact(store.path_of(raw.id()));
    let mut notes = messages::repairs(raw);
    notes.extend(raw.archived().iter().map(|id| {
        format!(
            "loop {id} showed no sign of life and was archived; to bring it back once this one is over:{}",
            info.command(&format!("resume {id}"))
        )
    }));
    raw.store()
        .log(&format!("{} start by {}", raw.id(), raw.actor()));
    // There is no stop before the first phase that would do it; a failure here is reported at the next one.
    if let Err(error) = program.extension.entered(&*held, &settings) {
        store.log(&format!("{} start: {error}", raw.id()));
    }
    if mode.message.is_none() {
        for note in &notes {
            out::note(&info.line(note));
        }
        out::text(&format!(
            "Loop {} is in phase {}. Its state: {state}\n",
            raw.id(),
            messages::phase(raw).name,
        ));
        out::line(match caller.session {
            Some(_) => "The next stop of this session drives it.",
            None => "The next session that ends a turn in this project drives it.",
        });
    }
    let is_set =
        |id: &&clap::Id| matches!(matches.try_get_one::<bool>(id.as_str()), Ok(Some(true)));
    let flags: Vec<&str> = matches.ids().filter(is_set).map(clap::Id::as_str).collect();
    let message = mode.message.or(info.table.phases[raw.phase()].message);
    let variables = [
        ("notes", json!(notes)),
        ("from_prompt", json!(from_prompt)),
        ("flags", json!(flags)),
        ("state", json!(state)),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value));
    match program.render(&*held, message, &settings, variables.into_iter().collect()) {
        Ok(Some(text)) if mode.message.is_some() => out::line(text.trim_end()),
        Ok(Some(text)) => out::line(&format!("\n{}", text.trim_end())),
        Ok(None) => {}
        Err(problem) => out::note(&info.line(&problem)),
    }
    Ok(Exit::Complete)
}

/// Parses the text typed after the slash command of a mode as if it had been typed in a terminal.
fn from_typed(program: &Program, mode: &ModeInfo, caller: &Caller) -> Result<ArgMatches, Failure> {
    let name = if program.info.table.modes.len() > 1 {
        kebab(mode.name)
    } else {
        "start".to_owned()
    };
    let typed = slash_arguments::taken(program.info, &name, caller)?;
    let mut command = of_mode(&super::command_line::command(program), mode.name)
        .unwrap_or_else(|| command(program))
        .no_binary_name(true);
    let (flags, rest) = slash_arguments::split(&command, &typed);
    let mut arguments = flags;
    arguments.push("--from-prompt");
    if !rest.is_empty() {
        arguments.extend(["--", rest]);
    }
    command
        .try_get_matches_from_mut(arguments)
        .map_err(|error| Failure::usage(&error))
}

/// The circumstances of a start.
struct Call {
    caller: Caller,
    actor: Actor,
    here: Utf8PathBuf,
    settings: Settings,
}

/// Begins a loop with the given fields, those of the program, and those of the configuration.
fn begin(
    program: &Program,
    mode: &'static ModeInfo,
    matches: &ArgMatches,
    store: &Store,
    call: &Call,
) -> Result<HeldLoop, Failure> {
    let info = program.info;
    let named = match info.table.state.ids {
        IdForm::Stamp => None,
        IdForm::Name => matches.get_one::<String>(ID),
    };
    let named = named
        .map(|name| LoopId::parse(name, IdForm::Name))
        .transpose()
        .map_err(|error| Failure::plain(Exit::Usage, error.to_string(), "nothing was started"))?;
    refuse_unknown_flag(program, mode, matches)?;
    let given = given(program, mode, matches)?;
    let now = Timestamp::now();
    remove_scratch_on_signals();
    let own = program.extension.start(StartRequest {
        mode,
        given: given.clone(),
        arguments: matches,
        here: &call.here,
        store,
        now,
    })?;
    let mut fields = own.fields;
    for (name, value) in given.into_iter().chain(call.settings.start_values(mode)) {
        if !fields.iter().any(|(known, _)| *known == name) {
            fields.push((name, value));
        }
    }
    fields.retain(|(_, value)| *value != Value::Null);
    complete(program, mode, &fields)?;
    let how = Beginning {
        now,
        stale_after: Some(call.settings.stale_after()),
        session: call
            .caller
            .session
            .clone()
            .unwrap_or_else(|| UNKNOWN.to_owned()),
        id: named.or(own.id),
    };
    let held = program.app.begin(store, mode, fields, how, call.actor);
    held.map_err(|error| refused(info, error))
}

/// Refuses a first word that looks like a flag and is not one. A text that begins with `--` goes after ` -- `.
fn refuse_unknown_flag(
    program: &Program,
    mode: &ModeInfo,
    matches: &ArgMatches,
) -> Result<(), Failure> {
    let words = program
        .required
        .first()
        .and_then(|_| matches.try_get_many::<String>(WORDS).ok().flatten());
    let first = words.and_then(|mut words| words.next());
    let typed = std::env::args().any(|argument| argument == "--")
        || matches.get_flag(slash_arguments::FROM_PROMPT);
    let Some(flag) = first
        .filter(|word| word.starts_with("--") && !word.contains(char::is_whitespace) && !typed)
    else {
        return Ok(());
    };
    let command = of_mode(&super::command_line::command(program), mode.name);
    let known: Vec<String> = command
        .iter()
        .flat_map(Command::get_arguments)
        .filter(|argument| !argument.is_hide_set())
        .filter_map(|argument| Some(format!("--{}", argument.get_long()?)))
        .collect();
    let name = flag.split('=').next().unwrap_or(flag);
    let near = suggest::word(name, known.iter().map(String::as_str));
    let otherwise = format!(
        "flags: {}; a text that begins with `--` goes after ` -- `",
        known.join(", ")
    );
    Err(Failure::plain(
        Exit::Usage,
        format!("`start` has no flag `{}`", text::one_line(flag, 60)),
        &suggest::help(near, &otherwise),
    ))
}

/// Refuses a start that lacks a field, or has a text that no state file should hold.
fn complete(
    program: &Program,
    mode: &ModeInfo,
    fields: &[(&'static str, Value)],
) -> Result<(), Failure> {
    for &name in program.required {
        if !fields.iter().any(|(given, _)| *given == name) {
            let words = in_words(program).is_some_and(|field| field.name == name);
            let how = if words {
                format!("give it after the flags: start {} <{name}>", mode.name)
            } else {
                format!("give it: --{} <{name}>", kebab(name))
            };
            return Err(Failure::plain(
                Exit::Usage,
                format!("mode {} requires a {}", mode.name, name.replace('_', " ")),
                &how,
            ));
        }
    }
    let long = fields.iter().find_map(|(name, value)| {
        let bytes = value.as_str()?.len();
        (bytes > MAX_TEXT_BYTES).then_some((name, bytes))
    });
    match long {
        None => Ok(()),
        Some((name, bytes)) => Err(Failure::plain(
            Exit::Usage,
            format!(
                "the {} is {bytes} bytes long, and {MAX_TEXT_BYTES} are the most",
                name.replace('_', " ")
            ),
            "put the details into a file of the project and name it there",
        )),
    }
}

/// Returns a start that the store refused as a failure, with the ways out.
pub fn refused(info: &ProgramInfo, error: StartError) -> Failure {
    let message = error.to_string();
    let help = match error {
        StartError::Actor { mode, .. } => format!("whoever may do it:{}", info.start(mode)),
        StartError::Store(StoreError::Active {
            id, phase: Some(_), ..
        }) => return refused_by_active(info, &id, message),
        StartError::Store(StoreError::NotOurs {
            id,
            why: WhyNotOurs::Journal(_),
            ..
        }) => incompatible::in_the_way(info, &id),
        StartError::Store(StoreError::NotOurs {
            path,
            why: WhyNotOurs::OtherFile,
            ..
        }) => {
            let import = || format!("import {}", shell::quoted(path.as_str()));
            let command = info.command(&info.take_up.map_or_else(import, str::to_owned));
            format!("move it away, or the user takes it up as it is:{command}")
        }
        StartError::Store(error @ StoreError::Active { .. }) => {
            return Failure::new(Exit::Refused, error);
        }
        StartError::Store(error) => return Failure::new(Exit::Internal, error),
    };
    Failure::plain(Exit::Refused, message, &help)
}

/// Returns a start that another loop blocks as a failure, with the ways out.
fn refused_by_active(info: &ProgramInfo, id: &str, message: String) -> Failure {
    let here = loops::here().ok();
    let listed = here.map(|here| locate::active_loops(info.state, &here));
    let mut listed = listed.into_iter().flatten().map(|(_, one)| one);
    let program = info.program;
    let (message, help) = match listed.find(|one| one.id.as_str() == id) {
        Some(one) if one.left_alone => (
            one.problem.unwrap_or(message),
            incompatible::in_the_way(info, id),
        ),
        Some(one) if one.ours => {
            let give_up =
                incompatible::way_out(info, id).map(|way| format!("\nto give it up:\n    {way}"));
            let help = format!(
                "see it with `{program} status`; to take it over into this session:{}{}",
                info.command(&format!("adopt {id}")),
                give_up.unwrap_or_default()
            );
            (message, help)
        }
        _ => {
            let help = format!(
                "if an older version began it, the user takes it up: {program} import FILE; else finish it with the program \
                 that began it, or archive every loop of the project:\n    {program} rollback"
            );
            (message, help)
        }
    };
    Failure::plain(Exit::Refused, message, &help)
}

/// Removes scratch data, such as a copy of the work tree, if a signal ends the start.
fn remove_scratch_on_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]) else {
        return;
    };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            scratch::remove_all();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    });
}
