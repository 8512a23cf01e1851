//! `list`: the loops of the project, one row each. It reads journals and repairs nothing. The names of its JSON are
//! documented in docs/status.md.

use jiff::Timestamp;
use serde::Serialize;

use crate::machine::table::FieldKind;
use crate::machine::{PhaseDeclaration as _, Table};
use crate::program::exit::{Exit, Failure};
use crate::program::info::ProgramInfo;
use crate::program::{Tone, durations, locate, loops, out, rounds};
use crate::review::findings::Counts;
use crate::review::runs::{self, Run};
use crate::store::{Entry, FieldValue, Listed, LoopId, Store};
use crate::text;

/// The longest text of the last column, in characters. JSON has more.
const MAX_ABOUT_CHARS: usize = 60;

/// A loop, as `list --json` prints it.
#[derive(Debug, Serialize)]
struct Row {
    id: String,
    mode: Option<String>,
    phase: String,
    terminal: bool,
    round: Option<u64>,
    max_rounds: Option<u64>,
    findings_round: Option<u64>,
    findings: Option<Counts>,
    elapsed_seconds: Option<u64>,
    age_seconds: u64,
    about: Option<String>,
    session: Option<String>,
    running: bool,
    archived: bool,
    problem: Option<String>,
    state: String,
}

/// Returns the newest round with a verdict, and its findings.
pub(super) fn newest_findings(
    store: &Store,
    id: &LoopId,
    entries: &[Entry],
) -> Option<(u64, Counts)> {
    let runs = runs::read(entries);
    let has_verdict = |run: &&Run| run.digest().is_some();
    let run = runs.iter().rfind(has_verdict)?;
    let counts = rounds::counts_of_run(store, id, run)?;
    Some((run.began.round, counts))
}

impl Row {
    fn new(
        machine: &Table,
        store: &Store,
        listed: &Listed,
        archived: bool,
        now: Timestamp,
    ) -> Self {
        let entries = store.journal(&listed.id).unwrap_or_default();
        let mut changes = entries.iter().filter_map(Entry::change);
        let first = changes.next();
        let last = changes.next_back().or(first);
        let started = || {
            let started = last?.field(machine.state.fields.started?)?;
            started.to_plain().parse().ok()
        };
        let began: Option<Timestamp> = started().or_else(|| Some(first?.at));
        let line = |name: &str| {
            let line = text::one_line(&last?.field(name)?.to_plain(), 200);
            Some(line).filter(|line| !line.is_empty())
        };
        let count = |name: &str| last?.field(name)?.as_count();
        let spec = machine.phases.iter().find_map(|phase| phase.review());
        let round = spec.and_then(|spec| count(spec.round));
        let newest = spec.and_then(|_| newest_findings(store, &listed.id, &entries));
        let until = match last {
            Some(change) if listed.terminal => change.at,
            _ => now,
        };
        let modified = || Timestamp::try_from(listed.modified).unwrap_or(now);
        let plain =
            |text: &Option<String>, most| text.as_deref().map(|text| text::one_line(text, most));
        Self {
            id: listed.id.to_string(),
            mode: machine.state.fields.mode.and_then(line),
            phase: text::one_line(listed.phase.as_deref().unwrap_or("?"), 40),
            terminal: listed.terminal,
            round,
            max_rounds: round.and_then(|_| count("max_rounds")),
            findings_round: newest.map(|(round, _)| round),
            findings: newest.map(|(_, counts)| counts),
            elapsed_seconds: began.map(|began| durations::between(began, until)),
            age_seconds: durations::between(began.unwrap_or_else(modified), now),
            about: about(machine).and_then(line),
            session: plain(&listed.session, 200),
            running: store.is_running(&listed.id),
            archived,
            problem: plain(&listed.problem, 300),
            state: listed.path.to_string(),
        }
    }

    /// Returns the headings and cells of the columns that the machine has. The last one is the problem, else the subject.
    fn cells(&self, machine: &Table) -> Vec<(String, String)> {
        let mut cells = Vec::new();
        let mut add = |heading: &str, cell: String| cells.push((heading.to_owned(), cell));
        add("LOOP", self.id.clone());
        if machine.modes.len() > 1 {
            add("MODE", self.mode.clone().unwrap_or("-".to_owned()));
        }
        let phase = match (self.archived, self.running) {
            (true, _) => "archived".to_owned(),
            (false, true) => format!("{}*", self.phase),
            (false, false) => self.phase.clone(),
        };
        add("PHASE", phase);
        if machine.phases.iter().any(|phase| phase.review().is_some()) {
            let round = match (self.round, self.max_rounds) {
                (Some(round), Some(most)) => format!("{round}/{most}"),
                (Some(round), None) => round.to_string(),
                _ => "-".to_owned(),
            };
            add("ROUND", round);
            let counts = match self.findings {
                Some(found) => format!("{}/{}/{}", found.high, found.medium, found.low),
                None => "-".to_owned(),
            };
            add("H/M/L", counts);
        }
        add("AGE", durations::age(self.age_seconds));
        let subject = about(machine).unwrap_or_default().replace('_', " ");
        let last = match &self.problem {
            Some(problem) => format!("! {problem}"),
            None => text::one_line(self.about.as_deref().unwrap_or_default(), MAX_ABOUT_CHARS),
        };
        add(&subject.to_uppercase(), last);
        cells
    }
}

/// Returns the field with the subject of a loop: the first text that a start takes.
pub(super) fn about(machine: &Table) -> Option<&'static str> {
    let mut fields = machine.fields.iter();
    let found = fields.find(|field| field.at_start && field.kind == FieldKind::Text)?;
    Some(found.name)
}

/// Prints the loops of this project.
pub(in crate::program) fn list(info: &ProgramInfo, json: bool) -> Result<Exit, Failure> {
    print(info, json).map(|_| Exit::Complete)
}

/// Prints the loops of this project, newest first, and the archived ones after them. Returns whether there are loops.
pub(super) fn print(info: &ProgramInfo, json: bool) -> Result<bool, Failure> {
    let here = loops::here()?;
    for line in locate::name_vanished(info, &[&here], None) {
        out::note(&info.line(&line));
    }
    let now = Timestamp::now();
    let mut rows = Vec::new();
    for (is_archived, loops) in [
        (false, locate::loops(info.state, &here)),
        (true, locate::archived(info.state, &here)),
    ] {
        let loops = loops.iter();
        rows.extend(
            loops.map(|(store, listed)| Row::new(info.table, store, listed, is_archived, now)),
        );
    }
    if json {
        out::json(&rows);
        return Ok(!rows.is_empty());
    }
    let Some(first) = rows.first() else {
        out::line("There are no loops in this project.");
        return Ok(false);
    };
    let heading = first.cells(info.table).into_iter();
    let mut table: Vec<Vec<String>> = vec![heading.map(|(heading, _)| heading).collect()];
    for row in &rows {
        let cells = row.cells(info.table).into_iter();
        table.push(cells.map(|(_, cell)| cell).collect());
    }
    for (index, line) in out::table(&table).iter().enumerate() {
        match index {
            0 => out::toned(line, line, Tone::Heading),
            _ => out::toned(line, "  ! ", Tone::Bad),
        }
    }
    if rows.iter().any(|row| row.running) {
        out::line("\n*: a review or a command is running");
    }
    if rows.iter().any(|row| row.archived) {
        let program = info.program;
        out::line(&format!(
            "\nTo restore an archived loop:\n    {program} resume LOOP"
        ));
    }
    Ok(true)
}
