//! Calls of the program in the project of a walk, and what they have changed.

use std::io;
use std::process::Command;

use claudex_build::model::Held;
use serde_json::{Value as Json, json};

use crate::journal::{Journal, Loop};
use crate::project::{Output, as_agent, feed};
use crate::report::{Wrong, ensure};
use crate::walk::{Move, Walk, list, text};

/// The variable with which a build with debug assertions kills itself before its Nth change of a file.
const KILL_AT: &str = "CLAUDEX_KILL_AT";
/// The value of each field that a start requires.
const TEXT: &str = "given-1";

impl Walk {
    /// Starts a loop in a mode. `kill_at` is the number of the change before which the program kills itself.
    pub(crate) fn start(&self, mode: usize, kill_at: Option<usize>) -> io::Result<Output> {
        let mut command = self.project.command(&["start"]);
        let modes = &self.json["modes"];
        if modes[1].is_object() {
            command.arg(text(&modes[mode]["name"]));
        }
        if self.json["state"]["ids"] == "name" {
            command.arg("--id=kit_1");
        }
        for field in list(&self.json["fields"]).filter(|field| field["at_start"] == "required") {
            let name = text(&field["name"]);
            let value = self.kit.texts.get(name).map_or(TEXT, String::as_str);
            command.arg(format!("--{}={value}", name.replace('_', "-")));
        }
        self.call(command, modes[mode]["by"][0] == "agent", kill_at)
    }

    /// Makes a move.
    pub(crate) fn make(
        &self,
        held: &Loop,
        one: &Move,
        kill_at: Option<usize>,
    ) -> io::Result<Output> {
        if let Move::StopWithFile { path } = one {
            let changes = held.journal()?.changes.len();
            let text = format!("# Written after {changes} changes\n");
            self.project.write(path, &text)?;
        }
        let (arguments, is_agent) = match one {
            Move::Stop | Move::StopWithFile { .. } => (["hook", "stop"], false),
            Move::Review => (["review", &held.id], true),
            Move::Verb { transition, by } => {
                ([&*transition.replace('_', "-"), &held.id], *by == "agent")
            }
        };
        self.call(self.project.command(&arguments), is_agent, kill_at)
    }

    /// Runs the program. Only the hook reads the event.
    fn call(
        &self,
        mut command: Command,
        is_agent: bool,
        kill_at: Option<usize>,
    ) -> io::Result<Output> {
        if is_agent {
            as_agent(&mut command);
        }
        command.envs(kill_at.map(|number| (KILL_AT, number.to_string())));
        feed(command, self.project.event().to_string().as_bytes())
    }

    /// Returns the loops of the project, as `list` prints them.
    pub(crate) fn loops(&self) -> Result<Vec<Json>, Wrong> {
        let listed = self.project.person(&["list", "--json"])?;
        Ok(serde_json::from_str(&listed.out)?)
    }

    /// Returns the index of the phase of a loop with this journal.
    pub(crate) fn phase(&self, journal: &Journal) -> Result<usize, Wrong> {
        let stored = journal.field(self.machine.holder(Held::Phase).unwrap_or_default());
        let mut phases = self.machine.phases.iter();
        let phase = phases.position(|phase| stored == phase.stored_name());
        phase.ok_or_else(|| format!("the journal has an unknown phase: {stored}").into())
    }

    /// Returns the edge that was taken since an earlier reading of the journal: nothing was rewritten, and at most one edge
    /// was taken, which the machine file has.
    pub(crate) fn edge_since(&self, held: &Loop, before: &Journal) -> Result<Option<Json>, Wrong> {
        let after = held.journal()?;
        let is_longer = after.bytes.starts_with(&before.bytes);
        ensure!(is_longer, "lines of the journal were changed");
        let edges = after.edges(before.changes.len());
        ensure!(edges.len() < 2, "expected one change, found {edges:?}");
        let stored = |phase: usize| self.machine.phases[phase].stored_name();
        for taken in &edges {
            let is_declared = self.machine.edges().iter().any(|edge| {
                taken["what"] == edge.declared.name.as_str()
                    && taken["from"] == stored(edge.from)
                    && taken["to"] == stored(edge.to)
            });
            ensure!(is_declared, "no edge of the machine file: {taken}");
        }
        Ok(edges.into_iter().next().cloned())
    }

    /// Compares the loop's document, journal and `status`.
    pub(crate) fn check(&self, held: &Loop) -> Result<(), Wrong> {
        let output = self.project.person(&["journal", &held.id])?;
        ensure!(output.code == Some(0), "`journal` says: {output}");
        let output = self.project.person(&["status", &held.id, "--json"])?;
        let status: Json = serde_json::from_str(&output.out).unwrap_or_default();
        let phase = self.phase(&held.journal()?)?;
        let phase = self.machine.phases[phase].name.as_str();
        ensure!(
            status["problems"] == json!([]) && status["loops"][0]["phase"] == phase,
            "expected `status` to show `{phase}` and no problem: {output}"
        );
        Ok(())
    }
}
