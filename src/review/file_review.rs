//! A review of one file outside of any loop. Its findings are written to `reviews/`, and are evidence of nothing.

use std::io;
use std::ops::ControlFlow;

use camino::{Utf8Path, Utf8PathBuf};

use super::chunk::Chunks;
use super::findings_file;
use super::personas::Persona;
use super::progress::{Listener, RoundEvent};
use super::prompt;
use super::reviewer::{Event, Outcome, Request, Reviewer, Trace};
use super::round_error::{RoundError, io_error};
use super::subject::{Part, PartKind, unreadable};
use super::worktree::own_files::REPORTS;
use crate::files::{MAX_BYTES, UntrustedError, folder_of, make_all};
use crate::process::environment::Environment;
use crate::process::limits::Limits;
use crate::store::Store;
use crate::text;

/// The report of a file's review.
#[derive(Debug)]
pub struct FileReport {
    /// The outcome.
    pub outcome: Outcome,
    /// The findings file, if there is a verdict.
    pub path: Option<Utf8PathBuf>,
}

/// Reviews a file of a store's project. The findings go to `reviews/NAME-review-N.md`, N being the next free number.
///
/// # Errors
/// Returns an error if the file is missing, outside of the project or not UTF-8, or if the findings cannot be written. A reviewer
/// that fails is a report.
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
    let chunks = Chunks::new(&plain, reviewer, |text, chunk| {
        prompt::of_file(persona, &part.name, text, chunk)
    });
    let chunks = chunks?;
    let request = Request {
        prompt: "",
        parts: std::slice::from_ref(&part),
        subject_name: &part.name,
        trace: &Trace::default(),
        focus: persona.focus,
        root,
        limits,
        environment: &Environment::default(),
        output: None,
    };
    let name = reviewer.name();
    let mut is_stopped = listener(RoundEvent::Began { reviewer: name }).is_break();
    let mut watch = |event: Event<'_>| {
        is_stopped |= match event {
            Event::Line { text, .. } => listener(RoundEvent::Reviewer(text)).is_break(),
            Event::Tick => listener(RoundEvent::Tick).is_break(),
        };
        match is_stopped {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let outcome = chunks.review(&request, &mut |request| {
        reviewer.review(request, &mut watch)
    });
    if outcome.cause().is_some() {
        return match outcome {
            Outcome::CouldNotRun(_) if is_stopped => Err(RoundError::Interrupted),
            outcome => Ok(FileReport {
                outcome,
                path: None,
            }),
        };
    }
    let begin = format!("{}-review-", path.file_stem().unwrap_or("file"));
    let text = findings_file::render_untitled(&outcome.clone().into_findings());
    let file = make_all(root, &root.join(REPORTS))
        .and_then(|folder| findings_file::write_next(&folder, &begin, ".md", &text));
    let file = file.map_err(io_error("could not write the findings"))?;
    Ok(FileReport {
        outcome,
        path: Some(file.path),
    })
}

/// Reads a file, unless it is outside of the project: a reviewer that is a model would send its text away.
fn read(root: &Utf8Path, path: &Utf8Path) -> Result<Part, RoundError> {
    if !path.starts_with(root) {
        return Err(RoundError::Outside {
            path: path.to_owned(),
            root: root.to_owned(),
        });
    }
    let bytes = folder_of(&[root], path).and_then(|(folder, name)| folder.read(&name, MAX_BYTES));
    let bytes = bytes.map_err(|source| match source.kind() {
        io::ErrorKind::NotFound if UntrustedError::of(&source).is_none() => RoundError::NoSubject {
            path: path.to_owned(),
        },
        _ => unreadable(source, &text::shown(path)),
    })?;
    Part::new(root, path.to_owned(), bytes, PartKind::Document)
}
