//! What no change can have written counts for nothing: lines added to a journal, and a document edited by hand.

use std::fs;
use std::io;

use serde_json::{Value as Json, json};

use crate::error::{Failure, Suite};
use crate::kit::Setup;
use crate::report::Report;
use crate::runs::Loop;
use crate::search::Way;

/// Forges a journal in several ways, each time to a phase that ends the loop.
pub(crate) fn run(setup: &Setup, way: &Way, report: &mut Report) -> Result<(), Failure> {
    let held = Loop::begin(setup, way)?;
    let system = |error: io::Error| fail(&held, error.to_string());
    held.project.stop().map_err(system)?;
    let before = held.journal().map_err(system)?;
    held.project.keep().map_err(system)?;
    // Where an honest stop leads from here.
    held.project.stop().map_err(system)?;
    let honest = phase(&held)?;
    let machine = &setup.machine;
    let last = before.changes.last().cloned().unwrap_or_default();
    let from = last["to"].as_str().unwrap_or_default().to_owned();
    let names = machine
        .phases
        .iter()
        .enumerate()
        .filter(|(_, phase)| phase.terminal);
    let Some((end, ended)) = names
        .map(|(at, phase)| (setup.stored(at), &phase.name.value))
        .find(|(_, name)| **name != honest)
    else {
        report.left_out.push((
            Suite::Forged,
            "every end of the machine is one stop away".to_owned(),
        ));
        return Ok(());
    };
    let holder = machine
        .holder(claudex_build::model::Held::Phase)
        .unwrap_or_default();
    let line = |more: u64, what: &str| {
        let revision = last["revision"].as_u64().unwrap_or_default() + more;
        let mut line = last.clone();
        line["what"] = what.into();
        line["revision"] = revision.into();
        line["from"] = from.clone().into();
        line["to"] = end.into();
        line["fields"][holder] = end.into();
        if let Some(counter) = machine.holder(claudex_build::model::Held::Revision) {
            line["fields"][counter] = revision.into();
        }
        format!("{line}\n")
    };
    // A transition that has no edge from here to there.
    let edges = machine.edges();
    let none = machine.transition_names().into_iter().find(|name| {
        let mut edges = edges.iter().filter(|edge| edge.declared.name.value == *name);
        !edges.any(|edge| setup.stored(edge.from) == from && setup.stored(edge.to) == end)
    });
    let text = String::from_utf8_lossy(&before.bytes).into_owned();
    let document = fs::read_to_string(held.document_path()).map_err(system)?;
    let edited = document.replacen(&from, end, 1);
    let forgeries: Vec<(&str, Option<String>, Option<String>)> = vec![
        (
            "a change that the machine does not have",
            Some(text.clone() + &line(1, "forged")),
            None,
        ),
        (
            "a transition that has no such edge",
            none.map(|none| text.clone() + &line(1, none)),
            None,
        ),
        (
            "a revision that is skipped",
            Some(text.clone() + &line(5, "forged")),
            None,
        ),
        (
            "a line that is no JSON",
            Some(text.clone() + "phase: done\n"),
            None,
        ),
        (
            "a line that is cut off",
            Some(text.clone() + &line(1, "forged")[..40]),
            None,
        ),
        (
            "a line, and a document to match",
            Some(text + &line(1, "forged")),
            Some(edited.clone()),
        ),
        ("a document alone", None, Some(edited)),
    ];
    let mut tried = 0;
    for (what, journal, document) in forgeries {
        if journal.is_none() && document.is_none() {
            continue;
        }
        held.project.restore().map_err(system)?;
        if let Some(journal) = journal {
            fs::write(held.journal_path(), journal).map_err(system)?;
        }
        if let Some(document) = document {
            fs::write(held.document_path(), document).map_err(system)?;
        }
        let said = held.project.stop().map_err(system)?;
        let now = phase(&held)?;
        if now == *ended {
            let what = format!("{what} took the loop to `{ended}`: {}", said.short());
            return Err(fail(&held, what));
        }
        tried += 1;
    }
    report
        .tried
        .push((Suite::Forged, format!("{tried} forgeries took the loop nowhere")));
    Ok(())
}

/// Returns the phase that the program itself says.
fn phase(held: &Loop<'_>) -> Result<String, Failure> {
    let said = held.project.person(&["status", &held.id, "--json"]);
    let said = said.map_err(|error| fail(held, error.to_string()))?;
    let shown: Json = serde_json::from_str(&said.out).unwrap_or_else(|_| json!({}));
    Ok(shown["loops"][0]["phase"].as_str().unwrap_or_default().to_owned())
}

fn fail(held: &Loop<'_>, what: String) -> Failure {
    held.failure(
        Suite::Forged,
        what,
        "believe a line only where an edge of the machine leads from the one before it",
    )
}
