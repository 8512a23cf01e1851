//! Graphviz's language, without colours of its own where no coverage is drawn.

use std::fmt::Write as _;

use super::picture::{Arrow, Kind, Picture, Shape};

pub(super) fn write(picture: &Picture) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "digraph {} {{", quoted(&picture.name));
    text.push_str("    graph [rankdir=TB, nodesep=0.5, ranksep=0.6, fontname=\"Helvetica\"]\n");
    text.push_str("    node [shape=box, style=rounded, fontname=\"Helvetica\"]\n");
    text.push_str("    edge [fontname=\"Helvetica\", fontsize=11]\n");
    if let Some(coverage) = picture.coverage() {
        let mut lines = String::new();
        for line in std::iter::once(&coverage).chain(&picture.missed) {
            lines.push_str(&escaped(line));
            lines.push_str("\\l");
        }
        let _ = writeln!(
            text,
            "    graph [labelloc=b, labeljust=l, label=\"{lines}\"]"
        );
    }
    for (at, (mode, _)) in picture.entries.iter().enumerate() {
        let _ = writeln!(
            text,
            "    mode_{at} [label={}, shape=ellipse, style=dotted]",
            quoted(mode)
        );
    }
    for phase in &picture.phases {
        let form = match phase.shape {
            Shape::Phase => "",
            Shape::Terminal => ", peripheries=2",
            Shape::Anywhere => ", shape=ellipse, style=dotted",
        };
        let stop = match phase.stop.as_str() {
            "" => String::new(),
            stop => format!("\\n{}", escaped(stop)),
        };
        let (id, tip) = (&phase.id, quoted(&phase.doc));
        let shown = escaped(&phase.name);
        let _ = writeln!(
            text,
            "    {id} [label=\"{shown}{stop}\", tooltip={tip}{form}]"
        );
    }
    for (at, (_, start)) in picture.entries.iter().enumerate() {
        let _ = writeln!(text, "    mode_{at} -> {}", picture.phases[*start].id);
    }
    for arrow in &picture.arrows {
        let (from, to) = (&picture.phases[arrow.from].id, &picture.phases[arrow.to].id);
        let mut style = match arrow.kind {
            Kind::Hook => String::new(),
            Kind::Agent => ", style=dotted".to_owned(),
            Kind::Person | Kind::Answer => ", style=dashed".to_owned(),
        };
        match arrow.taken {
            None => {}
            Some(true) => style.push_str(", color=\"#2f8f4e\", fontcolor=\"#2f8f4e\""),
            Some(false) => {
                style = ", style=dashed, color=\"#cf3b3b\", fontcolor=\"#cf3b3b\"".to_owned()
            }
        }
        let label = label(arrow);
        let _ = writeln!(text, "    {from} -> {to} [label=\"{label}\"{style}]");
    }
    text.push_str("}\n");
    text
}

/// A line for each edge, set flush left, with its guard below it.
fn label(arrow: &Arrow) -> String {
    let mut lines = String::new();
    for label in &arrow.labels {
        lines.push_str(&escaped(&label.head()));
        lines.push_str("\\l");
        if let Some(guard) = &label.guard {
            lines.push_str("  ");
            lines.push_str(&escaped(guard));
            lines.push_str("\\l");
        }
    }
    lines
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

/// Text inside a quoted string: a backslash would begin an escape there.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
