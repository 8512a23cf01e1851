//! A Mermaid flowchart. A state diagram would say more by its form, but its arrows cannot be dashed or coloured.

use std::fmt::Write as _;

use super::picture::{Arrow, Kind, Picture};

pub(super) fn write(picture: &Picture) -> String {
    let mut text = String::from("flowchart TD\n");
    for (at, (mode, _)) in picture.entries.iter().enumerate() {
        let _ = writeln!(text, "    mode_{at}([\"{}\"]):::mode", escaped(mode));
    }
    for phase in &picture.phases {
        let (name, shown) = (&phase.name, escaped(&phase.name));
        let _ = if phase.terminal {
            writeln!(text, "    phase_{name}[[\"{shown}\"]]:::terminal")
        } else {
            writeln!(
                text,
                "    phase_{name}(\"{shown}<br/><i>{}</i>\"):::phase",
                escaped(&phase.stop)
            )
        };
    }
    for (at, (_, start)) in picture.entries.iter().enumerate() {
        let _ = writeln!(text, "    mode_{at} --> phase_{}", picture.phases[*start].name);
    }
    for arrow in &picture.arrows {
        let (from, to) = (&picture.phases[arrow.from].name, &picture.phases[arrow.to].name);
        let line = match (arrow.kind, arrow.taken) {
            (Kind::Hook, None | Some(true)) => "-->",
            _ => "-.->",
        };
        let _ = writeln!(text, "    phase_{from} {line}|\"{}\"| phase_{to}", label(arrow));
    }
    if let Some(coverage) = picture.coverage() {
        let lines = std::iter::once(coverage).chain(picture.missed.iter().cloned());
        let lines: Vec<_> = lines.map(|line| escaped(&line)).collect();
        let _ = writeln!(text, "    legend[\"{}\"]:::legend", lines.join("<br/>"));
    }
    for (taken, colour) in [(true, "#2f8f4e"), (false, "#cf3b3b")] {
        let first = picture.entries.len();
        let links = picture
            .arrows
            .iter()
            .enumerate()
            .filter(|(_, arrow)| arrow.taken == Some(taken));
        let links: Vec<_> = links.map(|(at, _)| (first + at).to_string()).collect();
        if !links.is_empty() {
            let _ = writeln!(
                text,
                "    linkStyle {} stroke:{colour},color:{colour}",
                links.join(",")
            );
        }
    }
    text.push_str("    classDef mode fill:none,stroke-dasharray:2 3\n");
    text.push_str("    classDef terminal stroke-width:2px\n");
    text
}

/// A line for each edge, with its guard below it.
fn label(arrow: &Arrow) -> String {
    let who = match arrow.kind {
        Kind::Hook => "",
        Kind::Agent => " (agent)",
        Kind::Person => " (person)",
    };
    let lines = arrow.labels.iter().map(|label| {
        let head = escaped(&label.head());
        match &label.guard {
            Some(guard) => format!("{head}{who}<br/><i>{}</i>", escaped(guard)),
            None => format!("{head}{who}"),
        }
    });
    lines.collect::<Vec<_>>().join("<br/>")
}

/// Text inside Mermaid's quotes, where `#name;` stands for a character.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            'a'..='z'
            | 'A'..='Z'
            | '0'..='9'
            | ' '
            | '_'
            | '-'
            | '.'
            | ','
            | ':'
            | '('
            | ')'
            | '/'
            | '+'
            | '=' => {
                safe.push(character);
            }
            '<' => safe.push_str("#lt;"),
            '>' => safe.push_str("#gt;"),
            other => {
                let _ = write!(safe, "#{};", u32::from(other));
            }
        }
    }
    safe
}
