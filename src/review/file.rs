//! A review of one file outside of any loop: its findings lie on disk, and count as evidence for nothing.

use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;

use camino::{Utf8Path, Utf8PathBuf};

use super::findings::Findings;
use super::opened::Opened;
use super::personas::Persona;
use super::portion::Portions;
use super::reviewer::{Event, Outcome, Request, Reviewer};
use super::round::{Listener, RoundError, RoundEvent};
use super::scratch::Place;
use super::subject::Part;
use super::{Kind, findings_file, numbered, prompt, reports, round};
use crate::files::{MAX_BYTES, UntrustedError, folder_of, make_all};
use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::store::Store;
use crate::text;

/// What came of it.
#[derive(Debug)]
pub struct FileReport {
    /// What the reviewer said.
    pub outcome: Outcome,
    /// The findings file, where there is a verdict.
    pub path: Option<Utf8PathBuf>,
}

/// Reviews a file of the project of a store, for a persona. The findings go to `reviews/NAME-review-N.md`, N the next free number.
///
/// # Errors
/// The file is not there, not of the project, or no text; or the findings cannot be written. That the reviewer failed is no error.
pub fn review(
    store: &Store,
    path: &Utf8Path,
    persona: &Persona,
    limits: Limits,
    reviewer: &dyn Reviewer,
    listener: &mut Listener<'_>,
) -> Result<FileReport, RoundError> {
    let root = store.root();
    let part = read(root, path)?;
    let plain = text::plain(&part.text);
    let portions = Portions::new(&plain, reviewer, |text, portion| {
        prompt::of_file(persona, &part.name, text, portion)
    });
    let portions = portions.map_err(RoundError::Prompt)?;
    let unwritten = |what: &str| {
        let what = what.to_owned();
        move |source| RoundError::Io { what, source }
    };
    let run = round::new_run(1).map_err(unwritten("could not name the run"))?;
    let request = Request {
        prompt: "",
        subject: &part.text,
        parts: std::slice::from_ref(&part),
        subject_name: &part.name,
        opened: &Opened::default(),
        repaired: &Cell::new(false),
        round: 1,
        focus: persona.focus,
        run: &run,
        root,
        scratch: &Place::in_store(store),
        limits,
        environment: &Environment::default(),
        output: None,
    };
    let name = reviewer.name();
    let mut stopped = listener(RoundEvent::Began { reviewer: name }).is_break();
    let outcome = portions.review(&request, &mut |request| {
        reviewer.review(request, &mut |event| {
            stopped |= match event {
                Event::Line { text, .. } => listener(RoundEvent::Reviewer(text)).is_break(),
                Event::Tick => listener(RoundEvent::Tick).is_break(),
            };
            match stopped {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })
    });
    let findings = match &outcome {
        Outcome::Clean => Findings::default(),
        Outcome::Findings(findings) => findings.clone(),
        Outcome::CouldNotRun(_) if stopped => return Err(RoundError::Interrupted),
        Outcome::CouldNotRun(_) | Outcome::Unreadable(_) => {
            return Ok(FileReport {
                outcome,
                path: None,
            });
        }
    };
    let stem = path.file_stem().unwrap_or("file");
    let written = make_all(root, &root.join(reports::FOLDER)).and_then(|(folder, _)| {
        let text = findings_file::render_numbered(&findings, None);
        numbered::write_in(&folder, &format!("{stem}-review-"), ".md", &text)
    });
    let (_, path) = written.map_err(unwritten("could not write the findings"))?;
    Ok(FileReport {
        outcome,
        path: Some(path),
    })
}

/// Reads a file, unless it lies outside of the project: with a model as reviewer its text would leave this machine.
fn read(root: &Utf8Path, path: &Utf8Path) -> Result<Part, RoundError> {
    if !path.starts_with(root) {
        return Err(RoundError::Outside {
            path: path.to_owned(),
            root: root.to_owned(),
        });
    }
    let read = folder_of(&[root], path).and_then(|(folder, name)| folder.read(&name, MAX_BYTES));
    let bytes = read.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound if UntrustedError::of(&source).is_none() => RoundError::NoSubject {
            path: path.to_owned(),
        },
        _ => round::unread(source, &text::shown(path)),
    })?;
    round::part_of(root, path.to_owned(), bytes, Kind::Document)
}
