//! Loops that another version of the machine wrote: accepted, migrated, refused, whatever crashes, races and hostile files
//! do in between.

mod migrated;
mod refused;
mod shapes;

use camino::Utf8PathBuf;

use crate::store::fault::{Point, crash_at};
use crate::store::shape::{Shape, hash_of};
use crate::store::testing::{SPEC, change, folder, home, plan, word};
use crate::store::{Edit, Editable, Entry, Record, Repair, StateSpec, Store, StoreError, Value};

/// The machine of `testing`, as a shape.
const OLD: &str = r#"{"shape":1,"machine":"plan","state":{"folder":".claude/claudex","extension":"state","form":"lines","ids":"stamp"},"fields":[
{"name":"mode","kind":"held","holds":"mode"},
{"name":"phase","kind":"held","holds":"phase"},
{"name":"topic","kind":"text","initial":""},
{"name":"round","kind":"count","initial":1,"owned":true},
{"name":"review_id","kind":"held","holds":"id"},
{"name":"repo_root","kind":"held","holds":"root"},
{"name":"session_id","kind":"held","holds":"session"},
{"name":"last_updated_at","kind":"held","holds":"updated"},
{"name":"decision_signal","kind":"one_of","words":["none","max-reached"],"initial":"none","owned":true},
{"name":"revision","kind":"held","holds":"revision"},
{"name":"machine","kind":"held","holds":"machine"},
{"name":"graph_hash","kind":"held","holds":"graph-hash"}
],"phases":[
{"name":"drafting","stored":"drafting","terminal":false},
{"name":"done","stored":"done","terminal":true},
{"name":"cancelled","stored":"cancelled","terminal":true}
],"edges":[]}"#;

fn edited(edits: &[(&str, &str)]) -> String {
    edits.iter().fold(OLD.to_owned(), |json, (from, to)| {
        assert_eq!(json.matches(from).count(), 1, "{from:?}");
        json.replace(from, to)
    })
}

/// A machine of a shape, which owns what the shape says.
fn spec(json: &str, migrations: &str) -> &'static StateSpec {
    let shape = Shape::read(json.as_bytes()).unwrap();
    let leak = |text: &str| -> &'static str { Box::leak(text.to_owned().into_boxed_str()) };
    let list = |texts: Vec<&'static str>| -> &'static [&'static str] {
        Box::leak(texts.into_boxed_slice())
    };
    let owned = shape.fields.iter().filter(|field| field.owned);
    let terminal = shape.phases.iter().filter(|phase| phase.terminal);
    let nulls = shape.nulls().into_iter();
    let nulls: Vec<_> = nulls
        .map(|(field, value)| (leak(&field), leak(&value.to_plain())))
        .collect();
    Box::leak(Box::new(StateSpec {
        graph_hash: leak(&hash_of(json.as_bytes())),
        shape: leak(json),
        migrations: leak(migrations),
        owned: list(owned.map(|field| leak(&field.name)).collect()),
        nulls: Box::leak(nulls.into_boxed_slice()),
        terminal: list(terminal.map(|phase| leak(&phase.stored)).collect()),
        ..SPEC
    }))
}

fn old() -> &'static StateSpec {
    spec(OLD, "")
}

/// The same machine with `drafting` as `writing`, `round` as `turn`, a word renamed, and a field of its own.
const RENAMED: [(&str, &str); 4] = [
    (
        "{\"name\":\"drafting\",\"stored\":\"drafting\"",
        "{\"name\":\"writing\",\"stored\":\"in-writing\"",
    ),
    ("\"name\":\"round\"", "\"name\":\"turn\""),
    ("\"max-reached\"", "\"spent\""),
    (
        "{\"name\":\"topic\"",
        "{\"name\":\"fast\",\"kind\":\"flag\",\"initial\":false},\n{\"name\":\"topic\"",
    ),
];

const ENTRY: &str = r#"[{"from":["OLD"],"phases":{"drafting":"writing"},"fields":{"round":"turn"},
    "words":{"decision_signal":{"max-reached":"spent"}},"set":{"fast":true}}]"#;

fn entry(text: &str) -> String {
    text.replace("OLD", &hash_of(OLD.as_bytes()))
}

fn renamed() -> &'static StateSpec {
    spec(&edited(&RENAMED), &entry(ENTRY))
}

/// A loop of the old machine, and the same folder as another machine sees it.
struct Case {
    _kept: tempfile::TempDir,
    old: Store,
    record: Record,
}

impl Case {
    fn new() -> Self {
        Self::of(old())
    }

    fn of(spec: &'static StateSpec) -> Self {
        let (kept, root) = folder();
        let old = Store::at(root.join(SPEC.folder), root.clone(), spec, home(&root));
        let record = old.start(plan()).unwrap();
        Self {
            _kept: kept,
            old,
            record,
        }
    }

    fn as_of(&self, spec: &'static StateSpec) -> Store {
        Store::at(
            self.old.folder().to_owned(),
            self.old.root().to_owned(),
            spec,
            self.old.home().clone(),
        )
    }

    fn text(&self) -> String {
        std::fs::read_to_string(self.old.path_of(self.record.id())).unwrap()
    }

    fn shape_path(&self) -> Utf8PathBuf {
        let hash = self.old.spec().graph_hash;
        self.old.folder().join(format!("machines/{hash}.json"))
    }

    /// What the journal's changes were, oldest first.
    fn changes(&self) -> Vec<String> {
        let entries = self.old.journal(self.record.id()).unwrap();
        entries
            .into_iter()
            .filter_map(|entry| match entry {
                Entry::Change(change) => Some(format!("{} by {}", change.what, change.by)),
                Entry::Note(_) => None,
            })
            .collect()
    }

    /// The reason for which a machine refuses the loop, having changed nothing.
    fn refused(&self, spec: &'static StateSpec) -> String {
        let before = (self.text(), self.changes());
        let error = self.as_of(spec).open(self.record.id()).unwrap_err();
        assert_eq!((self.text(), self.changes()), before, "nothing was changed");
        match error {
            StoreError::OtherGraph {
                why,
                found,
                expected,
                machine,
                ..
            } => {
                assert_eq!(
                    (found.as_str(), expected, machine),
                    (self.old.spec().graph_hash, spec.graph_hash, "plan")
                );
                why
            }
            other => panic!("{other}"),
        }
    }
}

/// A machine that differs in what loops on disk go on with.
fn safe() -> &'static StateSpec {
    spec(&edited(&RENAMED[3..]), "")
}

/// One without the phase that the loop is in.
fn without() -> &'static StateSpec {
    let phase = "{\"name\":\"drafting\",\"stored\":\"drafting\",\"terminal\":false},\n";
    let other = "{\"name\":\"waiting\",\"stored\":\"waiting\",\"terminal\":false},\n";
    spec(&edited(&[(phase, other)]), "")
}

#[test]
fn a_safe_change_is_accepted_and_the_next_change_takes_the_loop_over() {
    let case = Case::new();
    let (new, before) = (case.as_of(safe()), case.text());
    let listed = new.list().remove(0);
    assert!(listed.ours && listed.problem.is_none(), "{listed:?}");
    let opened = new.open(case.record.id()).unwrap();
    assert_eq!(
        (opened.record.revision(), opened.repairs.as_slice()),
        (1, &[][..])
    );
    assert_eq!(case.text(), before, "as it is");
    assert_eq!(case.changes(), ["start by test"]);

    let end = change("end", "drafting", "done", &[]);
    new.commit(&opened.record, end).unwrap();
    assert!(
        case.text()
            .contains(&format!("graph_hash: {}", new.spec().graph_hash))
    );
    let written = case
        .old
        .folder()
        .join(format!("machines/{}.json", new.spec().graph_hash));
    assert_eq!(
        std::fs::read_to_string(written).unwrap(),
        new.spec().shape,
        "so that the next version knows this one"
    );
    // The way back is safe, too: the old program reads what the new one wrote.
    assert_eq!(
        case.old.open(case.record.id()).unwrap().record.phase(),
        "done"
    );
}

#[test]
fn a_loop_of_another_version_is_healed_as_ever() {
    let case = Case::new();
    let id = case.record.id().clone();
    let new = case.as_of(safe());
    std::fs::write(
        case.old.path_of(&id),
        case.text().replace("round: 1", "round: 9"),
    )
    .unwrap();
    let opened = new.open(&id).unwrap();
    assert!(
        matches!(&opened.repairs[..], [Repair::EditUndone { fields, .. }] if fields == &["round"])
    );
    std::fs::remove_file(case.old.path_of(&id)).unwrap();
    assert!(matches!(
        new.open(&id).unwrap().repairs[..],
        [Repair::Rebuilt { .. }]
    ));
    let record = case.old.open(&id).unwrap().record;
    let on = change("on", "drafting", "drafting", &[("round", Value::Count(2))]);
    crash_at(Point::Journaled, || case.old.commit(&record, on));
    let opened = new.open(&id).unwrap();
    assert!(matches!(
        opened.repairs[..],
        [Repair::RolledForward {
            from: Some(1),
            to: 2
        }]
    ));
    assert_eq!(opened.record.count("round"), Some(2));
}

#[test]
fn a_loop_that_was_over_by_its_own_machine_is_over() {
    let case = Case::new();
    let end = change("end", "drafting", "done", &[]);
    case.old.commit(&case.record, end).unwrap();
    // Its last phase is not known to this one, which refuses it for that.
    let done = "{\"name\":\"done\",\"stored\":\"done\",\"terminal\":true},\n";
    let new = case.as_of(spec(&edited(&[(done, "")]), ""));
    let listed = new.list().remove(0);
    assert!(listed.terminal && listed.problem.is_some(), "{listed:?}");
    new.start(plan()).unwrap();
    assert_eq!(case.changes().len(), 2, "nor is it touched");
}

#[test]
fn a_start_leaves_loops_that_are_over_as_they_are() {
    let case = Case::new();
    let end = change("end", "drafting", "done", &[]);
    case.old.commit(&case.record, end).unwrap();
    let new = case.as_of(renamed());
    assert!(new.list()[0].ours && new.list()[0].terminal);
    new.start(crate::store::StartPlan {
        now: jiff::Timestamp::now(),
        stale_after: None,
        by: "test".into(),
        id: None,
        fields: |_: &_| vec![("phase".into(), word("in-writing"))],
    })
    .unwrap();
    assert_eq!(case.changes(), ["start by test", "end by hook"]);
    assert_eq!(new.open(case.record.id()).unwrap().record.phase(), "done");
}

#[test]
fn swept_loops_come_back_as_ours_and_shapes_stay() {
    for (spec, lines) in [(safe(), 2), (renamed(), 3)] {
        let case = Case::new();
        let id = case.record.id().clone();
        let later = std::time::SystemTime::now() + std::time::Duration::from_secs(7200);
        let new = case.as_of(spec);
        let swept = new
            .sweep(later, std::time::Duration::from_secs(3600), false)
            .unwrap();
        assert_eq!(swept.moved, std::slice::from_ref(&id));
        assert!(case.shape_path().is_file());
        assert!(new.swept()[0].ours, "{:?}", new.swept());
        let record = new.bring_back(&id).unwrap();
        assert_eq!(record.spec().graph_hash, spec.graph_hash);
        assert_eq!(case.changes().len(), lines);
    }
}

#[test]
fn a_change_of_what_null_means_alone_leaves_every_value() {
    let null = |value: &str| {
        let plain = "{\"name\":\"round\",\"kind\":\"count\"";
        spec(
            &edited(&[(plain, &format!("{plain},\"null\":{value}"))]),
            "",
        )
    };
    let edits = &[Edit {
        field: "round",
        takes: Editable::Count(0, 99),
    }];
    let case = Case::of(null("1"));
    assert!(case.text().contains("\nround: null\n"), "{}", case.text());
    let id = case.record.id().clone();
    for other in [null("7"), old()] {
        let open = Box::leak(Box::new(StateSpec { edits, ..*other }));
        for spec in [other, open] {
            let opened = case.as_of(spec).open(&id).unwrap();
            assert_eq!(
                (opened.record.count("round"), opened.repairs),
                (Some(1), Vec::new())
            );
        }
    }
    let seven = case.as_of(null("7"));
    let held = seven.open(&id).unwrap().record;
    let record = seven
        .commit(&held, change("on", "drafting", "drafting", &[]))
        .unwrap();
    assert!(case.text().contains("\nround: 1\n"), "{}", case.text());
    let on = change("on", "drafting", "drafting", &[("round", Value::Count(7))]);
    seven.commit(&record, on).unwrap();
    assert!(case.text().contains("\nround: null\n"), "{}", case.text());
    for spec in [null("1"), old()] {
        let opened = case.as_of(spec).open(&id).unwrap();
        assert_eq!(
            (opened.record.count("round"), opened.repairs),
            (Some(7), Vec::new())
        );
    }
}
