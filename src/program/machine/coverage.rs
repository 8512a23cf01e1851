//! `machine coverage`: which edges were taken, in this project's loops or in the records of a test suite.

use camino::{Utf8Path, Utf8PathBuf};
use claudex_build::{Format, draw, model::Machine};

use super::{Exit, Failure, Own, Subject};
use crate::machine::coverage::{self, Tally};
use crate::machine::table::{EdgeInfo, Table};
use crate::program::out;
use crate::program::words::edge_of;
use crate::store::{self, ChangeEntry, Entry, LoopId, Record, Store};

/// How the edges are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Shown {
    /// A table, and what is missing
    Text,
    /// A flowchart for Markdown
    Mermaid,
    /// For Graphviz
    Dot,
    /// A picture
    Svg,
}

/// What to count, and how to show it.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Folders that CLAUDEX_COVERAGE named in tests [default: this project's loops]
    #[arg(value_name = "PATH")]
    pub paths: Vec<Utf8PathBuf>,
    /// How to show it; the counts of a drawing go to stderr
    #[arg(long, value_enum, default_value_t = Shown::Text)]
    pub format: Shown,
    /// Exit with 1 if an edge was never taken
    #[arg(long)]
    pub require_all: bool,
}

pub(super) fn run(arguments: &Arguments, own: &Own) -> Result<Exit, Failure> {
    let table = own.table;
    let Subject { machine, .. } = Subject::load(None, own)?;
    let mut tally = Tally::new(table);
    for path in &arguments.paths {
        tally
            .add_folder(table, path.as_std_path())
            .map_err(|error| {
                Failure::plain(
                    Exit::Usage,
                    "claudex::machine::coverage",
                    format!("could not read coverage: {error}"),
                    "give the folder that CLAUDEX_COVERAGE named when the tests ran",
                )
            })?;
    }
    if arguments.paths.is_empty() {
        add_loops(&mut tally, table)?;
    }
    let summary = summary(&tally, table);
    let format = match arguments.format {
        Shown::Text => {
            out::text(&(list(&tally, table) + "\n" + &summary));
            None
        }
        Shown::Mermaid => Some(Format::Mermaid),
        Shown::Dot => Some(Format::Dot),
        Shown::Svg => Some(Format::Svg),
    };
    if let Some(format) = format {
        out::text(&drawn(&machine, format, &tally));
        out::note(summary.trim_end());
    }
    if arguments.require_all && !tally.missing(table).is_empty() {
        return Ok(Exit::Refused);
    }
    Ok(Exit::Complete)
}

fn drawn(machine: &Machine, format: Format, tally: &Tally) -> String {
    let text = draw(machine, format, Some(&tally.hits));
    if text.ends_with('\n') {
        text
    } else {
        text + "\n"
    }
}

/// Counts the edges that the loops of this project took, by their journals.
fn add_loops(tally: &mut Tally, table: &'static Table) -> Result<(), Failure> {
    let here = std::env::current_dir()
        .ok()
        .and_then(|here| Utf8PathBuf::from_path_buf(here).ok());
    let here = here.ok_or_else(|| {
        Failure::plain(
            Exit::Internal,
            "claudex::here",
            "this folder has no path that is UTF-8".to_owned(),
            "go to a folder that has one",
        )
    })?;
    let variable = table
        .state
        .folder_env
        .and_then(|name| std::env::var(name).ok());
    for store in store::folders(
        table.state,
        &[Utf8Path::new(&here)],
        variable.as_deref(),
        &store::StateHome::of_user(table.state.program),
    ) {
        for listed in store.list() {
            // What cannot be read here is what `list` and `doctor` speak of.
            if let Ok(journal) = store.journal(&listed.id) {
                add_journal(tally, table, &store, &listed.id, &journal);
            }
        }
    }
    Ok(())
}

fn add_journal(
    tally: &mut Tally,
    table: &'static Table,
    store: &Store,
    id: &LoopId,
    journal: &[Entry],
) {
    let mut before: Option<&ChangeEntry> = None;
    for entry in journal {
        let Entry::Change(change) = entry else {
            continue;
        };
        let known = table.transitions.contains(&change.what.as_str());
        if known {
            let graph = table
                .state
                .fields
                .graph_hash
                .and_then(|field| change.field(field));
            let graph = graph.map(|hash| hash.to_plain());
            let before = before.map(|before| Record::of_change(store.spec(), id, before));
            let edge = edge_of(table, before.as_ref(), change);
            match edge.and_then(|edge| coverage::index_of(table, edge)) {
                Some(edge)
                    if graph
                        .as_deref()
                        .is_none_or(|graph| graph == table.state.graph_hash) =>
                {
                    tally.hits[edge] += 1;
                }
                _ => tally.others += 1,
            }
        }
        before = Some(change);
    }
}

/// Every edge with how often it was taken.
fn list(tally: &Tally, table: &Table) -> String {
    let rows: Vec<_> = table.edges.iter().map(|edge| named(edge, table)).collect();
    let width = |at: usize| {
        let lengths = rows.iter().map(|row| row[at].chars().count());
        lengths.max().unwrap_or_default()
    };
    let (transition, way) = (width(0), width(1));
    let mut text = String::new();
    for (row, hits) in rows.iter().zip(&tally.hits) {
        let [name, phases, place] = row;
        text.push_str(&format!(
            "{hits:>7}  {name:<transition$}  {phases:<way$}  {place}\n"
        ));
    }
    text
}

/// N of M, and what was not taken.
fn summary(tally: &Tally, table: &Table) -> String {
    let mut text = format!(
        "{} of {} edges of `{}` were taken\n",
        tally.taken(),
        table.edges.len(),
        table.name
    );
    for edge in tally.missing(table) {
        let [name, phases, place] = named(edge, table);
        let when = if edge.when_text.is_empty() {
            String::new()
        } else {
            format!(", when {}", edge.when_text)
        };
        text.push_str(&format!("not taken: {name}, {phases}{when} ({place})\n"));
    }
    if tally.others > 0 {
        text.push_str(&format!(
            "not counted: {} of another version of the machine than {}\n",
            tally.others, table.state.graph_hash
        ));
    }
    if tally.unreadable > 0 {
        text.push_str(&format!(
            "not counted: {} lines that are none\n",
            tally.unreadable
        ));
    }
    text
}

/// The transition, the phases, the place in the machine file.
fn named(edge: &EdgeInfo, table: &Table) -> [String; 3] {
    [
        edge.transition.to_owned(),
        format!(
            "{} -> {}",
            table.phases[edge.from].name, table.phases[edge.to].name
        ),
        format!("{}:{}", table.file, edge.line),
    ]
}
