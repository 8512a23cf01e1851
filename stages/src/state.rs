//! The data fields of the state document, and the view of a pipeline that is read from them.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::Timestamp;
use claudex_loop::machine::Raw;
use claudex_loop::program::loops;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::contract::{Dispatch, Keys, Reading, Rule, Stage, Summary, read, sha256};
use crate::digest::Summaries;

/// Values in order.
pub(crate) type List = Vec<Json>;
/// The summaries that counted, oldest first.
pub(crate) type CountedSummaries = Vec<CountedSummary>;

/// A summary with the bytes of its file.
pub(crate) type Taken = (Summary, Vec<u8>);

/// The folder of the summaries, from the project's root.
pub(crate) const SUMMARIES: &str = "requirements/.stage-summaries";

/// The open dispatch: the facts recorded at its start, and its result so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Open {
    /// The time of the dispatch.
    pub since: String,
    /// The digests of the summaries and key artifacts that already existed.
    pub before: BTreeMap<String, String>,
    /// The user's `question` and `answer`, for the stage that asked.
    pub answer: Option<Json>,
    /// Whether the stage comes back after an exit_cli pause.
    pub re_entry: bool,
    /// Whether the user skipped the validation.
    pub skip_validation: bool,
    /// Whether this dispatch runs in standard mode, regardless of the mode of the round.
    pub standard: bool,
    /// The summary that counted for this dispatch.
    pub summary: Option<String>,
    /// The reason for a missing summary, such as "ended without a summary"; otherwise empty.
    pub problem: String,
    /// The sentences for the user.
    pub tell: Vec<String>,
    /// The findings in the summary, for `status`.
    pub details: Vec<String>,
}

/// A summary that counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountedSummary {
    /// The round.
    pub round: u32,
    /// The stage's number.
    pub stage: u8,
    /// The digest of its bytes, which names the kept file.
    pub digest: String,
}

/// A pipeline: its loop and the files of the project.
#[derive(Clone, Copy)]
pub(crate) struct Pipeline<'l>(pub(crate) &'l Raw);

impl Pipeline<'_> {
    pub(crate) fn stage(self) -> Stage {
        Stage::from_number(self.0.count("stage")).unwrap_or(Stage::Setup)
    }

    pub(crate) fn round(self) -> u32 {
        let number = u32::try_from(self.0.count("round")).unwrap_or(u32::MAX);
        number.max(1)
    }

    pub(crate) fn open(self) -> Open {
        self.0.data("open")
    }

    pub(crate) fn counted_summaries(self) -> CountedSummaries {
        self.0.data("counted")
    }

    /// Returns the decisions of the user by their keys, oldest first.
    pub(crate) fn decisions(self) -> Keys {
        self.0.data("user_decisions")
    }

    pub(crate) fn dispatch_id(self) -> String {
        format!("{}-{}", self.0.id(), self.0.count("dispatch"))
    }

    /// Returns the key artifacts of the open stage: those new since the dispatch, and the others.
    pub(crate) fn artifacts(self) -> (Vec<String>, Vec<String>) {
        let before = self.open().before;
        let is_new = |path: &String| {
            let bytes = self.0.read(path);
            bytes.is_ok_and(|bytes| before.get(path) != Some(&sha256(&bytes)))
        };
        let all = self.stage().artifacts(self.round());
        all.into_iter().partition(is_new)
    }

    /// Returns whether new artifacts show that the open stage was done. Stage 1 has none.
    pub(crate) fn has_artifacts(self) -> bool {
        let (new, missing) = self.artifacts();
        match self.stage() {
            Stage::Setup => true,
            Stage::Research => !new.is_empty(),
            _ => !new.is_empty() && missing.is_empty(),
        }
    }

    /// Returns the project's root if this process runs in another folder.
    pub(crate) fn root_elsewhere(self) -> Option<Utf8PathBuf> {
        let root = self.0.root();
        let is_here = loops::current_folder().is_ok_and(|here| here == root);
        (!is_here).then_some(root)
    }

    /// Returns the file of the open stage's summary, as a command in this folder takes it.
    pub(crate) fn summary_path(self) -> String {
        let file = summary_file(self.stage());
        match self.root_elsewhere() {
            Some(root) => root.join(file).into_string(),
            None => file,
        }
    }

    /// Returns the bytes of the open stage's summary, and their fit to the open dispatch.
    pub(crate) fn read_summary(self) -> Option<(Vec<u8>, Reading)> {
        let bytes = self.0.read(&summary_file(self.stage())).ok()?;
        let reading = read(&bytes, Some(&self.0.root()), Some(&self.dispatch()));
        Some((bytes, reading))
    }

    /// Returns the facts with which a summary of the open dispatch is compared.
    pub(crate) fn dispatch(self) -> Dispatch {
        let open = self.open();
        let before = open.before.get(&summary_file(self.stage())).cloned();
        let stale = before.map(|digest| (digest, Rule::Stale));
        let counted = self.counted_summaries().into_iter();
        let known = counted.map(|one| (one.digest, Rule::TakenAlready));
        Dispatch {
            stage: self.stage(),
            round: self.round(),
            id: self.dispatch_id(),
            known: stale.into_iter().chain(known).collect(),
            skip_validation: open.skip_validation,
        }
    }

    pub(crate) fn kept_file(self, digest: &str) -> Utf8PathBuf {
        let folder = self.0.store().loop_folder(self.0.id());
        folder.join(format!("kept/{digest}.md"))
    }

    /// Returns a kept summary by its digest: our copy, or in a clone the project's file.
    pub(crate) fn kept_summary(self, digest: &str) -> Option<Taken> {
        let in_project = Stage::all().map(|stage| self.0.root().join(summary_file(stage)));
        let mut files = std::iter::once(self.kept_file(digest)).chain(in_project);
        let bytes = files.find_map(|file| {
            let bytes = self.0.store().read(&file).ok()?;
            (sha256(&bytes) == digest).then_some(bytes)
        })?;
        Some((read(&bytes, None, None).summary?, bytes))
    }

    /// Returns the summary that counted for the open dispatch.
    pub(crate) fn open_summary(self) -> Option<Taken> {
        self.kept_summary(self.open().summary.as_ref()?)
    }

    /// Returns the newest summary of each round and stage.
    pub(crate) fn kept_summaries(self) -> Summaries {
        let kept = self.counted_summaries().into_iter().filter_map(|one| {
            let (summary, _) = self.kept_summary(&one.digest)?;
            Some(((one.round, summary.stage), summary))
        });
        kept.collect()
    }
}

pub(crate) fn summary_file(stage: Stage) -> String {
    format!("{SUMMARIES}/stage-{}-summary.md", stage.number())
}

/// Returns the current time as the document writes it.
pub(crate) fn now() -> String {
    format!("{:.0}", Timestamp::now())
}

/// Returns the keys of JSON objects as those of one.
pub(crate) fn merge(objects: impl IntoIterator<Item = Json>) -> Keys {
    let keys = |one: Json| one.as_object().cloned().unwrap_or_default();
    objects.into_iter().flat_map(keys).collect()
}

/// Returns a dispatch that begins now, with the digests of all summaries and of the key artifacts
/// of this round and the next. By them a new file is recognized later.
pub(crate) fn new_dispatch(root: &Utf8Path, round: u32) -> Open {
    let rounds = [round, round.saturating_add(1)];
    let artifacts = Stage::all().flat_map(|stage| rounds.map(|round| stage.artifacts(round)));
    let with_digest = |path: String| {
        let bytes = claudex_loop::files::read(&root.join(&path)).ok()?;
        Some((path, sha256(&bytes)))
    };
    let paths = artifacts.flatten().chain(Stage::all().map(summary_file));
    Open {
        since: now(),
        before: paths.filter_map(with_digest).collect(),
        ..Open::default()
    }
}
