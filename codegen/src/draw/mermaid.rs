//! A Mermaid flowchart. A state diagram would say more by its form, but its arrows cannot be dashed or coloured.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::picture::{Arrow, Kind, Picture, Shape};

pub(super) fn write(picture: &Picture) -> String {
    let mut text = String::from("flowchart TD\n");
    for (at, (mode, _)) in picture.entries.iter().enumerate() {
        let _ = writeln!(text, "    mode_{at}([\"{}\"]):::mode", escaped(mode));
    }
    let groups = groups(&picture.arrows);
    let mut again: HashMap<usize, Vec<String>> = HashMap::new();
    for arrow in groups
        .iter()
        .flatten()
        .filter(|arrow| arrow.from == arrow.to)
    {
        again.entry(arrow.from).or_default().extend(labels(arrow));
    }
    for (at, phase) in picture.phases.iter().enumerate() {
        let (id, mut lines) = (&phase.id, vec![escaped(&phase.name)]);
        if !phase.stop.is_empty() {
            lines.push(format!("<i>{}</i>", escaped(&phase.stop)));
        }
        if let Some(own) = again.remove(&at) {
            lines.push("and again by:".to_owned());
            lines.extend(own);
        }
        let text_of = lines.join("<br/>");
        let _ = match phase.shape {
            Shape::Phase => writeln!(text, "    {id}(\"{text_of}\")"),
            Shape::Terminal => writeln!(text, "    {id}[[\"{text_of}\"]]:::terminal"),
            Shape::Anywhere => writeln!(text, "    {id}([\"{text_of}\"]):::mode"),
        };
    }
    for (at, (_, start)) in picture.entries.iter().enumerate() {
        let _ = writeln!(text, "    mode_{at} --> {}", picture.phases[*start].id);
    }
    for group in &groups {
        let Some(first) = group.first() else { continue };
        let (from, to) = (&picture.phases[first.from].id, &picture.phases[first.to].id);
        let solid = group
            .iter()
            .any(|arrow| arrow.kind == Kind::Hook && arrow.taken != Some(false));
        let line = if solid { "-->" } else { "-.->" };
        let labels: Vec<_> = group.iter().flat_map(|arrow| labels(arrow)).collect();
        let _ = if first.from == first.to {
            writeln!(text, "    {from} {line} {to}")
        } else {
            writeln!(text, "    {from} {line}|\"{}\"| {to}", labels.join("<br/>"))
        };
    }
    if let Some(coverage) = picture.coverage() {
        let lines = std::iter::once(coverage).chain(picture.missed.iter().cloned());
        let lines: Vec<_> = lines.map(|line| escaped(&line)).collect();
        let _ = writeln!(text, "    legend[\"{}\"]", lines.join("<br/>"));
    }
    for (taken, colour) in [(true, "#2f8f4e"), (false, "#cf3b3b")] {
        let first = picture.entries.len();
        let links = groups.iter().enumerate().filter(|(_, group)| {
            let of = |wanted| group.iter().any(|arrow| arrow.taken == Some(wanted));
            of(taken) && (!taken || !of(false))
        });
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

/// Arrows that are drawn as one: Mermaid puts all that lead from a box to itself on top of one another, and their labels
/// on top of other ones, so these stand in the box.
fn groups(arrows: &[Arrow]) -> Vec<Vec<&Arrow>> {
    let mut groups: Vec<Vec<&Arrow>> = Vec::new();
    let mut loops: HashMap<usize, usize> = HashMap::new();
    for arrow in arrows {
        if arrow.from != arrow.to {
            groups.push(vec![arrow]);
            continue;
        }
        let group = *loops.entry(arrow.from).or_insert(groups.len());
        match groups.get_mut(group) {
            Some(known) => known.push(arrow),
            None => groups.push(vec![arrow]),
        }
    }
    groups
}

/// A line for each edge, with its guard below it.
fn labels(arrow: &Arrow) -> impl Iterator<Item = String> + '_ {
    let who = match arrow.kind {
        Kind::Hook => "",
        Kind::Agent => " (verb)",
        Kind::Person => " (person)",
        Kind::Answer => " (answer)",
    };
    let never = if arrow.taken == Some(false) {
        " never"
    } else {
        ""
    };
    arrow.labels.iter().map(move |label| {
        let head = escaped(&label.head());
        match &label.guard {
            Some(guard) => format!("{head}{who}{never}<br/><i>{}</i>", escaped(guard)),
            None => format!("{head}{who}{never}"),
        }
    })
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
