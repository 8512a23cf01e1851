//! Helpers of the tests of this module: a folder, a machine, a store.

use camino::Utf8PathBuf;

use serde_json::json;

use super::{
    Active, Beginning, Change, EngineFields, FieldInfo, FieldKind, Fields, Form, IdForm, Import,
    LoopId, Record, StateHome, StateSpec, Store, StoreError,
};

pub(crate) const TOPIC: FieldInfo = FieldInfo {
    kind: FieldKind::Text,
    quoted: true,
    ..held("topic")
};

pub(crate) const ROUND: FieldInfo = FieldInfo {
    kind: FieldKind::Count,
    owned: true,
    ..held("round")
};

pub(crate) const SIGNAL: FieldInfo = FieldInfo {
    kind: FieldKind::OneOf(&["none", "stalled"]),
    owned: true,
    ..held("decision_signal")
};

/// A field of the engine.
pub(crate) const fn held(name: &'static str) -> FieldInfo {
    FieldInfo {
        name,
        doc: "",
        kind: FieldKind::Engine,
        initial: || serde_json::Value::Null,
        at_start: false,
        required: false,
        within: None,
        key: None,
        null: None,
        owned: false,
        edit: None,
        quoted: false,
    }
}

pub(crate) static SPEC: StateSpec = StateSpec {
    machine: "plan",
    program: "claudex-loop",
    graph_hash: "0a1b2c3d",
    folder: ".claude/claudex",
    folder_env: Some("CLAUDEX_STATE_DIR"),
    file: None,
    extension: "state",
    form: Form::Lines,
    ids: IdForm::Stamp,
    active: Active::One,
    fields: EngineFields {
        phase: "phase",
        id: "review_id",
        revision: "revision",
        machine: "machine",
        session: "session_id",
        root: "repo_root",
        mode: Some("mode"),
        started: Some("started_at"),
        started_epoch: Some("started_at_epoch"),
        updated: Some("last_updated_at"),
        graph_hash: Some("graph_hash"),
        visit: None,
        findings: None,
        run: None,
    },
    declared: &[
        held("mode"),
        held("phase"),
        TOPIC,
        ROUND,
        held("review_id"),
        held("repo_root"),
        held("session_id"),
        held("started_at"),
        held("started_at_epoch"),
        held("last_updated_at"),
        SIGNAL,
        held("revision"),
        held("machine"),
        held("graph_hash"),
    ],
    terminal: &["done", "cancelled"],
};

/// A temporary folder and its path, in memory if possible, because each change is synced.
pub(crate) fn folder() -> (tempfile::TempDir, Utf8PathBuf) {
    let made = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    let path = Utf8PathBuf::try_from(made.path().canonicalize().unwrap()).unwrap();
    (made, path)
}

/// Returns the state home of a test's project.
pub(crate) fn home(root: &camino::Utf8Path) -> StateHome {
    StateHome::at(root.join("state-home"))
}

/// The test machine with documents of JSON.
pub(crate) static JSON: StateSpec = StateSpec {
    form: Form::Json,
    extension: "json",
    ..SPEC
};

/// The test machine with documents of frontmatter, with two fields below another key.
pub(crate) static FRONTMATTER: StateSpec = StateSpec {
    form: Form::Frontmatter,
    declared: &[
        TOPIC,
        FieldInfo {
            key: Some("loop.round"),
            ..ROUND
        },
        FieldInfo {
            key: Some("loop.phase"),
            ..held("phase")
        },
    ],
    extension: "md",
    ..SPEC
};

/// The test machine with several loops, whose documents are the user's own.
pub(crate) static OWN: StateSpec = StateSpec {
    folder: ".engine",
    file: Some("plans/{id}/state.yml"),
    ids: IdForm::Name,
    active: Active::Many,
    ..SPEC
};

/// A store in a folder that does not exist yet.
pub(crate) fn store() -> (tempfile::TempDir, Store) {
    store_of(&SPEC)
}

/// A store of another machine.
pub(crate) fn store_of(spec: &'static StateSpec) -> (tempfile::TempDir, Store) {
    let (made, root) = folder();
    (
        made,
        Store::at(root.join(spec.folder), root.clone(), spec, home(&root)),
    )
}

/// The fields of a new loop, as a generated start gives them.
pub(crate) fn fields() -> Fields {
    let fields = json!({
        "mode": "plan",
        "phase": "drafting",
        "topic": "fix: a \"b\"\n# c",
        "round": 1,
        "review_id": null,
        "session_id": "unknown",
        "last_updated_at": null,
        "decision_signal": "none",
    });
    fields.as_object().unwrap().clone()
}

/// The parts of a new loop.
pub(crate) struct StartPlan {
    pub(crate) id: Option<LoopId>,
    pub(crate) session: &'static str,
    pub(crate) fields: Fields,
    pub(crate) import: Option<Import>,
}

impl Store {
    pub(crate) fn begin(&self, plan: StartPlan) -> Result<Record, StoreError> {
        let beginning = Beginning {
            id: plan.id,
            ..Beginning::now(plan.session)
        };
        self.start(&beginning, "test", plan.fields, plan.import)
    }
}

pub(crate) fn plan() -> StartPlan {
    StartPlan {
        id: None,
        session: "unknown",
        fields: fields(),
        import: None,
    }
}

/// The id of a loop with a name.
pub(crate) fn id() -> LoopId {
    LoopId::parse("a", IdForm::Name).unwrap()
}

/// The parts of a new loop with that id.
pub(crate) fn named_plan() -> StartPlan {
    StartPlan {
        id: Some(id()),
        ..plan()
    }
}

/// A store with one loop.
pub(crate) fn started() -> (tempfile::TempDir, Store, Record) {
    let (made, store) = store();
    let record = store.begin(plan()).unwrap();
    (made, store, record)
}

pub(crate) fn change(what: &str, from: &str, to: &str, edits: &[(&str, u64)]) -> Change {
    let edits = edits.iter();
    Change {
        from: Some(from.into()),
        to: Some(to.into()),
        edits: edits
            .map(|(name, value)| ((*name).to_owned(), (*value).into()))
            .collect(),
        ..Change::new(what, "hook")
    }
}

/// Returns the path of the document that opening a loop replaced and kept.
pub(crate) fn kept_path(opened: &Record) -> &str {
    let [repair] = opened.repairs() else {
        panic!("{:?}", opened.repairs());
    };
    repair.rsplit("kept as ").next().unwrap()
}
