//! `before_stop`: the transitions that a stop takes where the program finds violations. They are the hook's, from wherever they
//! leave, and need nothing that a stop does not have.

use super::Index;
use crate::diagnostic::Diagnostic;
use crate::model::Edge;

/// Returns the edges that `before_stop` names, as source and name. What they may not be is noted.
pub(super) fn before_stop<'m>(
    index: &Index<'m>,
    edges: &[Edge<'m>],
    found: &mut Vec<Diagnostic>,
) -> Vec<(usize, &'m str)> {
    let mut named = Vec::new();
    for name in &index.machine.before_stop {
        let of_name = edges
            .iter()
            .filter(|edge| edge.declared.name.value == name.value);
        let of_name: Vec<_> = of_name.collect();
        named.extend(of_name.iter().map(|edge| (edge.from, name.as_str())));
        let Some(declared) = of_name.first().map(|edge| edge.declared) else {
            continue;
        };
        let wrong = [
            (
                declared.by.first().map(|by| by.span.clone()),
                "only agents or persons take it",
            ),
            (
                declared.requires.as_ref().map(|needs| needs.span.clone()),
                "it requires evidence",
            ),
            (
                declared
                    .args
                    .first()
                    .map(|argument| argument.name.span.clone()),
                "it takes an argument",
            ),
        ];
        for (span, why) in wrong {
            let Some(span) = span else { continue };
            let message = format!("`before_stop` cannot take `{}`", name);
            let one = name.problem("before_stop", message);
            let help = "name a transition without `by`, `requires` and `args`; its message has what was found as `violations`";
            found.push(one.related(span, why).help(help));
        }
    }
    named
}
