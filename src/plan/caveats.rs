//! The caveats of a plan loop's summary, besides those of every loop with reviews.

use claudex_loop::program::rounds;
use claudex_loop::program::settings::Settings;
use claudex_loop::review::personas::Personas;
use claudex_loop::review::runs::{Run, RunOutcome};

use super::typestate::DecisionSignal;
use super::{AnyLoop, changed_since_review, reviews_changes};

/// Returns all caveats of a summary, each a sentence.
pub fn all(held: &AnyLoop, settings: &Settings) -> Vec<String> {
    let raw = held.raw();
    let Ok(journal) = raw.journal() else {
        return vec!["The journal cannot be read, so nothing confirms this summary.".to_owned()];
    };
    let mut caveats = rounds::caveats(raw, &journal);
    caveats.extend(of_plan_loop(held, settings));
    caveats
}

/// Returns the caveats that only a plan loop has.
pub fn of_plan_loop(held: &AnyLoop, settings: &Settings) -> Vec<String> {
    let journal = held.raw().journal().unwrap_or_default();
    let mut caveats = Vec::from_iter(changed_since_review::noted(held, &journal));

    let runs = rounds::runs(held.raw());
    let last = runs.iter().rfind(|run| run.ended.is_some());
    let is_clean = last.is_some_and(|run| matches!(run.ended, Some(RunOutcome::Clean { .. })));
    if is_clean || held.fields().decision_signal == DecisionSignal::NoMaterialFindings {
        let is_rejected = !rounds::rejections(&journal).is_empty();
        caveats.extend(unanswered(held, &runs, &settings.personas, is_rejected));
    }
    caveats
}

/// Returns a sentence for each round whose material findings no later review has covered: the text
/// is the one that the last review saw, or no later round had the same persona.
fn unanswered(held: &AnyLoop, runs: &[Run], personas: &Personas, is_rejected: bool) -> Vec<String> {
    let has_verdict = |run: &&Run| run.ended.as_ref().is_some_and(|how| how.digest().is_some());
    let verdicts: Vec<&Run> = runs.iter().filter(has_verdict).collect();
    let Some(last) = verdicts.last() else {
        return Vec::new();
    };
    let (subject, has_changed) = match reviews_changes(held) {
        true => ("nothing was changed since", "the files were changed since"),
        false => ("the plan is unchanged since", "the plan was revised since"),
    };

    let mut caveats = Vec::new();
    for line in rounds::rounds(held.raw(), personas) {
        let run = verdicts.iter().rfind(|run| run.began.round == line.round);
        let counts = line.counts.filter(|counts| counts.material() > 0);
        let (Some(run), Some(counts)) = (run, counts) else {
            continue;
        };
        let found = format!("Round {} ({}) found {counts}", line.round, line.persona);
        let is_same_text = |run: &&&Run| run.began.subject == last.began.subject;
        let is_seen_again = verdicts
            .iter()
            .filter(is_same_text)
            .any(|later| later.began.persona == run.began.persona);
        if is_same_text(&run) {
            if !is_rejected {
                caveats.push(format!("{found}; {subject}, so they are open."));
            }
        } else if !is_seen_again {
            caveats.push(format!(
                "{found}; {has_changed}, and no later round looked from that point of view."
            ));
        }
    }
    caveats
}
