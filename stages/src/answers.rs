//! The record of the user's decision, which is never written over, and the dispatch that it opens.

use claudex_loop::Refusal;
use claudex_loop::machine::FieldError;
use claudex_loop::program::TypedApp as _;
use claudex_loop::program::exit::{Exit, Failure};
use serde_json::Value as Json;

use crate::state::{AnsweredQuestion, Open, Pipeline, UserAnswer};
use crate::typestate::{AnyLoop, Phase, Stages, Verb};
use crate::{questions, record};

/// Writes the record and the dispatch before a verb's transition.
///
/// # Errors
/// Returns an error if the data cannot be written.
pub fn record_verb(held: &mut AnyLoop, verb: &Verb) -> Result<(), Failure> {
    write(held, verb).map_err(|error| Failure::new(Exit::Internal, Refusal::Field(error)))
}

fn write(held: &mut AnyLoop, verb: &Verb) -> Result<(), FieldError> {
    let phase = held.phase();
    if let Some((key, value)) = questions::key(held.raw(), phase).zip(value(verb)) {
        let now = record::now();
        let mut decisions = held.fields().user_decisions.clone();
        decisions.insert(key.clone(), Json::from(value.as_str()));
        decisions.insert(format!("{key}_timestamp"), Json::from(now.as_str()));
        held.set_user_decisions(&decisions)?;
        held.add_text(&format!("- {now}: {key} is {value}"));
        record::note_decision(held, verb, &value)?;
        if phase == Phase::Asking {
            record_answer(held, &value)?;
        }
    }
    let status = match verb {
        Verb::Pause { .. } => "waiting_for_user",
        Verb::Cancel { .. } => "failed",
        _ => "in_progress",
    };
    held.set_stage_status(&Json::from(status))?;
    if let Verb::Choose { mode, .. } = verb {
        held.set_analysis_mode(&Json::from(mode.to_string()))?;
    }
    if let Some(open) = opened(Pipeline(held.raw()), phase, verb) {
        held.set_open(&open)?;
    }
    Ok(())
}

/// Returns the decision of a verb as it is recorded, or `None` if it decides nothing.
fn value(verb: &Verb) -> Option<String> {
    Some(match verb {
        Verb::Pause { .. } | Verb::Cancel { .. } => return None,
        Verb::Choose { mode, .. } => mode.to_string(),
        Verb::Tell { answer, .. }
        | Verb::GoOn {
            answer: Some(answer),
            ..
        }
        | Verb::GoBack {
            answer: Some(answer),
            ..
        }
        | Verb::GoAgain {
            answer: Some(answer),
            ..
        } => answer.clone(),
        verb => Stages::transition(verb).to_owned(),
    })
}

/// Records the answer to a coordinator's question, by which the same question is known again.
fn record_answer(held: &mut AnyLoop, answer: &str) -> Result<(), FieldError> {
    let pipeline = Pipeline(held.raw());
    let summary = pipeline.open_summary();
    let Some(question) = summary.and_then(|summary| summary.flags.question_context) else {
        return Ok(());
    };
    let mut asked = held.fields().asked.clone();
    asked.push(AnsweredQuestion {
        round: pipeline.round(),
        stage: pipeline.stage().number(),
        digest: questions::digest(&question),
        answer: answer.to_owned(),
        repeated: 0,
    });
    held.set_asked(&asked)
}

/// Returns the dispatch that a verb opens, or `None` if the open one stays.
fn opened(pipeline: Pipeline<'_>, phase: Phase, verb: &Verb) -> Option<Open> {
    let before = pipeline.open();
    let new = pipeline.opened();
    let same_stage = Open {
        skip_validation: before.skip_validation,
        ..new.clone()
    };
    Some(match verb {
        Verb::UseFound { .. } | Verb::CheckAgain { .. } | Verb::Cancel { .. } => return None,
        // Skipping stage 4 asks for the next step.
        Verb::Skip { .. } if pipeline.stage().number() == 4 => return None,
        // The summary still counts if the stage passes its gate.
        Verb::GoOn { .. } if phase == Phase::Asking && pipeline.stage().number() == 3 => {
            return None;
        }
        Verb::Pause { .. } => Open {
            re_entry: false,
            ..before
        },
        Verb::Resume { .. } => Open {
            re_entry: before.re_entry,
            answer: before.answer,
            ..same_stage
        },
        Verb::Tell { answer, .. } => {
            let asked = pipeline.open_summary();
            let asked = asked.and_then(|summary| summary.flags.question_context);
            Open {
                answer: Some(UserAnswer {
                    question: asked.unwrap_or_default().question,
                    answer: answer.clone(),
                }),
                ..same_stage
            }
        }
        Verb::Retry { .. } => Open {
            answer: before.answer,
            ..same_stage
        },
        Verb::Standard { .. } => Open {
            standard: true,
            ..same_stage
        },
        Verb::Force { .. } => Open {
            skip_validation: true,
            ..new
        },
        _ => new,
    })
}
