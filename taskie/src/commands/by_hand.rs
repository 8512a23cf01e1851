//! A review by hand: by the same reviewer, into the next free file. It is evidence of nothing.

use std::io::Write as _;

use claudex_loop::machine::{LoopFacts as _, Raw};
use claudex_loop::program::console::Console;
use claudex_loop::program::exit::{Exit, Failure};
use claudex_loop::program::reviewers;
use claudex_loop::program::{loops, out};
use claudex_loop::review::findings::Findings;
use claudex_loop::review::prompt::Prompt;
use claudex_loop::review::reviewer::{Cause, Event, Request};
use claudex_loop::review::subject::SubjectText;
use claudex_loop::review::{ReviewSpec, findings_file};
use claudex_loop::text;
use serde_json::{Map, json};

use super::Call;
use crate::files::name::Name;
use crate::stops::{self, BY_HAND};
use crate::{AnyLoop, OnStop as _};

/// Reviews as a phase does, and writes the findings.
pub(super) fn review(
    call: &Call,
    held: &AnyLoop,
    spec: &'static ReviewSpec,
) -> Result<Exit, Failure> {
    let raw = held.raw();
    let id = raw.id();
    let failed = |why: String| call.refusal(format!("plan {id}: {why}"), "nothing was written");
    let first = raw.path(&spec.findings_file.replace("{n}", "1"));
    let Some(Name::Review(group, _)) = first.file_name().and_then(Name::parse) else {
        return Err(failed(
            "no task with code to review is under way".to_owned(),
        ));
    };
    let _ = raw
        .program_facts()
        .subjects
        .set(stops::Taskie.subjects(held));
    let subject = SubjectText::read(raw, spec, false)
        .map_err(|error| failed(format!("the subject cannot be read: {error}")))?;
    let (findings, reviewer) = ask(call, raw, spec, &subject)?;
    let verdict = match findings.counts().material() {
        0 => "PASS",
        _ => "FAIL",
    };
    let newest = call.directory(held)?.newest_review(group);
    let name = Name::Review(group, newest.unwrap_or_default() + 1).to_string();
    let list = findings_file::render(1, &findings);
    let report = format!("{list}\nVERDICT: {verdict}\n");
    std::fs::File::create_new(first.with_file_name(&name))
        .and_then(|mut file| file.write_all(report.as_bytes()))
        .map_err(|error| failed(format!("the review cannot be written: {error}")))?;
    let note = json!({ "files": [name] });
    let noted = raw.store().note(id, BY_HAND, &note);
    noted.map_err(|error| Failure::new(Exit::Internal, error))?;
    let counts = findings.counts();
    out::line(&format!(
        "Plan {id}: {reviewer} says {verdict} ({counts}): {name}\n"
    ));
    out::text(&text::plain(&report));
    Ok(Exit::Complete)
}

/// Asks the reviewer, and returns the findings and the reviewer's name.
fn ask(
    call: &Call,
    raw: &Raw,
    spec: &'static ReviewSpec,
    subject: &SubjectText,
) -> Result<(Findings, String), Failure> {
    let root = raw.store().root();
    let settings = loops::settings(call.info, root, None)?;
    let chosen = reviewers::choose(None, Some((raw, spec)), &settings, root)
        .map_err(|error| Failure::new(Exit::Usage, error))?;
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
    let plain = text::plain(&subject.text);
    let question = prompt
        .question(&plain, chosen.reviewer.as_ref())
        .map_err(|error| Failure::new(Exit::Internal, error))?;
    let request = Request {
        prompt: &question.prompt,
        parts: &subject.parts,
        subject_name: &call.name,
        focus: persona.focus,
        root,
        limits: chosen.limits,
        output: None,
    };
    let console = Console::new(String::new(), false);
    let mut watch = |_: Event<'_>| console.flow();
    let (answer, reviewer) = chosen.ask_in_turn(
        |(answer, _): &(Result<Findings, Cause>, String)| answer.as_ref().err(),
        |next, _| {
            let answer = next.reviewer.review(&request, &mut watch);
            (answer, next.shown.clone())
        },
    );
    let mut findings = answer.map_err(|cause| {
        let why = format!("plan {}: {reviewer} gave no verdict: {cause}", raw.id());
        let failure = call.refusal(why, "nothing was written");
        failure.exiting(Exit::Reviewer)
    })?;
    findings.0.extend(question.unreviewed);
    Ok((findings, reviewer))
}
