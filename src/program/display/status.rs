//! `status`: where a loop is, on one screen. The names in `--json` are documented in docs/status.md.

use std::io::IsTerminal as _;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::past::Past;
use crate::machine::LoopHandle;
use crate::machine::table::{Constant, FieldKind};
use crate::machine::{Actor, Raw};
use crate::message::short;
use crate::program::app::{App, Program};
use crate::program::arguments::Look;
use crate::program::caller::{Caller, UNKNOWN};
use crate::program::exit::{Exit, Failure};
use crate::program::info::ProgramInfo;
use crate::program::messages::{self, Way};
use crate::program::next_action::{self, NextAction};
use crate::program::reviewers::{self, Preferred};
use crate::program::rounds::{self, RoundLine};
use crate::program::settings::{MAX_ROUNDS, Settings};
use crate::program::stop::LET_END;
use crate::program::{
    Tone, change_text, durations, incompatible, locate, loops, out, session_loops,
};
use crate::review::runs::RunOutcome;
use crate::store::{ChangeEntry, Entry, Listed, LoopId, Store};
use crate::text;

/// The longest text of a field that a terminal or a report shows, in characters.
const LONGEST: usize = 1000;
/// The longest text that stands on one line of a terminal, in characters; a report has the rest.
const LINE: usize = 200;
/// Fields that a terminal is not shown, since a line of every machine's has their name.
const OURS: [&str; 4] = ["loop", "mode", "phase", "session"];
/// Most rounds that a terminal is shown; of more the first ones are left out.
const ROUNDS: usize = 5;

/// Holds where a loop is.
#[derive(Serialize)]
pub(super) struct Shown {
    id: String,
    machine: &'static str,
    mode: Option<String>,
    phase: &'static str,
    doc: &'static str,
    terminal: bool,
    session: String,
    /// The loop that the stops of that session drive, where the machine has many.
    driven: Option<String>,
    started: Option<String>,
    elapsed_seconds: u64,
    last_change: Option<Change>,
    /// What the last stop did and why, if that is not the last change.
    last_stop: Option<String>,
    fields: Map<String, Json>,
    /// What the program shows besides.
    shows: Map<String, Json>,
    /// What reviews have come to, where a phase of the machine reviews.
    review: Option<Review>,
    notes: Vec<String>,
    waits_for: String,
    next: String,
    ways_on: Vec<Way>,
    state: String,
}

/// What the rounds of a loop have come to.
#[derive(Serialize)]
struct Review {
    round: u64,
    /// The field that counts the rounds; none where findings files count on their own, and no round names them.
    #[serde(skip)]
    field: Option<&'static str>,
    persona: String,
    reviewer: Option<String>,
    running: bool,
    rounds: Vec<RoundLine>,
}

/// The last change, and why.
#[derive(Serialize)]
struct Change {
    what: String,
    by: String,
    #[serde(skip)]
    maker: String,
    at: Timestamp,
    from: Option<String>,
    to: Option<String>,
    run: Option<String>,
    revision: u64,
    why: String,
}

impl Change {
    fn new(raw: &Raw, past: &Past, change: &ChangeEntry) -> Self {
        Self {
            what: text::one_line(&change.what, 80),
            by: text::one_line(&change.by, 80),
            maker: change_text::maker(raw.table(), change),
            at: change.at,
            from: change.from.clone(),
            to: change.to.clone(),
            run: change.run.clone(),
            revision: change.revision,
            why: past.why(raw.table(), change),
        }
    }

    /// `revise by the hook at …, 2m 3s ago, for run r1-…: high=1 medium=1 low=1`
    fn line(&self, now: Timestamp) -> String {
        let way = match (&self.from, &self.to) {
            (Some(from), Some(to)) if from != to => format!(" ({from} -> {to})"),
            _ => String::new(),
        };
        let why = match self.why.as_str() {
            "" => String::new(),
            why if why.starts_with("for run ") => format!(", {why}"),
            why => format!(": {why}"),
        };
        format!(
            "{}{way} by {} at {}, {}{why}",
            self.what,
            self.maker,
            self.at,
            durations::ago(self.at, now)
        )
    }
}

/// Returns what the last stop did and why, or `None` if it made the last change or there was none.
/// The folder's log has the stops that changed nothing.
fn last_stop(raw: &Raw, past: &Past, now: Timestamp) -> Option<String> {
    let by_hook = |change: &&ChangeEntry| {
        change.by == Actor::Hook.to_string()
            && change.what != "bind"
            && !change_text::is_driven(raw.table(), change)
    };
    let stop = past.entries.iter().filter_map(Entry::change).rfind(by_hook);
    let is_change =
        |text: &str| stop.is_some_and(|stop| text.starts_with(&format!("{}: ", stop.what)));

    let log = raw.store().last_logged();
    let id = format!(" {} ", raw.id());
    let mut lines = log.lines().rev().filter_map(|line| line.split_once(&id));
    let newest = lines.find(|(_, text)| text.starts_with(LET_END) || is_change(text));
    let idle = newest.and_then(|(at, text)| {
        let at: Timestamp = at.parse().ok()?;
        Some((at, text.strip_prefix(LET_END)?))
    });
    if let Some((at, why)) = idle {
        let why = text::one_line(why, LINE);
        return Some(format!(
            "let the turn end at {at}, {}: {why}",
            durations::ago(at, now)
        ));
    }

    let stop = stop?;
    let is_last = past
        .last_decision()
        .is_some_and(|last| last.revision == stop.revision);
    (!is_last).then(|| Change::new(raw, past, stop).line(now))
}

/// Returns where a loop is.
pub(super) fn shown<M: App>(
    program: &Program<M>,
    held: &M::Any,
    settings: &Settings,
    active: &[(Store, Listed)],
    now: Timestamp,
) -> Shown {
    let (info, raw) = (program.info, held.raw());
    let (table, held_fields) = (raw.table(), &raw.table().state.fields);
    let phase = messages::phase(raw);
    let shown = |field: &str| text::one_line(&raw.text(field), LONGEST);
    let past = Past::of(raw.store(), raw.id(), raw.journal().unwrap_or_default());
    let own = table
        .fields
        .iter()
        .filter(|field| field.kind != FieldKind::Held && field.exists_in(raw.phase()));
    let fields = own.map(|field| {
        let value = short(raw.value(field.name), LONGEST);
        (field.name.to_owned(), value)
    });
    let mut notes = program.extension.caveats(held, settings);
    notes.extend(rounds::caveats(raw, &past.entries));
    let last = past.runs.last();
    if let Some(cause) = last
        .and_then(|run| run.ended.as_ref())
        .and_then(RunOutcome::cause)
    {
        notes.push(format!("the last review gave no verdict: {cause}"));
    }
    let NextAction {
        waits_for,
        mut next,
    } = next_action::of(program, held);
    let id = raw.id();
    if !phase.terminal && is_of_another_session(raw) {
        next = format!(
            "another session has this loop; to take it over into this one:{}",
            info.command(&format!("adopt {id}"))
        );
    }
    Shown {
        id: raw.id().to_string(),
        machine: table.name,
        mode: held_fields.mode.map(shown),
        phase: phase.name,
        doc: phase.doc,
        terminal: phase.terminal,
        session: shown(held_fields.session),
        driven: session_loops::driven(info, &raw.text(held_fields.session), active)
            .filter(|_| !phase.terminal)
            .map(LoopId::to_string),
        started: held_fields.started.map(shown),
        elapsed_seconds: rounds::seconds(raw, now),
        last_change: past
            .last_decision()
            .map(|change| Change::new(raw, &past, change)),
        last_stop: last_stop(raw, &past, now),
        fields: fields.collect(),
        shows: program
            .extension
            .status(held)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), text::one_line(&value, LONGEST).into()))
            .collect(),
        review: review(raw, &past, settings),
        notes,
        waits_for,
        next,
        ways_on: messages::ways(raw),
        state: raw.store().path_of(raw.id()).to_string(),
    }
}

/// Returns whether a session has the loop, and this call comes from another one.
fn is_of_another_session(raw: &Raw) -> bool {
    let owner = raw.text(raw.table().state.fields.session);
    let is_owned = ![UNKNOWN, ""].contains(&owner.as_str());
    let caller = Caller::from_env().session;
    is_owned
        && !messages::is_for_any_session(raw.table(), raw.phase())
        && caller.is_some_and(|session| session != owner)
}

fn review(raw: &Raw, past: &Past, settings: &Settings) -> Option<Review> {
    let spec = rounds::spec(raw)?;
    let personas = settings.personas.of_phase(spec);
    let round = raw.count(spec.round);
    let chosen = || {
        let preferred = Preferred::of(raw, spec);
        let root = raw.store().root();
        let chosen = reviewers::choose(None, preferred.as_ref(), settings, root).ok()?;
        Some(chosen.shown)
    };
    let last = past
        .runs
        .last()
        .map(|run| text::one_line(&run.began.reviewer, 80));
    // A loop that has not come to its reviews yet has no rounds to show.
    let begun = messages::phase(raw).review.is_some() || last.is_some();
    Some(Review {
        round,
        field: (!spec.is_numbered()).then_some(spec.round),
        persona: personas.of_round(round).label.clone(),
        reviewer: match messages::phase(raw).terminal {
            true => last,
            false => last.or_else(chosen),
        },
        running: raw.store().is_running(raw.id()),
        rounds: match begun {
            true => rounds::rounds(raw, &personas),
            false => Vec::new(),
        },
    })
}

fn print(info: &ProgramInfo, shown: &Shown, now: Timestamp) {
    let fields = said(info, shown);
    let say = |label: &str, text: &str| super::fact(label, text);
    say("loop", &shown.id);
    if let Some(mode) = &shown.mode {
        say("mode", mode);
    }
    say(
        "phase",
        &match shown.doc {
            "" => shown.phase.to_owned(),
            doc => format!("{} ({})", shown.phase, doc.trim_end_matches('.')),
        },
    );
    if let Some(review) = shown
        .review
        .as_ref()
        .filter(|review| review.field.is_some())
    {
        let most = shown
            .fields
            .get(MAX_ROUNDS)
            .map(|most| format!(" of {most}"));
        say(
            "round",
            &format!(
                "{}{} ({})",
                review.round,
                most.unwrap_or_default(),
                review.persona
            ),
        );
    }
    for (name, value) in &fields {
        say(name, value);
    }
    say("elapsed", &durations::elapsed(shown.elapsed_seconds));
    if let Some(last) = &shown.last_change {
        say("last", &last.line(now));
    }
    if let Some(stop) = &shown.last_stop {
        say("last stop", stop);
    }
    if let Some(review) = &shown.review {
        say_review(info, review, &say);
    }
    say(
        "session",
        &match &shown.driven {
            None => shown.session.clone(),
            Some(id) if *id == shown.id => format!("{} (its stops drive this loop)", shown.session),
            Some(id) => format!("{} (its stops drive loop {id})", shown.session),
        },
    );
    shown.notes.iter().for_each(|note| say("note", note));
    say("waits for", &shown.waits_for);
    say("next", &shown.next);
    let ways = shown.ways_on.iter().map(|way| match way.agent {
        true => way.verb.clone(),
        false => format!("{} (a person’s)", way.verb),
    });
    let ways: Vec<String> = ways.collect();
    if !ways.is_empty() {
        say("ways on", &ways.join(", "));
    }
}

/// Returns the fields that a terminal is shown, with their values.
fn said(info: &ProgramInfo, shown: &Shown) -> Vec<(String, String)> {
    let round = shown.review.as_ref().and_then(|review| review.field);
    // A field that is called like one of our lines would pass for it; of what the program shows it knows more.
    let hidden = |name: &str| {
        OURS.contains(&name)
            || shown.shows.contains_key(name)
            || round.is_some_and(|round| [round, MAX_ROUNDS].contains(&name))
    };
    let text = |name: &str, value: &Json| match value {
        // Data is for programs; what a person is to see of it, the program shows.
        _ if hidden(name) || is_data(info, name) || is_initial(info, name, value) => String::new(),
        Json::String(value) => text::one_line(value, LINE),
        Json::Null | Json::Bool(false) => String::new(),
        // One text of a list may hold a comma: so they are quoted, as they are on disk.
        Json::Array(texts) if texts.is_empty() => String::new(),
        other => other.to_string(),
    };
    let all = shown
        .fields
        .iter()
        .map(|(name, value)| (name.clone(), text(name, value)));
    let besides = shown.shows.iter();
    let besides =
        besides.map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    all.filter(|(_, value)| !value.is_empty())
        .chain(besides)
        .collect()
}

fn is_data(info: &ProgramInfo, name: &str) -> bool {
    let field = info.table.field(name);
    field.is_some_and(|field| matches!(field.kind, FieldKind::Data(_)))
}

/// Returns whether a field holds what it does in every loop that has just begun: a terminal is not shown that.
fn is_initial(info: &ProgramInfo, name: &str, value: &Json) -> bool {
    match info.table.field(name).map(|field| field.initial) {
        Some(Constant::Count(count)) => value.as_u64() == Some(count),
        Some(Constant::Text(word)) => {
            info.table
                .field(name)
                .is_some_and(|field| matches!(field.kind, FieldKind::OneOf(_)))
                && value.as_str() == Some(word)
        }
        _ => false,
    }
}

fn say_review(info: &ProgramInfo, review: &Review, say: &impl Fn(&str, &str)) {
    if let Some(reviewer) = &review.reviewer {
        let running = if review.running { " (running)" } else { "" };
        say("reviewer", &format!("{reviewer}{running}"));
    }
    if review.rounds.is_empty() {
        return;
    }
    let heading = match review.field {
        Some(_) => "findings by round:",
        None => "findings:",
    };
    out::toned(heading, heading, Tone::Heading);
    let hidden = match std::io::stdout().is_terminal() {
        true => review.rounds.len().saturating_sub(ROUNDS),
        false => 0,
    };
    if hidden > 0 {
        out::line(&format!(
            "  (the first {hidden} rounds: {} status --json)",
            info.program
        ));
    }
    for line in &review.rounds[hidden..] {
        out::line(&format!("  {line}"));
    }
}

/// Returns the loops to show: the one that is named, else the active ones, else the newest.
fn picked(
    info: &ProgramInfo,
    id: Option<&str>,
    problems: &mut Vec<String>,
) -> Result<Vec<(Store, LoopId)>, Failure> {
    if let Some(id) = id {
        let (store, id) = loops::find(info, Some(id))?;
        if store.has_archived(&id) {
            problems.push(format!(
                "loop {id} is in the archive, {}/archive; this brings it back:{}",
                text::shown(store.folder()),
                info.command(&format!("resume {id}"))
            ));
            return Ok(Vec::new());
        }
        return Ok(vec![(store, id)]);
    }
    let here = loops::here()?;
    let mut picked = locate::active_loops(info.state, &here);
    if picked.is_empty() {
        picked.extend(locate::last_over(info.state, &here));
    }
    Ok(picked
        .into_iter()
        .map(|(store, listed)| (store, listed.id))
        .collect())
}

/// Prints where the loop is.
pub(in crate::program) fn status<M: App>(
    program: &Program<M>,
    look: &Look,
) -> Result<Exit, Failure> {
    let info = program.info;
    let now = Timestamp::now();
    let id = loops::id_to_show(info, &look.target, &["status"])?;
    let mut all = Vec::new();
    let mut problems = Vec::new();
    let active = match session_loops::has_many(info) {
        true => locate::active_loops(info.state, &loops::here()?),
        false => Vec::new(),
    };
    for (store, id) in picked(info, id.as_deref(), &mut problems)? {
        match M::open(&store.clone().to_look(), &id, Actor::Person) {
            Ok(held) => {
                problems.extend(held.raw().repairs().iter().map(ToString::to_string));
                let settings = Settings::load(info, store.root()).unwrap_or_else(|error| {
                    problems.push(error.to_string());
                    Settings::usual(info)
                });
                problems.extend(settings.ignored.iter().cloned());
                program.prepare(&held, &settings, Actor::Person);
                all.push(shown(program, &held, &settings, &active, now));
            }
            Err(error) => problems.push(incompatible::line(info, &store.path_of(&id), &error)),
        }
    }
    if look.format.json {
        out::json(&serde_json::json!({ "loops": all, "problems": problems }));
        return Ok(Exit::Complete);
    }
    if all.is_empty() && id.is_none() && problems.is_empty() {
        out::line(&nothing(info)?);
    }
    for (index, shown) in all.iter().enumerate() {
        if index > 0 {
            out::line("");
        }
        print(info, shown, now);
    }
    for problem in &problems {
        let line = format!("problem:   {}", text::lines(problem, 1000));
        out::toned(&line, "problem:", Tone::Bad);
    }
    Ok(Exit::Complete)
}

/// Says that there is no loop, how one is started, and where archived ones are listed.
fn nothing(info: &ProgramInfo) -> Result<String, Failure> {
    let mode = info.table.modes.first().map_or("start", |mode| mode.name);
    let mut nothing = format!(
        "There are no loops in this project. Start one with:{}",
        info.start(mode)
    );
    let stores = locate::stores(info.state, &[&loops::here()?]);
    let archived = |store: &Store| {
        store
            .archived()
            .iter()
            .any(|one| store.is_for(one.root.as_deref()))
    };
    if stores.iter().any(archived) {
        nothing.push_str(&format!("\nArchived loops:\n    {} list", info.program));
    }
    Ok(nothing)
}
