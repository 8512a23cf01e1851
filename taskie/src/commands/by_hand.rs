//! A review by hand: by the same reviewer, into the next free file. It is a note in the journal and evidence of nothing.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use claudex_loop::process::environment::Environment;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::reviewers::{self, Preferred};
use claudex_loop::program::settings::Settings;
use claudex_loop::program::{loops, out, review as runner};
use claudex_loop::review::findings::Findings;
use claudex_loop::review::prompt::Prompt;
use claudex_loop::review::reviewer::{Event, Outcome, Request, Trace};
use claudex_loop::review::subject::SubjectText;
use claudex_loop::review::{ReviewSpec, findings_file};
use claudex_loop::text;
use serde_json::{Map, json};

use super::Call;
use crate::files::name::{Group, Name};
use crate::next::Kind;
use crate::stops::{self, BY_HAND};
use crate::typestate::{
    ALL_CODE_REVIEW_REVIEW, CODE_REVIEW_REVIEW, PLAN_REVIEW_REVIEW, TASKS_REVIEW_REVIEW,
};
use crate::{AnyLoop, OnStop as _, Phase};

/// Reviews, and writes what was found.
pub(super) fn review(call: &Call, held: &AnyLoop, kind: Kind) -> Result<Exit, Failure> {
    let raw = held.raw();
    let failed = |what: &str, why: String| {
        call.refused(
            format!("plan {}: {what}: {why}", raw.id()),
            "nothing was written",
        )
    };
    let (spec, group) = match kind {
        Kind::Plan => (&PLAN_REVIEW_REVIEW, Group::Plan),
        Kind::Tasks => (&TASKS_REVIEW_REVIEW, Group::Tasks),
        Kind::AllCode => (&ALL_CODE_REVIEW_REVIEW, Group::AllCode),
        Kind::Code => match raw.count("current_task") {
            0 => {
                return Err(failed(
                    "no task is under way",
                    "there is no code of it to review".to_owned(),
                ));
            }
            task => (&CODE_REVIEW_REVIEW, Group::TaskCode(task)),
        },
    };
    let settings = loops::settings(call.info, raw.store().root(), None)?;
    let directory = stops::directory(raw)
        .map_err(|error| failed("its directory cannot be read", error.to_string()))?;
    let _ = raw.told().subjects.set(stops::Taskie.subjects(held));
    let subject = SubjectText::read(raw, spec, false)
        .map_err(|error| failed("what is to be reviewed cannot be read", error.to_string()))?;
    let (findings, shown) = findings(call, held, spec, &settings, &subject)?;
    let verdict = if findings.counts().material() > 0 {
        "FAIL"
    } else {
        "PASS"
    };
    let numbers = directory.names().filter_map(|name| match name {
        Name::Review(of, number) if of == group => Some(number),
        _ => None,
    });
    let name = Name::Review(group, numbers.max().unwrap_or_default() + 1);
    // The note first: a review that nobody noted would be the automation's to answer.
    let noted = raw
        .store()
        .note(raw.id(), BY_HAND, &json!({"file": name.to_string()}));
    noted.map_err(|error| Failure::new(Exit::Internal, error))?;
    let path = raw.path(".taskie/plans/{plan_id}").join(name.to_string());
    let report = format!(
        "{}\nVERDICT: {verdict}\n",
        findings_file::render(1, &findings)
    );
    let written =
        std::fs::File::create_new(&path).and_then(|mut file| file.write_all(report.as_bytes()));
    written.map_err(|error| failed("the review cannot be written", error.to_string()))?;
    out::line(&format!(
        "Plan {}: {shown} says {verdict} ({}): {name}\n",
        raw.id(),
        findings.counts()
    ));
    out::text(&text::plain(&report));
    Ok(Exit::Complete)
}

/// Asks the reviewer; returns what it found, and who it is.
fn findings(
    call: &Call,
    held: &AnyLoop,
    spec: &'static ReviewSpec,
    settings: &Settings,
    subject: &SubjectText,
) -> Result<(Findings, String), Failure> {
    let raw = held.raw();
    let preferred = Preferred::of(raw, spec);
    let chosen = reviewers::choose(None, preferred.as_ref(), settings, raw.store().root());
    let chosen = chosen.map_err(|error| Failure::new(Exit::Usage, error))?;
    let personas = settings.personas.of_phase(spec);
    let persona = personas.of_round(1);
    let prompt = Prompt {
        raw,
        spec,
        persona,
        context: Map::new(),
        earlier: Vec::new(),
        verified: String::new(),
        failed: Vec::new(),
    };
    let (plain, reviewer) = (text::plain(&subject.text), chosen.reviewer.as_ref());
    let chunks = prompt
        .chunks(&plain, reviewer)
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let request = Request {
        prompt: "",
        parts: &subject.parts,
        subject_name: &call.name,
        trace: &Trace::default(),
        focus: persona.focus,
        root: raw.store().root(),
        limits: chosen.limits,
        environment: &Environment::default(),
        output: None,
    };
    let interrupted = runner::interrupts();
    let mut watch = |_: Event<'_>| match interrupted.load(Ordering::Relaxed) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let (outcome, shown) = chosen.in_turn(
        |(outcome, _): &(Outcome, String)| outcome.cause(),
        |next, _| {
            let outcome = chunks.review(&request, &mut |request| {
                next.reviewer.review(request, &mut watch)
            });
            (outcome, next.shown.clone())
        },
    );
    match outcome {
        Outcome::Clean | Outcome::Findings(_) => Ok((outcome.into_findings(), shown)),
        Outcome::CouldNotRun(cause) | Outcome::Unreadable(cause) => {
            let why = format!("plan {}: {} gave no verdict: {cause}", raw.id(), shown);
            Err(call
                .refused(why, "nothing was written")
                .exiting(Exit::Reviewer))
        }
    }
}

/// Returns the kind of a command's name, where a review by hand is possible.
pub(super) fn kind(call: &Call, held: &AnyLoop) -> Option<Kind> {
    let mut all = Kind::ALL.into_iter();
    let found = all
        .find(|(_, word)| *word == call.name)
        .map(|(kind, _)| kind);
    found.filter(|_| held.phase() == Phase::Standalone)
}
