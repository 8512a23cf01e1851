//! The outcome of a job, as `run --json` prints it.

use camino::Utf8PathBuf;
use claudex_loop::Timestamp;
use claudex_loop::program::rounds::{self, RoundLine};
use claudex_loop::program::settings::Settings;
use claudex_loop::review::findings_json;
use serde::Serialize;

use super::typestate::DecisionSignal;
use super::{AnyLoop, Phase, caveats, context, report};

/// The end of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// No material finding is open.
    Complete,
    /// The rounds were used up.
    StoppedAtMaxRounds,
    /// One reviewer reported equal findings for the third time.
    Stalled,
    /// The reviewer gave no verdict.
    ReviewerFailed,
}

/// The outcome of a job.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// The loop's id.
    pub id: String,
    /// The end of the job.
    pub ending: Ending,
    /// The plan, if a plan was reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Utf8PathBuf>,
    /// The report, if changes were reviewed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Utf8PathBuf>,
    /// The proposed patches, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fixes: Option<Utf8PathBuf>,
    /// The rounds with their counts.
    pub rounds: Vec<RoundLine>,
    /// The time since the loop started, in seconds.
    pub seconds: u64,
    /// The state file.
    pub state: Utf8PathBuf,
    /// The findings file of the last round.
    pub findings: Utf8PathBuf,
    /// The caveats of the summary.
    pub caveats: Vec<String>,
    /// The reason why the reviewer failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// The next action of the loop, if it is not over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
    /// The summary in Markdown; empty if the reviewer failed.
    pub summary: String,
}

impl Outcome {
    /// Collects the outcome of a loop as it is now. `waits`: its next action, if it is not over.
    pub fn new(
        held: &AnyLoop,
        settings: &Settings,
        summary: String,
        waits: Option<String>,
    ) -> Self {
        let raw = held.raw();
        let store = raw.store();
        let ending = match (held.phase(), held.fields().decision_signal) {
            (Phase::Drafting | Phase::Reviewing | Phase::Errored | Phase::Cancelled, _) => {
                Ending::ReviewerFailed
            }
            (_, DecisionSignal::NoMaterialFindings) => Ending::Complete,
            (_, DecisionSignal::Stalled) => Ending::Stalled,
            (_, DecisionSignal::MaxReached | DecisionSignal::None) => Ending::StoppedAtMaxRounds,
        };
        let (report, fixes) = report::existing_files(held);
        Self {
            id: held.id().to_string(),
            ending,
            plan: (!super::reviews_changes(held)).then(|| raw.path("{subject}")),
            report: report.map(|path| store.root().join(path)),
            fixes: fixes.map(|path| store.root().join(path)),
            rounds: rounds::rounds(raw, &settings.personas),
            seconds: rounds::seconds(raw, Timestamp::now()),
            state: store.path_of(held.id()),
            findings: findings_json::findings_path(store, raw.id(), held.fields().round),
            caveats: caveats::all(held, settings),
            cause: (ending == Ending::ReviewerFailed).then(|| context::failure_cause(raw)),
            waits,
            summary,
        }
    }
}
