//! The commit of an edge: checks the actor and the requirements, then writes by compare-and-swap.

use serde_json::Value as Json;

use crate::machine::edge::EdgeAt;
use crate::machine::table::PhaseInfo;
use crate::machine::{Actor, EvidenceRecord, Raw, Refusal, Refused, Snapshot};
use crate::store::{Change, FieldValue as _, Fields, StoreError};

impl Raw {
    /// Commits an edge that is open, with the fields that it changes.
    pub(super) fn commit(
        self,
        edge: EdgeAt,
        args: Option<Json>,
        mut edits: Fields,
        evidence: Option<&EvidenceRecord>,
    ) -> Result<Self, Refused<Self>> {
        if let Err(refusal) = self.permits(edge, evidence) {
            return Err(Refused::new(self, refusal));
        }
        edits.extend(self.0.edits.clone());
        let table = self.table();
        let from = &table.phases[edge.from];
        let to = &table.phases[edge.to];
        let findings = evidence.and_then(|evidence| evidence.findings);
        if let Some((name, number)) = table.state.fields.findings.zip(findings) {
            edits.insert(name.to_owned(), number.into());
        }
        let text = &self.0.text;
        let run = evidence.and_then(|evidence| evidence.run.clone());
        let change = Change {
            args,
            from: Some(from.stored.to_owned()),
            to: Some(to.stored.to_owned()),
            begins_visit: edge.from != edge.to || self.begins_round(&edits, to),
            edits,
            append: (!text.is_empty()).then(|| text.join("\n")),
            run: self.0.run.clone().or(run),
            evidence: evidence.and_then(|evidence| serde_json::to_value(evidence).ok()),
            ..Change::bare(edge.transition, &self.actor().to_string())
        };
        match self.store().commit(self.record(), change) {
            Ok(record) => Ok(self.moved(record, edge)),
            Err(StoreError::Stale { found }) => {
                let expected = Snapshot {
                    phase: from.stored.to_owned(),
                    revision: self.record().revision(),
                };
                Err(Refused::new(self, Refusal::Stale { expected, found }))
            }
            Err(error) => Err(Refused::new(self, Refusal::Store(error))),
        }
    }

    /// Returns whether edits begin another round of a phase.
    fn begins_round(&self, edits: &Fields, phase: &PhaseInfo) -> bool {
        let round = phase
            .on_stop
            .and_then(|behaviour| behaviour.parameter("round"));
        let after = round.and_then(|round| Some((round, edits.get(round)?)));
        after.is_some_and(|(round, value)| value.as_count() != Some(self.count(round)))
    }

    /// Checks that this actor may take the edge, with this evidence.
    fn permits(&self, edge: EdgeAt, evidence: Option<&EvidenceRecord>) -> Result<(), Refusal> {
        let allowed = if edge.by.is_empty() {
            self.actor() == Actor::Hook
        } else {
            edge.by.contains(&self.actor())
        };
        if !allowed {
            let names: Vec<String> = edge.by.iter().map(ToString::to_string).collect();
            let allowed = if names.is_empty() {
                "only the Stop hook takes it".to_owned()
            } else {
                format!("only for {}", names.join(" or "))
            };
            return Err(Refusal::Actor {
                transition: edge.transition,
                actor: self.actor(),
                allowed,
            });
        }
        let Some(requirement) = edge.requires else {
            return Ok(());
        };
        let problem = match evidence {
            None => "none was shown".to_owned(),
            Some(evidence) if evidence.loop_id != self.id().as_str() => {
                format!("what was shown belongs to loop {}", evidence.loop_id)
            }
            Some(evidence) if !evidence.satisfies(requirement) => {
                format!("only {} was shown", evidence.kind)
            }
            Some(evidence) if evidence.revision != self.record().revision() => {
                "what was shown was gathered at another revision of the loop".to_owned()
            }
            Some(_) => return Ok(()),
        };
        Err(Refusal::Evidence {
            transition: edge.transition,
            requirement,
            problem,
        })
    }
}
