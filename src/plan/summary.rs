//! What the summary of a plan loop has to admit, besides what the engine says of any loop's reviews.

use claudex_loop::program::rounds;
use claudex_loop::program::settings::Settings;
use claudex_loop::review::personas::Personas;
use claudex_loop::review::runs::{Run, RunOutcome};

use super::typestate::DecisionSignal;
use super::{AnyLoop, closing, reviews_changes};

/// Returns all that a summary has to admit, each a sentence.
pub fn all_caveats(held: &AnyLoop, settings: &Settings) -> Vec<String> {
    let raw = held.raw();
    let Ok(journal) = raw.journal() else {
        return vec![
            "The journal cannot be read, so nothing stands behind this summary.".to_owned(),
        ];
    };
    let mut admitted = rounds::caveats(raw, &journal);
    admitted.extend(caveats(held, settings));
    admitted
}

/// Returns what has to be admitted of a plan loop alone.
pub fn caveats(held: &AnyLoop, settings: &Settings) -> Vec<String> {
    let personas = &settings.personas;
    let journal = held.raw().journal().unwrap_or_default();
    let mut admitted: Vec<String> = closing::noted(held, &journal).into_iter().collect();
    let is_settled = held.fields().decision_signal == DecisionSignal::NoMaterialFindings;
    if is_settled || is_clean_at_last(held) {
        let rejected = !rounds::rejections(&journal).is_empty();
        admitted.extend(unanswered(held, personas, rejected));
    }
    admitted
}

/// Whether the last review found nothing.
fn is_clean_at_last(held: &AnyLoop) -> bool {
    let runs = rounds::runs(held.raw());
    let last = runs.iter().rfind(|run| run.ended.is_some());
    last.is_some_and(|run| matches!(run.ended, Some(RunOutcome::Clean { .. })))
}

/// Material findings which nobody has looked at again, of a loop that counts as settled or whose last review found nothing: on the
/// very bytes that the last review saw, or from a point of view that no later round had. An edit answers a finding only as far as someone says so.
fn unanswered(held: &AnyLoop, personas: &Personas, rejected: bool) -> Vec<String> {
    let runs = rounds::runs(held.raw());
    let verdicts: Vec<&Run> = runs
        .iter()
        .filter(|run| run.ended.as_ref().is_some_and(|how| how.digest().is_some()))
        .collect();
    let Some(last) = verdicts.last() else {
        return Vec::new();
    };
    let seen_by = |persona: &str| {
        let sees =
            |run: &Run| run.began.persona == persona && run.began.subject == last.began.subject;
        verdicts.iter().any(|run| sees(run))
    };
    let (unchanged, revised) = if reviews_changes(held) {
        ("nothing was changed since", "the files were changed since")
    } else {
        ("the plan is unchanged since", "the plan was revised since")
    };
    let mut told = Vec::new();
    for line in rounds::rounds(held.raw(), personas) {
        let run = verdicts
            .iter()
            .rev()
            .find(|run| run.began.round == line.round);
        let (Some(run), Some(counts)) = (run, line.counts.filter(|counts| counts.material() > 0))
        else {
            continue;
        };
        let found = format!("Round {} ({}) found {counts}", line.round, line.persona);
        if run.began.subject == last.began.subject {
            if !rejected {
                told.push(format!("{found}; {unchanged}, so they are open."));
            }
        } else if !seen_by(&run.began.persona) {
            told.push(format!(
                "{found}; {revised}, and no later round looked from that point of view."
            ));
        }
    }
    told
}
