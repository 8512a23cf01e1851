//! The machine's graph as a Mermaid state diagram.

use std::fmt::Write as _;

use crate::model::{Edge, Machine};

/// `stateDiagram-v2`, one arrow per pair of phases, labelled with the transitions between them.
pub(super) fn mermaid(machine: &Machine, edges: &[Edge<'_>]) -> String {
    let phase = |index: usize| machine.phases[index].name.value.as_str();
    let mut text = String::from("stateDiagram-v2\n");
    for mode in &machine.modes {
        let _ = writeln!(text, "    [*] --> {}: {}", mode.start.value, mode.name.value);
    }
    let mut arrows: Vec<(usize, usize, Vec<&str>)> = Vec::new();
    for edge in edges {
        let name = edge.declared.name.value.as_str();
        match arrows
            .iter_mut()
            .find(|(from, to, _)| (*from, *to) == (edge.from, edge.to))
        {
            Some((_, _, names)) if names.contains(&name) => {}
            Some((_, _, names)) => names.push(name),
            None => arrows.push((edge.from, edge.to, vec![name])),
        }
    }
    for (from, to, names) in arrows {
        let _ = writeln!(
            text,
            "    {} --> {}: {}",
            phase(from),
            phase(to),
            names.join(", ")
        );
    }
    for phase in machine.phases.iter().filter(|phase| phase.terminal) {
        let _ = writeln!(text, "    {} --> [*]", phase.name.value);
    }
    text
}
