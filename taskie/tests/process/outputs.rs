//! A plan from its start to its end, as its user and its agent read it.

use crate::support::{ID, Project, Ran};
use crate::transcript::Transcript;

/// The plan's project, and what was called in it.
struct Life {
    project: Project,
    calls: Transcript,
}

impl Life {
    fn ran(&mut self, call: &str, ran: Ran) {
        self.calls.add(call, &(ran.0.out + &ran.0.err));
    }

    fn user(&mut self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        self.ran(&format!("taskie {line}"), self.project.person(&words));
    }

    fn stop(&mut self) {
        let (decision, message) = self.project.stop();
        self.calls.add(&format!("a stop: {decision}"), &message);
    }

    fn review(&mut self, severity: Option<&str>) {
        self.ran("taskie review (the agent)", self.project.review(severity));
    }
}

#[test]
fn plan_reads_well_from_start_to_end() {
    let project = Project::new();
    project.allow("test -e README.md");
    let mut life = Life {
        calls: Transcript::new(&[(project.root.to_str().unwrap(), "/project")]),
        project,
    };
    life.user("status");
    let started = life
        .project
        .slash("new-plan", &format!("max_reviews=1 {ID}"));
    life.ran("/taskie:new-plan max_reviews=1 billing", started);
    life.stop();
    let plan = "## Overview\n\nTake card payments.\n";
    life.project.write(ID, "plan.md", plan);
    life.stop();
    life.review(Some("Medium"));
    life.stop();
    let answer = "1. There is a hole: closed.\n";
    life.project.write(ID, "plan-post-review-1.md", answer);
    life.stop();
    life.user("status");
    life.user("accept billing");
    life.stop();
    life.project.tasks(ID, 1, 0);
    life.stop();
    life.review(None);
    life.user("list");
    life.stop();
    life.stop();
    life.project.tasks(ID, 1, 1);
    life.stop();
    life.review(None);
    life.stop();
    life.review(None);
    life.stop();
    life.user("status");
    life.user("journal billing");
    insta::assert_snapshot!(life.calls.text);
}
