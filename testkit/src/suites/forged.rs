//! What no change can have written counts for nothing: lines added to a journal, and a document edited by hand.

use std::fs;
use std::io;

use claudex_build::model::Held;

use super::Said;
use crate::error::Wrong;
use crate::runs::Loop;
use crate::search::Way;

/// Forges a journal in several ways, each time to a phase that ends the loop.
pub(crate) fn run(held: &mut Loop<'_>, _: &Way) -> Result<Said, Wrong> {
    let (setup, machine) = (held.setup, &held.setup.machine);
    held.project.stop()?;
    let before = held.journal()?;
    held.project.keep()?;
    // Where an honest stop leads from here.
    held.project.stop()?;
    let honest = phase(held)?;
    let last = before.changes.last().cloned().unwrap_or_default();
    let from = last["to"].as_str().unwrap_or_default().to_owned();
    let ends = machine.phases.iter().enumerate();
    let mut ends = ends.filter(|(_, phase)| phase.terminal && phase.name.value != honest);
    let Some((end, ended)) = ends
        .next()
        .map(|(at, phase)| (setup.stored(at), &phase.name.value))
    else {
        return Ok(Said::LeftOut("every end of the machine is one stop away"));
    };
    let holder = machine.holder(Held::Phase).unwrap_or_default();
    let line = |more: u64, what: &str| {
        let revision = last["revision"].as_u64().unwrap_or_default() + more;
        let mut line = last.clone();
        line["what"] = what.into();
        line["revision"] = revision.into();
        line["from"] = from.clone().into();
        line["to"] = end.into();
        line["fields"][holder] = end.into();
        if let Some(counter) = machine.holder(Held::Revision) {
            line["fields"][counter] = revision.into();
        }
        format!("{line}\n")
    };
    // A transition that has no edge from here to there.
    let edges = machine.edges();
    let none = machine.transition_names().into_iter().find(|name| {
        let mut edges = edges
            .iter()
            .filter(|edge| edge.declared.name.value == *name);
        !edges.any(|edge| setup.stored(edge.from) == from && setup.stored(edge.to) == end)
    });
    let text = String::from_utf8_lossy(&before.bytes).into_owned();
    let document = fs::read_to_string(held.document_path())?;
    let edited = document.replacen(&from, end, 1);
    let added = |line: &str| Some(text.clone() + line);
    let forgeries = [
        (
            "a change that the machine does not have",
            added(&line(1, "forged")),
            None,
        ),
        (
            "a transition that has no such edge",
            none.and_then(|none| added(&line(1, none))),
            None,
        ),
        (
            "a revision that is skipped",
            added(&line(5, "forged")),
            None,
        ),
        ("a line that is no JSON", added("phase: done\n"), None),
        (
            "a line that is cut off",
            added(&line(1, "forged")[..40]),
            None,
        ),
        (
            "a line, and a document to match",
            added(&line(1, "forged")),
            Some(&edited),
        ),
        ("a document alone", None, Some(&edited)),
    ];
    let mut tried = 0;
    for (what, journal, document) in forgeries {
        if journal.is_none() && document.is_none() {
            continue;
        }
        held.project.restore()?;
        if let Some(journal) = journal {
            fs::write(held.journal_path(), journal)?;
        }
        if let Some(document) = document {
            fs::write(held.document_path(), document)?;
        }
        let said = held.project.stop()?;
        if phase(held)? == *ended {
            return Err(format!("{what} took the loop to `{ended}`: {}", said.short()).into());
        }
        tried += 1;
    }
    Ok(Said::Tried(format!(
        "{tried} forgeries took the loop nowhere"
    )))
}

/// Returns the phase that the program itself says.
fn phase(held: &Loop<'_>) -> io::Result<String> {
    let (_, shown) = held.shown()?;
    Ok(shown["loops"][0]["phase"]
        .as_str()
        .unwrap_or_default()
        .to_owned())
}
