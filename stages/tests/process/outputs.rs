//! A pipeline from its start to its end, as its user and its agent read it.

use serde_json::Value;

use crate::questions::question;
use crate::support::{Project, Ran};
use crate::transcript::Transcript;

/// The pipeline's project, and what was called in it.
struct Life {
    project: Project,
    calls: Transcript,
}

impl Life {
    fn user(&mut self, words: &[&str]) {
        let ran = self.project.person(words);
        self.ran(&words.join(" "), ran);
    }

    fn agent(&mut self, line: &str) {
        let ran = self.project.agent(&[line]);
        self.ran(&format!("{line} (the agent)"), ran);
    }

    fn ran(&mut self, line: &str, Ran(output): Ran) {
        self.calls
            .add(&format!("stages {line}"), &(output.out + &output.err));
    }

    fn stop(&mut self) {
        let (decision, message) = self.project.stop(&Value::Null);
        self.calls.add(&format!("a stop: {decision}"), &message);
    }
}

#[test]
fn pipeline_reads_well_from_start_to_end() {
    let project = Project::empty();
    let mut life = Life {
        calls: Transcript::new(&[(project.root.to_str().unwrap(), "/project")]),
        project,
    };
    life.user(&["status"]);
    let started = life.project.agent(&["start"]);
    let listed = life.project.person(&["list", "--json"]).done();
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    life.calls.names.push((id.clone(), "PIPELINE"));
    life.ran("start (the agent)", started);
    life.stop();
    life.project.complete(1, "");
    // A question of the stage.
    life.project.summary("needs-user-input", &question(2, ""));
    life.agent("report");
    life.stop();
    life.user(&["answer", "Way 2"]);
    // A broken summary, twice, and then none.
    let summary = life.project.summary("completed", "");
    life.project.write(&summary, "---\nstage: [\n---\n");
    life.agent("report");
    life.agent("report");
    life.stop();
    life.user(&["status"]);
    life.user(&["answer", "Retry"]);
    life.agent("recover");
    life.user(&["answer", "Retry"]);
    life.project.complete(2, "");
    life.project.complete(3, "");
    // A pause outside of the client.
    let pause = "  pause_type: exit_cli\n  block_reason: Mark the boxes.\n";
    life.project.summary("needs-user-input", pause);
    life.agent("report");
    life.stop();
    life.user(&["resume"]);
    life.project.complete(4, "");
    life.project.complete(5, "");
    life.project.complete(6, "");
    life.stop();
    life.project.summary("completed", "");
    life.agent("report");
    life.stop();
    life.user(&["status"]);
    life.user(&["journal", &id]);
    insta::assert_snapshot!(life.calls.text);
}
