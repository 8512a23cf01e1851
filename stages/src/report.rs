//! `report` and `recover`: keep a summary, record it in the state, and take the transition that follows,
//! all in one write. A refusal changes nothing.

use camino::Utf8PathBuf;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::{LoopArgs, NotTaken};
use claudex_loop::store::{Entry, REFUSED};
use claudex_loop::text;
use serde_json::{Value as Json, json};

use crate::contract::{Decision, Outcome, Reading, ResearchMethod, Stage, Status, Summary};
use crate::follows::{completed, follows, recorded_answer};
use crate::questions::{answer_key, dispatch_after, keeps_dispatch};
use crate::record;
use crate::state::{CountedSummary, Keys, Open, Pipeline};
use crate::typestate::{AnyLoop, Phase, Verb};

/// The longest refusal that is kept, in characters.
const MAX_DETAIL_CHARS: usize = 500;
/// The help of a report that cannot be taken.
const RECOVER_HELP: &str =
    "nothing was changed; if the coordinator has ended without a summary:\n    stages recover";

type ReportResult = Result<AnyLoop, NotTaken<AnyLoop>>;
/// A summary, with its bytes if it has not counted yet.
type Taken = (Summary, Option<Vec<u8>>);

/// Takes the summary of the open stage. The second refusal of a dispatch asks the user, so that an agent
/// cannot report for ever.
pub(crate) fn report(held: AnyLoop, path: Option<&Utf8PathBuf>) -> ReportResult {
    require_open(&held)?;
    let pipeline = Pipeline(held.raw());
    match read(pipeline, path) {
        Ok((bytes, reading)) => take_reading(held, reading, bytes),
        Err(failure) if was_refused(pipeline) => {
            let problem = "twice reported a summary that does not count";
            let details = text::one_line(&failure.to_string(), MAX_DETAIL_CHARS);
            fail(held, problem, vec![details])
        }
        Err(failure) => Err(failure.into()),
    }
}

/// Reads the file that is reported, which must be the summary of the open stage.
fn read(pipeline: Pipeline<'_>, path: Option<&Utf8PathBuf>) -> Result<(Vec<u8>, Reading), Failure> {
    let file = pipeline.summary_file();
    if let Some(path) = path.filter(|path| !pipeline.is_summary(path)) {
        let path = text::shown(path);
        let message = format!("{path} cannot be taken: the summary of the open stage is {file}");
        return Err(refused(message, RECOVER_HELP));
    }
    let Some((bytes, reading)) = pipeline.written() else {
        let message = format!("{file} cannot be taken: there is no such file in the project");
        return Err(refused(message, RECOVER_HELP));
    };
    if reading.outcome == Outcome::Refused {
        let why = reading.lenient_lines().join("\n");
        return Err(refused(
            format!("{file} does not count:\n{why}"),
            "nothing was changed; have the coordinator write its summary again, or, if it has ended without one:\n    stages recover",
        ));
    }
    Ok((bytes, reading))
}

fn refused(message: String, help: &str) -> Failure {
    Failure::plain(Exit::Refused, message, help)
}

fn require_open(held: &AnyLoop) -> Result<(), Failure> {
    if held.phase() == Phase::Dispatched {
        return Ok(());
    }
    let id = held.id();
    let phase = held.phase();
    Err(refused(
        format!("pipeline {id} has no open stage: it is in phase {phase}"),
        "nothing was changed; for the instruction, run:\n    stages next",
    ))
}

/// Returns whether a report was refused since the open dispatch began.
fn was_refused(pipeline: Pipeline<'_>) -> bool {
    let journal = pipeline.0.journal().unwrap_or_default();
    let is_report = |entry: &Entry| {
        let note = entry.noted::<Keys>(REFUSED);
        note.is_some_and(|note| note.get("tried") == Some(&json!("report")))
    };
    let is_of_dispatch = |entry: &&Entry| {
        let change = entry.change();
        change.is_none_or(|change| ["remind", "bind"].contains(&change.what.as_str()))
    };
    let mut newest = journal.iter().rev().take_while(is_of_dispatch);
    newest.any(is_report)
}

/// Takes the results of a coordinator that has ended without a report: its summary, or else its files.
pub(crate) fn recover(held: AnyLoop) -> ReportResult {
    if held.phase() == Phase::Recovering {
        return accept_files(held);
    }
    require_open(&held)?;
    match Pipeline(held.raw()).written() {
        None => take_files(held, "ended without a summary", Vec::new()),
        Some((_, reading)) if reading.outcome == Outcome::Refused => {
            take_files(held, "ended without a new summary", Vec::new())
        }
        Some((bytes, reading)) => take_reading(held, reading, bytes),
    }
}

/// Takes a summary that counts, or the files beside one that cannot be read.
fn take_reading(held: AnyLoop, reading: Reading, bytes: Vec<u8>) -> ReportResult {
    let details = reading.lenient_lines();
    let Some(summary) = reading.summary() else {
        return take_files(held, "left a broken summary", details);
    };
    let pipeline = Pipeline(held.raw());
    let (verb, gaps) = follows(pipeline, &summary);
    let flags = &summary.flags;
    let mut tell = Vec::new();
    if flags.timeout == Some(true) || flags.partial == Some(true) {
        let number = summary.stage.number();
        let steps = flags.completed_steps.clone().unwrap_or_default();
        let colon = if steps.is_empty() { "" } else { ": " };
        let steps = steps.join(", ");
        tell.push(format!("Stage {number} is only partly done{colon}{steps}."));
    }
    if summary.status == Status::Failed {
        tell.push(summary.summary.clone());
    }
    tell.extend(gaps);
    let note = Open {
        tell,
        details,
        ..Open::default()
    };
    go(held, verb, Some((summary, Some(bytes))), note)
}

/// Asks the user about a stage without a summary.
fn fail(held: AnyLoop, problem: &str, details: Vec<String>) -> ReportResult {
    let note = Open {
        problem: problem.to_owned(),
        details,
        ..Open::default()
    };
    go(held, Verb::Fail(LoopArgs::default()), None, note)
}

/// Takes the files of a coordinator that left no summary, if they show that the stage was done. Stage 5 always
/// asks: its summary may have said NOT_READY. Stage 7 never does.
fn take_files(held: AnyLoop, problem: &str, details: Vec<String>) -> ReportResult {
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let may_count = match stage {
        Stage::Retrospective => true,
        Stage::Setup | Stage::ValidationGeneration => false,
        _ => pipeline.has_artifacts(),
    };
    let taken = minimal_summary(pipeline);
    let (verb, mut tell) = completed(pipeline, &taken.0);
    // The user has not accepted the files yet.
    if !may_count || matches!(verb, Verb::Fail(_) | Verb::Block { .. }) {
        return fail(held, problem, details);
    }
    let number = stage.number();
    tell.push(format!(
        "Stage {number} {problem}; the files that it wrote were used."
    ));
    let note = Open {
        tell,
        details,
        ..Open::default()
    };
    go(held, verb, Some(taken), note)
}

/// Takes the result that the user accepted: the summary in its file, else the one that counted, else one for the new files.
fn accept_files(held: AnyLoop) -> ReportResult {
    let pipeline = Pipeline(held.raw());
    let is_usable = |taken: &Taken| taken.0.status != Status::Failed;
    let written = pipeline
        .written()
        .and_then(|(bytes, reading)| Some((reading.summary()?, Some(bytes))));
    let counted = pipeline.open_summary().map(|summary| (summary, None));
    let has_artifacts = pipeline.has_artifacts();
    let taken = written
        .filter(is_usable)
        .or(counted.filter(is_usable))
        .or_else(|| has_artifacts.then(|| minimal_summary(pipeline)));
    let (verb, tell) = if let Some((summary, _)) = &taken {
        completed(pipeline, summary)
    } else {
        let (_, missing) = pipeline.artifacts();
        let missing = missing.join(", ");
        let tell = vec![format!("These files are missing or unchanged: {missing}.")];
        (Verb::Fail(LoopArgs::default()), tell)
    };
    let note = Open {
        tell,
        ..Open::default()
    };
    go(held, verb, taken, note)
}

/// Returns the summary of a stage that left none, for its new files.
fn minimal_summary(pipeline: Pipeline<'_>) -> Taken {
    let (new, _) = pipeline.artifacts();
    let stage = pipeline.stage();
    let problem = "Recovered: the coordinator left no summary.";
    let mut summary = Summary::new(stage, Status::Completed, problem);
    let flags = &mut summary.flags;
    flags.round_number = Some(pipeline.round());
    flags.recovered = Some(true);
    if stage == Stage::Research {
        let has_agenda = new.iter().any(|path| path.ends_with("RESEARCH-AGENDA.md"));
        flags.research_method = Some(if has_agenda {
            ResearchMethod::Manual
        } else {
            ResearchMethod::AutoMcp
        });
    }
    if stage == Stage::ValidationGeneration {
        flags.validation_decision = Some(Decision::Conditional);
    }
    summary.artifacts = new.into_iter().map(Into::into).collect();
    let bytes = summary.to_text().into_bytes();
    (summary, Some(bytes))
}

/// Records a summary and takes its transition. `note` has the problem and the lines for the next dispatch.
fn go(mut held: AnyLoop, verb: Verb, taken: Option<Taken>, note: Open) -> ReportResult {
    let pipeline = Pipeline(held.raw());
    let stage = pipeline.stage();
    let mut open = Open {
        problem: note.problem,
        tell: note.tell,
        details: note.details,
        ..dispatch_after(pipeline, held.phase(), &verb)
    };
    if let Some((summary, Some(bytes))) = &taken {
        let digest = pipeline.keep(bytes).map_err(|error| {
            let message = format!("cannot keep the summary: {error}");
            let help = "make room or the folder writable, and run the command again";
            Failure::plain(Exit::Internal, message, help)
        })?;
        let mut counted = pipeline.counted();
        counted.push(CountedSummary {
            round: pipeline.round(),
            stage: stage.number(),
            digest: digest.clone(),
        });
        if keeps_dispatch(&verb) {
            open.summary = Some(digest);
        }
        held.set_counted(&counted)?;
        let question = summary.flags.question_context.as_ref();
        if let Some(question) = question.filter(|_| !matches!(verb, Verb::Ask(_))) {
            let pipeline = Pipeline(held.raw());
            if matches!(verb, Verb::Repeat(_)) {
                let recorded = recorded_answer(pipeline, summary);
                open.answer = Some(json!({ "question": question.question, "answer": recorded }));
            }
            let key = answer_key(pipeline, question);
            let mut asked = held.fields().asked.clone();
            // An answer is used again once.
            asked.get_mut(&key).map(Json::take);
            held.set_asked(&asked)?;
        }
    }
    let summary = taken.map(|(summary, _)| summary);
    if let Some(summary) = &summary {
        record::note_flags(&mut held, summary, &verb)?;
    }
    if matches!(verb, Verb::Fail(_)) {
        record::note_failure(&mut held, &open)?;
    }
    record::note_sections(&mut held, &verb)?;
    held.set_open(&open)?;
    held.add_text(&record::entry(stage, summary.as_ref(), &verb));
    Ok(held.take(verb)?)
}
