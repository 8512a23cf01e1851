//! A machine that counts, for measurements of the store without generated code.

use claudex_loop::store::{Active, EngineFields, Form, IdForm, StateSpec};

pub(crate) static SPEC: StateSpec = StateSpec {
    machine: "counter",
    program: "claudex-loop",
    graph_hash: "00ff00ff",
    folder: ".loops",
    folder_env: None,
    file: None,
    extension: "state",
    form: Form::Lines,
    ids: IdForm::Stamp,
    active: Active::One,
    fields: EngineFields {
        phase: "phase",
        id: "id",
        revision: "revision",
        machine: "machine",
        session: "session",
        root: "root",
        mode: None,
        started: None,
        started_epoch: None,
        updated: None,
        graph_hash: Some("graph_hash"),
        visit: None,
        findings: None,
        run: None,
    },
    declared: &[],
    terminal: &["over", "cancelled"],
};
