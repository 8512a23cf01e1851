//! The data fields of the state document, and the view of a pipeline that is read from them.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use claudex_loop::Timestamp;
use claudex_loop::machine::Raw;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::contract::{
    Context, Decision, Digest, Dispatch, Outcome, Reading, Stage, Summary, read,
};
use crate::kept::Kept;

/// One value of schema 2.
pub type Scalar = Json;
/// Keys with their values.
pub type Keys = serde_json::Map<String, Json>;
/// Values in order.
pub type List = Vec<Json>;
/// The summaries that counted, oldest first.
pub type CountedSummaries = Vec<CountedSummary>;
/// The questions of coordinators that were answered, oldest first.
pub type AnsweredQuestions = Vec<AnsweredQuestion>;

/// The folder of the summaries, from the project's root.
pub const SUMMARIES: &str = "requirements/.stage-summaries";
/// The folder of the kept summaries, in the folder of the loop.
const KEPT_FOLDER: &str = "kept";

/// The open dispatch: the facts recorded at its begin, and its result so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Open {
    /// The time of the dispatch; empty for the first one.
    pub since: String,
    /// The summaries and key artifacts that were there before.
    pub before: Vec<KnownFile>,
    /// The user's answer, for the stage that asked.
    pub answer: Option<UserAnswer>,
    /// Whether the stage comes back after an exit_cli pause.
    pub re_entry: bool,
    /// Whether the user skipped the validation.
    pub skip_validation: bool,
    /// Whether this dispatch runs in standard mode, whatever the mode of the round.
    pub standard: bool,
    /// The summary that counted for this dispatch.
    pub summary: Option<Digest>,
    /// The reason why there is no summary, such as "ended without a summary"; empty if there is one.
    pub problem: String,
    /// The sentences for the user.
    pub tell: Vec<String>,
    /// The findings in the summary, for `status`.
    pub details: Vec<String>,
}

/// A file and the digest of its bytes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KnownFile {
    /// Its path from the project's root.
    pub file: String,
    /// The digest.
    pub digest: Digest,
}

/// An answer of the user.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UserAnswer {
    /// The question.
    pub question: String,
    /// The chosen label, or the text that the user typed.
    pub answer: String,
}

/// A summary that counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CountedSummary {
    /// The round.
    pub round: u32,
    /// The stage's number.
    pub stage: u8,
    /// The digest of its bytes, which names the kept file.
    pub digest: Digest,
}

/// A question of a coordinator that was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnsweredQuestion {
    /// The round.
    pub round: u32,
    /// The stage's number.
    pub stage: u8,
    /// The digest of its text and labels.
    pub digest: Digest,
    /// The answer.
    pub answer: String,
    /// How often the recorded answer was used again.
    pub repeated: u32,
}

/// A view of a pipeline: its loop and the files of the project.
#[derive(Debug, Clone, Copy)]
pub struct Pipeline<'l>(pub &'l Raw);

impl Pipeline<'_> {
    /// Returns the stage under way.
    pub fn stage(self) -> Stage {
        Stage::from_number(self.0.count("stage")).unwrap_or(Stage::Setup)
    }

    /// Returns the round under way.
    pub fn round(self) -> u32 {
        let number = u32::try_from(self.0.count("round")).unwrap_or(u32::MAX);
        number.max(1)
    }

    /// Returns the open dispatch.
    pub fn open(self) -> Open {
        self.0.data("open")
    }

    /// Returns the summaries that counted.
    pub fn counted(self) -> CountedSummaries {
        self.0.data("counted")
    }

    /// Returns the id of the open dispatch.
    pub fn dispatch_id(self) -> String {
        format!("{}-{}", self.0.id(), self.0.count("dispatch"))
    }

    /// Returns when the open stage was dispatched.
    pub fn open_since(self) -> String {
        match self.open().since {
            since if since.is_empty() => self.0.text("started"),
            since => since,
        }
    }

    /// Returns the path of a summary, from the project's root.
    pub fn summary_file(stage: Stage) -> String {
        format!("{SUMMARIES}/stage-{}-summary.md", stage.number())
    }

    /// Returns the bytes of a file of the project, or `None` if it is missing or may not be read.
    pub fn file(self, path: &str) -> Option<Vec<u8>> {
        self.0.read(path).ok()
    }

    /// Returns whether a file is new or changed since the dispatch.
    pub fn is_new(self, path: &str) -> bool {
        let open = self.open();
        let before = open.before.iter().find(|noted| noted.file == path);
        self.file(path).is_some_and(|bytes| {
            before.is_none_or(|noted| noted.digest != Digest::from_bytes(&bytes))
        })
    }

    /// Returns the key artifacts of the open stage: those that are new, and the others.
    pub fn artifacts(self) -> (Vec<String>, Vec<String>) {
        let all = key_artifacts(self.stage(), self.round());
        all.into_iter().partition(|path| self.is_new(path))
    }

    /// Returns whether the new artifacts show that the open stage was done. Stage 1 has none to show.
    pub fn has_artifacts(self) -> bool {
        let (new, missing) = self.artifacts();
        match self.stage() {
            Stage::Setup => true,
            Stage::Research => !new.is_empty(),
            _ => !new.is_empty() && missing.is_empty(),
        }
    }

    /// Returns whether the summary of the open dispatch is there and can be reported.
    pub fn is_reported_next(self) -> bool {
        let bytes = self.file(&Self::summary_file(self.stage()));
        bytes.is_some_and(|bytes| matches!(self.reading(&bytes).outcome, Outcome::Taken(_)))
    }

    /// Reads a summary and compares it with the open dispatch.
    pub fn reading(self, bytes: &[u8]) -> Reading {
        let root = self.0.root();
        let context = Context {
            project: Some(&root),
            dispatch: Some(&self.dispatch()),
        };
        read(bytes, &context)
    }

    /// Returns the newest score of a NOT_READY validation.
    pub fn last_score(self) -> Option<f64> {
        let counted = self.counted();
        let validations = counted.iter().rev().filter(|one| one.stage == 5);
        let mut flags = validations.filter_map(|one| Some(self.kept_summary(&one.digest)?.flags));
        flags.find_map(|flags| {
            let is_not_ready = flags.validation_decision == Some(Decision::NotReady);
            flags.validation_score.filter(|_| is_not_ready)
        })
    }

    /// Returns a new dispatch, to be opened by the next transition.
    pub fn opened(self) -> Open {
        Open {
            since: format!("{:.0}", Timestamp::now()),
            before: known_files(self.round(), |path| self.file(path)),
            ..Open::default()
        }
    }

    /// Returns the facts with which a summary of the open dispatch is compared.
    pub fn dispatch(self) -> Dispatch {
        let (stage, open) = (self.stage(), self.open());
        let file = Self::summary_file(stage);
        Dispatch {
            stage,
            round: self.round(),
            id: self.dispatch_id(),
            before: open
                .before
                .into_iter()
                .find(|noted| noted.file == file)
                .map(|noted| noted.digest),
            counted: self.counted().into_iter().map(|one| one.digest).collect(),
            skip_validation: open.skip_validation,
        }
    }

    /// Keeps the bytes of a summary in the loop's folder.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be written.
    pub fn keep(self, bytes: &[u8]) -> std::io::Result<Digest> {
        let digest = Digest::from_bytes(bytes);
        let (store, id) = (self.0.store(), self.0.id());
        let folder = store.open_folder()?.make(format!("{id}/{KEPT_FOLDER}"))?;
        folder.replace(&format!("{}.md", digest.as_str()), bytes)?;
        Ok(digest)
    }

    /// Returns the path of a summary that is kept.
    pub fn kept_file(self, digest: &Digest) -> Utf8PathBuf {
        self.0
            .store()
            .loop_folder(self.0.id())
            .join(KEPT_FOLDER)
            .join(format!("{}.md", digest.as_str()))
    }

    /// Returns a kept summary, or `None` if its file is gone or has other bytes.
    pub fn kept_summary(self, digest: &Digest) -> Option<Summary> {
        let bytes = self.0.store().read(&self.kept_file(digest)).ok()?;
        if Digest::from_bytes(&bytes) != *digest {
            return None;
        }
        match read(&bytes, &Context::default()).outcome {
            Outcome::Taken(summary) => Some(*summary),
            Outcome::Crash | Outcome::Refused => None,
        }
    }

    /// Returns the summary that counted for the open dispatch.
    pub fn open_summary(self) -> Option<Summary> {
        self.kept_summary(self.open().summary.as_ref()?)
    }

    /// Returns the newest summary of each round and stage.
    pub fn kept(self) -> Kept {
        let mut kept = BTreeMap::new();
        for one in self.counted() {
            let at = Stage::from_number(one.stage.into()).map(|stage| (one.round, stage));
            if let Some((at, summary)) = at.zip(self.kept_summary(&one.digest)) {
                kept.insert(at, summary);
            }
        }
        kept
    }
}

/// Returns the files of a project that tell whether a stage was done: all summaries, and the key
/// artifacts of this round and the next.
pub fn known_files(round: u32, read: impl Fn(&str) -> Option<Vec<u8>>) -> Vec<KnownFile> {
    let next = round.saturating_add(1);
    let of_stage = |stage| {
        [
            vec![Pipeline::summary_file(stage)],
            key_artifacts(stage, round),
            key_artifacts(stage, next),
        ]
    };
    let mut paths = Stage::all()
        .flat_map(of_stage)
        .flatten()
        .collect::<Vec<_>>();
    paths.sort_unstable();
    paths.dedup();
    let there = paths.into_iter().filter_map(|file| {
        let digest = Digest::from_bytes(&read(&file)?);
        Some(KnownFile { file, digest })
    });
    there.collect()
}

/// Returns the first dispatch in a project.
pub fn first_open(root: &Utf8Path, round: u32, re_entry: bool) -> Open {
    let read = |path: &str| claudex_loop::files::read(&root.join(path)).ok();
    Open {
        before: known_files(round, read),
        re_entry,
        ..Open::default()
    }
}

/// Returns the key artifacts of a stage, which show that it was done. Stage 2 writes one of its two.
pub fn key_artifacts(stage: Stage, round: u32) -> Vec<String> {
    let questions = format!("working/QUESTIONS-{round:03}.md");
    let files: &[&str] = match stage {
        Stage::Setup | Stage::ResponseAnalysis => &[],
        Stage::Research => &[
            "research/RESEARCH-AGENDA.md",
            "research/research-synthesis.md",
        ],
        Stage::AnalysisQuestions => &[questions.as_str()],
        Stage::ValidationGeneration => &["PRD.md", "decision-log.md"],
        Stage::Completion => &["completion-report.md"],
        Stage::Retrospective => &["retrospective.md"],
    };
    files
        .iter()
        .map(|file| format!("requirements/{file}"))
        .collect()
}
