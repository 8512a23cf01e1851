//! The record of the user's decision, which is never written over, and the dispatch that it opens.

use claudex_loop::Refusal;
use claudex_loop::machine::FieldError;
use claudex_loop::program::TypedApp as _;
use claudex_loop::program::exit::{Exit, Failure};
use serde_json::{Value as Json, json};

use crate::contract::Stage;
use crate::state::{Open, Pipeline, now};
use crate::typestate::{AnyLoop, Phase, Stages, Verb};
use crate::{questions, record};

/// Writes the record and the dispatch before a verb's transition.
pub(crate) fn record_verb(held: &mut AnyLoop, verb: &Verb) -> Result<(), Failure> {
    write(held, verb).map_err(|error| Failure::new(Exit::Internal, Refusal::Field(error)))
}

fn write(held: &mut AnyLoop, verb: &Verb) -> Result<(), FieldError> {
    let phase = held.phase();
    if let Some((key, value)) = questions::key(held.raw(), phase).zip(value(verb)) {
        let now = now();
        let mut decisions = held.fields().user_decisions.clone();
        decisions.insert(key.clone(), Json::from(value.as_str()));
        decisions.insert(format!("{key}_timestamp"), Json::from(now.as_str()));
        held.set_user_decisions(&decisions)?;
        held.add_text(&format!("- {now}: {key} is {value}"));
        record::note_decision(held, verb, &value)?;
    }
    if let Verb::Choose { mode, .. } = verb {
        held.set_analysis_mode(&Json::from(mode.to_string()))?;
    }
    let pipeline = Pipeline(held.raw());
    let mut open = dispatch_after(pipeline, phase, verb);
    let summary = pipeline.open_summary().filter(|_| phase == Phase::Asking);
    let question = summary.and_then(|summary| summary.flags.question_context);
    if let Some((question, answer)) = question.zip(value(verb)) {
        // The same question is answered from this record.
        let mut asked = held.fields().asked.clone();
        asked.insert(questions::answer_key(pipeline, &question), json!(answer));
        if matches!(verb, Verb::Tell { .. }) {
            open.answer = Some(json!({ "question": question.question, "answer": answer }));
        }
        held.set_asked(&asked)?;
    }
    held.set_open(&open)
}

/// Returns the decision of a verb as it is recorded, or `None` if it decides nothing.
fn value(verb: &Verb) -> Option<String> {
    let answer = match verb {
        Verb::Pause { .. } | Verb::Cancel { .. } => return None,
        Verb::Choose { mode, .. } => return Some(mode.to_string()),
        Verb::Tell { answer, .. } => Some(answer),
        Verb::GoOn { answer, .. } | Verb::GoBack { answer, .. } | Verb::GoAgain { answer, .. } => {
            answer.as_ref()
        }
        _ => None,
    };
    Some(answer.map_or_else(|| Stages::transition(verb).to_owned(), String::clone))
}

/// Returns whether a transition leaves the dispatch open for a decision of the user.
pub(crate) fn keeps_dispatch(verb: &Verb) -> bool {
    use Verb::{Ask, Block, Decide, Doubt, Fail, Wait};
    matches!(
        verb,
        Ask(_) | Block { .. } | Decide(_) | Doubt(_) | Fail(_) | Wait { .. }
    )
}

/// Returns the dispatch after a transition: the open one if its summary can still count, else a new one.
pub(crate) fn dispatch_after(pipeline: Pipeline<'_>, phase: Phase, verb: &Verb) -> Open {
    use Verb::{Repeat, Resume, Retry, Standard, Tell};
    let mut before = pipeline.open();
    let mut open = pipeline.opened();
    let skips = before.skip_validation;
    match verb {
        Verb::UseFound(_) | Verb::CheckAgain(_) | Verb::Cancel(_) => return before,
        // Skipping stage 4 asks for the next step.
        Verb::Skip(_) if pipeline.stage() == Stage::ResponseAnalysis => return before,
        // The summary of stage 3 still counts if it passes its gate.
        Verb::GoOn { .. }
            if phase == Phase::Asking && pipeline.stage() == Stage::AnalysisQuestions =>
        {
            return before;
        }
        Verb::Wait { .. } => {
            before.re_entry = true;
            before.answer = None;
            return before;
        }
        Verb::Pause(_) => {
            before.re_entry = false;
            return before;
        }
        verb if keeps_dispatch(verb) => return before,
        Verb::Resume(_) => {
            open.re_entry = before.re_entry;
            open.answer = before.answer;
        }
        Verb::Retry(_) => open.answer = before.answer,
        Verb::Standard(_) => open.standard = true,
        Verb::Force(_) => open.skip_validation = true,
        _ => {}
    }
    let is_same_stage = matches!(
        verb,
        Repeat(_) | Resume(_) | Retry(_) | Standard(_) | Tell { .. }
    );
    open.skip_validation |= is_same_stage && skips;
    open
}
