//! Which edges were taken: one line for each committed edge, in a folder that an environment variable names.
//!
//! For test suites. A line is appended by one write, so that processes which share the folder do not mix theirs. Whatever
//! goes wrong is left out in silence: a record of tests must never disturb a loop. The room knows no phase by name.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};

use crate::machine::table::{EdgeInfo, Table};

/// The environment variable that names the folder. A relative one is left alone: each process would have one of its own.
pub const COVERAGE_ENV: &str = "CLAUDEX_COVERAGE";

/// The longest line that is read, in bytes. The names of a machine are far shorter.
const LONGEST: u64 = 4096;

/// How often each edge of a machine was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// For each edge of [`Table::edges`], how often.
    pub hits: Vec<u64>,
    /// Lines of another version of the machine: they say nothing about this one.
    pub others: u64,
    /// Lines that are none.
    pub unreadable: u64,
}

impl Tally {
    /// Nothing was taken yet.
    pub fn new(table: &Table) -> Self {
        Self {
            hits: vec![0; table.edges.len()],
            others: 0,
            unreadable: 0,
        }
    }

    /// Adds what a folder holds about a machine. One without a word about it adds nothing.
    ///
    /// # Errors
    /// The folder is not there, or what it holds cannot be read.
    pub fn add_folder(&mut self, table: &Table, folder: &Path) -> io::Result<()> {
        if !folder.is_dir() {
            let problem = format!(
                "{} is no folder",
                crate::text::shown(folder.to_string_lossy())
            );
            return Err(io::Error::new(io::ErrorKind::NotFound, problem));
        }
        match File::open(file(folder, table)) {
            Ok(file) => self.add_lines(table, file),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn add_lines(&mut self, table: &Table, file: File) -> io::Result<()> {
        let mut reader = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut some = io::Read::take(&mut reader, LONGEST);
            if some.read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            match std::str::from_utf8(&line).ok().and_then(Line::parse) {
                Some(line)
                    if line.machine != table.name || line.graph != table.state.graph_hash =>
                {
                    self.others += 1;
                }
                Some(line) if line.is_of(table) => self.hits[line.edge] += 1,
                _ => self.unreadable += 1,
            }
        }
    }

    /// Returns how many edges were taken at least once.
    pub fn taken(&self) -> usize {
        self.hits.iter().filter(|hits| **hits > 0).count()
    }

    /// Returns the edges that never were.
    pub fn missing<'t>(&self, table: &'t Table) -> Vec<&'t EdgeInfo> {
        let edges = table.edges.iter().zip(&self.hits);
        edges
            .filter(|(_, hits)| **hits == 0)
            .map(|(edge, _)| edge)
            .collect()
    }
}

/// A line: machine, graph hash, index of the edge, transition, from, to.
struct Line<'l> {
    machine: &'l str,
    graph: &'l str,
    edge: usize,
    transition: &'l str,
    from: &'l str,
    to: &'l str,
}

impl<'l> Line<'l> {
    fn parse(text: &'l str) -> Option<Self> {
        let parts: Vec<_> = text.strip_suffix('\n')?.split(' ').collect();
        let [machine, graph, edge, transition, from, to] = parts[..] else {
            return None;
        };
        Some(Self {
            machine,
            graph,
            edge: edge.parse().ok()?,
            transition,
            from,
            to,
        })
    }

    fn is_of(&self, table: &Table) -> bool {
        table.edges.get(self.edge).is_some_and(|edge| {
            let (from, to) = (table.phases[edge.from].name, table.phases[edge.to].name);
            (edge.transition, from, to) == (self.transition, self.from, self.to)
        })
    }
}

/// Returns the index of an edge in its table.
pub(crate) fn index_of(table: &Table, edge: &EdgeInfo) -> Option<usize> {
    table
        .edges
        .iter()
        .position(|known| std::ptr::eq(known, edge))
}

/// Notes that an edge was committed, where the environment asks for it.
pub(super) fn record(table: &Table, edge: &EdgeInfo) {
    let folder = std::env::var_os(COVERAGE_ENV).map(PathBuf::from);
    if let Some(folder) = folder.filter(|folder| folder.is_absolute()) {
        // The loop has moved on; that nobody can count it is no reason to say otherwise.
        let _ = append(&folder, table, edge);
    }
}

fn append(folder: &Path, table: &Table, edge: &EdgeInfo) -> io::Result<()> {
    let Some(index) = index_of(table, edge) else {
        return Ok(());
    };
    let line = format!(
        "{} {} {index} {} {} {}\n",
        table.name,
        table.state.graph_hash,
        edge.transition,
        table.phases[edge.from].name,
        table.phases[edge.to].name,
    );
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    let mut file = match options.open(file(folder, table)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            std::fs::create_dir_all(folder)?;
            options.open(file(folder, table))?
        }
        opened => opened?,
    };
    file.write_all(line.as_bytes())
}

fn file(folder: &Path, table: &Table) -> PathBuf {
    folder.join(format!("{}.edges", table.name))
}

#[cfg(all(test, feature = "plan"))]
mod tests {
    use super::*;
    use crate::plan::typestate::TABLE;

    #[test]
    fn what_is_recorded_is_counted_and_what_is_not_ours_is_kept_apart() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("not/there yet");
        for edge in [0, 3, 3] {
            append(&deep, &TABLE, &TABLE.edges[edge]).unwrap();
        }
        let ours = std::fs::read_to_string(deep.join("plan.edges")).unwrap();
        assert_eq!(
            ours.lines().next().unwrap(),
            format!("plan {} 0 begin drafting reviewing", TABLE.state.graph_hash)
        );
        let hash = TABLE.state.graph_hash;
        let strange = [
            "plan 0000000000000000 0 begin drafting reviewing\n".to_owned(),
            "door 0000000000000000 7 shut open closed\n".to_owned(),
            format!("plan {hash} 0 begin drafting done\n"),
            format!("plan {hash} 99999 begin drafting reviewing\n"),
            format!("plan {hash} -1 begin drafting reviewing\n"),
            format!("plan {hash} 0 begin drafting reviewing and more\n"),
            "\u{0}\u{202e}\n".to_owned(),
            "x".repeat(3 * 4096 + 10) + "\n",
            format!("plan {hash} 0 begin drafting reviewing"),
        ];
        let mut bytes = ours.into_bytes();
        bytes.extend(b"\xff\xfe\n");
        bytes.extend(strange.concat().as_bytes());
        std::fs::write(deep.join("plan.edges"), bytes).unwrap();

        let mut tally = Tally::new(&TABLE);
        tally.add_folder(&TABLE, &deep).unwrap();
        assert_eq!((tally.hits[0], tally.hits[3], tally.taken()), (1, 2, 2));
        assert_eq!(tally.others, 2, "{tally:?}");
        assert_eq!(tally.unreadable, 11, "the long one is four: {tally:?}");
        assert_eq!(tally.missing(&TABLE).len(), TABLE.edges.len() - 2);

        tally.add_folder(&TABLE, folder.path()).unwrap();
        assert_eq!(tally.taken(), 2, "a folder without a word adds nothing");
        assert!(tally.add_folder(&TABLE, &deep.join("none")).is_err());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_for_nobody_but_the_recorder() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a file");
        std::fs::write(&file, "x").unwrap();
        assert!(append(&file, &TABLE, &TABLE.edges[0]).is_err());
        assert_eq!(std::fs::read(&file).unwrap(), b"x");
    }
}
