//! The catalogue as Markdown: a section for each behaviour, for `docs/behaviours.md`.

use std::fmt::Write as _;

use super::{CATALOGUE, Entry, Outcome, Turn};
use crate::model::Evidence;

/// A section for each behaviour: what it does, its parameters and outcomes, and an example.
pub fn markdown() -> String {
    let sections: Vec<String> = CATALOGUE.iter().map(section).collect();
    sections.join("\n")
}

fn section(entry: &Entry) -> String {
    let mut text = format!("## {}\n\n{}\n", entry.name, entry.doc);
    if entry.parameters().next().is_some() || entry.options || entry.personas {
        text.push_str("\n| parameter | | |\n|---|---|---|\n");
        for parameter in entry.parameters() {
            let needed = if entry.one_of.contains(&parameter.name) {
                let others: Vec<_> = entry
                    .one_of
                    .iter()
                    .map(|name| format!("`{name}`"))
                    .collect();
                format!("either {}", others.join(" or "))
            } else if entry.required.contains(parameter) {
                "required".to_owned()
            } else {
                "optional".to_owned()
            };
            let _ = writeln!(
                text,
                "| `{}` | {needed} | {} |",
                parameter.name, parameter.doc
            );
        }
        if entry.options {
            text.push_str(
                "| `options` | required | 2 to 4 of `{ label, description, then }`, where `then` names the transition \
                 that the answer takes |\n\
                 | `text` | optional | the transition that takes what the person types instead of choosing |\n",
            );
        }
    }
    if entry.personas {
        text.push_str("| `personas` | optional | names of `[personas.NAME]` that review here, in this order; absent: all of them |\n");
    }
    text.push_str("\n| outcome | when | names no transition |\n|---|---|---|\n");
    for outcome in entry.outcomes {
        let _ = writeln!(
            text,
            "| `{}` | {}{} | {} |",
            outcome.name,
            outcome.doc,
            evidence(outcome),
            without(outcome)
        );
    }
    match entry.turn {
        Turn::Free => {}
        Turn::Ends => text.push_str("\nIts transitions must let the turn end.\n"),
        Turn::GoesOn => {
            text.push_str("\nIts transitions must have words, and must not let the turn end.\n")
        }
    }
    let _ = write!(
        text,
        "\n{}\n\n```toml\n{}\n```\n",
        entry.details.trim(),
        entry.example.trim()
    );
    text
}

fn evidence(outcome: &Outcome) -> &'static str {
    match outcome.evidence {
        None => "",
        Some(Evidence::Reviewed) => "; its transitions may require `reviewed`",
        Some(Evidence::Settled) => "; its transitions may require `reviewed` or `settled`",
        Some(Evidence::Verified) => "; its transitions may require `verified`",
    }
}

fn without(outcome: &Outcome) -> String {
    if outcome.waits {
        return "it cannot: the loop waits".to_owned();
    }
    match (outcome.required, outcome.instead) {
        (true, _) => "an error".to_owned(),
        (false, Some(instead)) => format!("as `{instead}`"),
        (false, None) => "the loop waits".to_owned(),
    }
}
