//! The one way on: a transition's edge is chosen by its guards, checked for actor and evidence, and committed.
//!
//! Generated methods call this with the name of their transition. The edge is looked up in the machine's table once more,
//! so that not even a wrong adapter could take one that is not declared.

use crate::machine::guard::FieldError;
use crate::machine::table::{EdgeInfo, PhaseInfo};
use crate::machine::{Actor, EvidenceRecord, Raw, Refusal, Refused, Snapshot};
use crate::store::{Change, CommitError, JsonText, Value};

impl Raw {
    fn refused(self, refusal: Refusal) -> Refused<Self> {
        Refused::new(self, refusal)
    }

    /// Takes a transition: finds the edge whose guard holds, checks who takes it and what it needs, and commits by
    /// compare-and-swap.
    ///
    /// # Errors
    /// See [`Refusal`]; the loop is handed back.
    pub(crate) fn commit(
        self,
        transition: &'static str,
        arguments: &[(&'static str, Value)],
        evidence: Option<&EvidenceRecord>,
    ) -> Result<Self, Refused<Self>> {
        let edge = match self.choose(transition, arguments) {
            Ok(edge) => edge,
            Err(refusal) => return Err(self.refused(refusal)),
        };
        if let Err(refusal) = self.permits(edge, evidence) {
            return Err(self.refused(refusal));
        }
        let mut edits = match self.edits(edge, arguments) {
            Ok(edits) => edits,
            Err(problem) => return Err(self.refused(Refusal::Field(problem))),
        };
        let table = self.table();
        let (from, to) = (&table.phases[edge.from], &table.phases[edge.to]);
        let run = self
            .cause()
            .map(str::to_owned)
            .or_else(|| evidence.and_then(|evidence| evidence.run().map(str::to_owned)));
        let spec = table.state;
        let number = evidence.and_then(EvidenceRecord::findings);
        edits.extend(
            spec.fields
                .findings
                .zip(number)
                .map(|(name, number)| (name.to_owned(), Value::Count(number))),
        );
        let text = &self.given().text;
        let append = (!text.is_empty()).then(|| text.join("\n"));
        let begins_visit = edge.from != edge.to || self.advances(&edits, to);
        let change = Change {
            what: transition.to_owned(),
            by: self.actor().to_string(),
            from: Some(from.stored.to_owned()),
            to: Some(to.stored.to_owned()),
            edits,
            append,
            run,
            evidence: evidence.and_then(|evidence| JsonText::of(evidence).ok()),
            begins_visit,
        };
        match self.store().commit(self.record(), change) {
            Ok(record) => Ok(self.moved(record, edge)),
            Err(error) => Err(self.refused(refusal_of(error))),
        }
    }

    /// Returns whether edits begin another round of a phase.
    fn advances(&self, edits: &[(String, Value)], phase: &PhaseInfo) -> bool {
        let round = phase
            .on_stop
            .as_ref()
            .and_then(|review| review.parameter("round"));
        let after = edits.iter().find(|(name, _)| Some(name.as_str()) == round);
        after.is_some_and(|(name, value)| value.as_count() != Some(self.count(name)))
    }

    /// Returns what taking an edge changes: what it sets, and the fields that begin or cease to exist on its way.
    fn edits(
        &self,
        edge: &EdgeInfo,
        arguments: &[(&'static str, Value)],
    ) -> Result<Vec<(String, Value)>, FieldError> {
        let table = self.table();
        let mut edits = Vec::new();
        for (name, update) in edge.set {
            if let Some(value) = update.value(table, self.record(), arguments)? {
                let value = table
                    .field(name)
                    .map_or(value.clone(), |field| field.written(value));
                edits.push(((*name).to_owned(), value));
            }
        }
        for field in table.fields {
            let value = match (field.exists_in(edge.from), field.exists_in(edge.to)) {
                (false, true) => field.first(),
                (true, false) => Value::Null,
                (true, true) | (false, false) => continue,
            };
            if !edits.iter().any(|(name, _)| name == field.name) {
                edits.push((field.name.to_owned(), value));
            }
        }
        edits.extend_from_slice(&self.given().edits);
        Ok(edits)
    }

    /// Returns the edge of a transition that is open here.
    fn choose(
        &self,
        transition: &'static str,
        arguments: &[(&'static str, Value)],
    ) -> Result<&'static EdgeInfo, Refusal> {
        let (table, given) = (self.table(), Some(arguments));
        let edges: Vec<_> = table.edges_at(transition, self.phase()).collect();
        if edges.is_empty() {
            return Err(Refusal::Undeclared {
                transition,
                phase: self.record().phase().to_owned(),
                legal: table.legal_in(transition).join(", "),
            });
        }
        for edge in &edges {
            let open = match &edge.when {
                None => true,
                Some(guard) => guard
                    .holds(table, self.record(), given)
                    .map_err(Refusal::Field)?,
            };
            if open {
                return Ok(edge);
            }
        }
        let mut values = Vec::new();
        for guard in edges.iter().filter_map(|edge| edge.when.as_ref()) {
            guard.seen(table, self.record(), given, &mut values);
        }
        Err(Refusal::Guard {
            transition,
            phase: table.phases[self.phase()].name,
            needs: edges
                .iter()
                .map(|edge| edge.when_text)
                .collect::<Vec<_>>()
                .join(", or "),
            values: values.join(", "),
        })
    }

    /// Checks that this actor may take the edge, with this evidence.
    fn permits(
        &self,
        edge: &'static EdgeInfo,
        evidence: Option<&EvidenceRecord>,
    ) -> Result<(), Refusal> {
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
            Some(evidence) if evidence.loop_id() != self.id().as_str() => {
                format!("what was shown belongs to loop {}", evidence.loop_id())
            }
            Some(evidence) if !evidence.satisfies(requirement) => {
                format!("only {} was shown", evidence.kind())
            }
            Some(evidence) if evidence.revision_bound() != self.record().revision() => {
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

fn refusal_of(error: CommitError) -> Refusal {
    match error {
        CommitError::Stale {
            expected_phase,
            found_phase,
            expected_revision,
            found_revision,
        } => Refusal::Stale {
            expected: Snapshot {
                phase: expected_phase,
                revision: expected_revision,
            },
            found: Snapshot {
                phase: found_phase,
                revision: found_revision,
            },
        },
        CommitError::Store(error) => Refusal::Store(error),
    }
}
