//! Loops that another version of the machine wrote: accepted, migrated, refused, whatever crashes, races and hostile files
//! do in between.

use std::os::unix::fs::PermissionsExt as _;

use camino::Utf8PathBuf;

use crate::store::fault::{Point, crash_at};
use crate::store::shape::{Shape, hash_of};
use crate::store::testing::{SPEC, change, fields, folder, home, plan, word};
use crate::store::{Entry, Record, Repair, StartError, StateSpec, Store, StoreError, Value};

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
    let list = |texts: Vec<&'static str>| -> &'static [&'static str] { Box::leak(texts.into_boxed_slice()) };
    let owned = shape.fields.iter().filter(|field| field.owned);
    let terminal = shape.phases.iter().filter(|phase| phase.terminal);
    Box::leak(Box::new(StateSpec {
        graph_hash: leak(&hash_of(json.as_bytes())),
        shape: leak(json),
        migrations: leak(migrations),
        owned: list(owned.map(|field| leak(&field.name)).collect()),
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
fn a_start_writes_the_shape_once_for_its_owner_alone() {
    let case = Case::new();
    let path = case.shape_path();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), OLD);
    assert_eq!(
        std::fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    let end = change("cancel", "drafting", "cancelled", &[]);
    case.old.commit(&case.record, end).unwrap();
    case.old.start(plan()).unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().modified().unwrap(), written);

    // What was done to it is put right by the next start.
    let again = || {
        for listed in case.old.list().into_iter().filter(|one| !one.terminal) {
            let record = case.old.open(&listed.id).unwrap().record;
            let end = change("cancel", "drafting", "cancelled", &[]);
            case.old.commit(&record, end).unwrap();
        }
        case.old.start(plan()).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), OLD);
        assert!(!path.is_symlink());
    };
    std::fs::write(&path, "{").unwrap();
    again();
    std::fs::remove_file(&path).unwrap();
    std::fs::write(case.old.root().join("target"), "theirs").unwrap();
    std::os::unix::fs::symlink(case.old.root().join("target"), &path).unwrap();
    again();
    assert_eq!(
        std::fs::read_to_string(case.old.root().join("target")).unwrap(),
        "theirs"
    );
    assert_eq!(
        std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
        1,
        "nothing stands beside it"
    );
}

#[test]
fn a_start_that_fails_leaves_no_shape_behind() {
    let (_kept, root) = folder();
    let store = Store::at(root.join(SPEC.folder), root.clone(), old(), home(&root));
    let mut large = fields();
    large.push(("more".into(), Value::Text("x".repeat(2 << 20))));
    let failed = store.start(crate::store::StartPlan {
        now: jiff::Timestamp::now(),
        stale_after: None,
        by: "test".into(),
        id: None,
        fields: |_: &_| large,
    });
    assert!(matches!(
        failed,
        Err(StartError::Store(StoreError::Unwritable { .. }))
    ));
    assert!(!root.join(".claude").exists());
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
    assert_eq!(case.old.open(case.record.id()).unwrap().record.phase(), "done");
}

#[test]
fn a_loop_of_another_version_is_healed_as_ever() {
    let case = Case::new();
    let id = case.record.id().clone();
    let new = case.as_of(safe());
    std::fs::write(case.old.path_of(&id), case.text().replace("round: 1", "round: 9")).unwrap();
    let opened = new.open(&id).unwrap();
    assert!(matches!(&opened.repairs[..], [Repair::EditUndone { fields, .. }] if fields == &["round"]));
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
        [Repair::RolledForward { from: 1, to: 2 }]
    ));
    assert_eq!(opened.record.count("round"), Some(2));
}

#[test]
fn an_entry_migrates_a_loop_in_one_journaled_change() {
    let case = Case::new();
    let id = case.record.id().clone();
    let on = change(
        "on",
        "drafting",
        "drafting",
        &[
            ("round", Value::Count(2)),
            ("decision_signal", word("max-reached")),
        ],
    );
    case.old.commit(&case.record, on).unwrap();
    let new = case.as_of(renamed());
    let listed = new.list().remove(0);
    assert_eq!(
        (listed.ours, listed.phase.as_deref(), listed.terminal),
        (true, Some("in-writing"), false)
    );
    assert_eq!(case.changes().len(), 2, "listing writes nothing");

    let opened = new.open(&id).unwrap();
    let record = &opened.record;
    assert_eq!((record.revision(), record.phase()), (3, "in-writing"));
    assert_eq!(record.count("turn"), Some(2));
    assert_eq!(record.text("decision_signal").as_deref(), Some("spent"));
    assert_eq!(record.flag("fast"), Some(true));
    assert_eq!(case.changes()[2], "migrate by engine");
    let text = case.text();
    assert!(!text.contains("\nround:"), "{text}");
    assert!(
        text.contains("topic: \"fix: a"),
        "what it does not name stays: {text}"
    );

    assert_eq!(new.open(&id).unwrap().repairs, []);
    assert_eq!(case.changes().len(), 3, "once");
    assert!(matches!(case.old.open(&id), Err(StoreError::OtherGraph { .. })));
}

#[test]
fn what_a_person_edited_by_hand_before_a_migration_is_not_brought_in_by_it() {
    let case = Case::new();
    let id = case.record.id().clone();
    let text = case
        .text()
        .replace("round: 1", "round: 9")
        .replace("topic:", "# mine\ntopic:");
    std::fs::write(case.old.path_of(&id), text).unwrap();
    let opened = case.as_of(renamed()).open(&id).unwrap();
    assert!(matches!(&opened.repairs[..], [Repair::EditUndone { fields, .. }] if fields == &["round"]));
    assert_eq!(opened.record.count("turn"), Some(1));
    assert!(case.text().contains("# mine"), "a comment stays");
}

#[test]
fn a_crash_at_any_point_of_a_migration_leaves_it_whole_or_not_begun() {
    let whole = {
        let case = Case::new();
        case.as_of(renamed()).open(case.record.id()).unwrap();
        lines_without_times(&case.text())
    };
    for point in [Point::Prepared, Point::HalfLine, Point::Journaled, Point::Renamed] {
        let case = Case::new();
        let id = case.record.id().clone();
        let new = case.as_of(renamed());
        crash_at(point, || new.open(&id));
        let opened = new.open(&id).unwrap();
        assert_eq!(opened.record.phase(), "in-writing", "{point:?}");
        assert_eq!(
            case.changes(),
            ["start by test", "migrate by engine"],
            "{point:?}"
        );
        assert_eq!(lines_without_times(&case.text()), whole, "{point:?}");
        assert!(!case.old.folder().join("quarantine").exists(), "{point:?}");
        assert_eq!(new.open(&id).unwrap().repairs, [], "{point:?}");
    }
}

fn lines_without_times(text: &str) -> Vec<String> {
    let varies = ["review_id", "repo_root", "started_at", "last_updated_at"];
    let stays = |line: &&str| !varies.iter().any(|name| line.starts_with(name));
    text.lines().filter(stays).map(str::to_owned).collect()
}

#[test]
fn sixteen_that_open_the_same_loop_migrate_it_once() {
    let case = Case::new();
    let new = case
        .as_of(renamed())
        .with_deadline(std::time::Duration::from_secs(60));
    let id = case.record.id();
    let gate = std::sync::Barrier::new(16);
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                gate.wait();
                assert_eq!(new.open(id).unwrap().record.phase(), "in-writing");
            });
        }
    });
    assert_eq!(case.changes(), ["start by test", "migrate by engine"]);
}

#[test]
fn what_a_migration_took_from_a_version_does_not_go_back_to_it() {
    let case = Case::new();
    // Nothing unsafe lies between the two, so the old program would take the loop as it is.
    let with_a_note = [(
        "{\"name\":\"topic\"",
        "{\"name\":\"note\",\"kind\":\"text\",\"initial\":\"\"},\n{\"name\":\"topic\"",
    )];
    let later = spec(
        &edited(&with_a_note),
        &entry(r#"[{"from":["OLD"],"set":{"round":1}}]"#),
    );
    let (new, id) = (case.as_of(later), case.record.id());
    let mut held = new.open(id).unwrap().record;
    for round in 0..4 {
        let before = (case.text(), case.changes());
        let error = case.old.open(id).unwrap_err();
        assert!(
            matches!(&error, StoreError::OtherGraph { why, .. } if why.contains("nothing leads back")),
            "{error}"
        );
        let listed = case.old.list().remove(0);
        assert_eq!(listed.problem, Some(error.to_string()), "after {round} changes");
        assert_eq!((case.text(), case.changes()), before, "nothing was changed");
        held = new
            .commit(&held, change("revise", "drafting", "drafting", &[]))
            .unwrap();
    }
    let migrations = case
        .changes()
        .iter()
        .filter(|what| what.starts_with("migrate"))
        .count();
    assert_eq!(migrations, 1);
    // Who owns the old machine may still say how: an entry for the later one leads back.
    let back = spec(
        OLD,
        &format!(r#"[{{"from":["{}"],"set":{{}}}}]"#, later.graph_hash),
    );
    assert_eq!(case.as_of(back).open(id).unwrap().record.phase(), held.phase());
}

#[test]
fn a_loop_goes_through_its_entry_and_all_that_follow() {
    let case = Case::new();
    let chain = entry(
        r#"[{"from":["0000000000000000"],"phases":{"drafting":"wrong"},"set":{"topic":"wrong"}},
        {"from":["OLD"],"phases":{"drafting":"between"},"fields":{"round":"step"},"set":{"topic":"a"}},
        {"from":["1111111111111111"],"phases":{"between":"writing"},"fields":{"step":"turn"},"set":{"fast":true},
         "words":{"decision_signal":{"max-reached":"spent"}}}]"#,
    );
    let opened = case
        .as_of(spec(&edited(&RENAMED), &chain))
        .open(case.record.id())
        .unwrap();
    let record = opened.record;
    assert_eq!(
        (record.phase(), record.count("turn"), record.flag("fast")),
        ("in-writing", Some(1), Some(true))
    );
    assert_eq!(record.text("topic").as_deref(), Some("a"));
    assert_eq!(case.changes().len(), 2);
}

#[test]
fn two_fields_may_change_their_names_for_each_others() {
    let case = Case::new();
    let swap = entry(r#"[{"from":["OLD"],"fields":{"round":"topic","topic":"round"}}]"#);
    let json = edited(&[
        ("{\"name\":\"topic\",\"kind\":\"text\",\"initial\":\"\"}", "@"),
        (
            "{\"name\":\"round\",\"kind\":\"count\",\"initial\":1,\"owned\":true}",
            "{\"name\":\"round\",\"kind\":\"text\",\"initial\":\"\"}",
        ),
    ]);
    let json = json.replace(
        '@',
        "{\"name\":\"topic\",\"kind\":\"count\",\"initial\":1,\"owned\":true}",
    );
    let record = case
        .as_of(spec(&json, &swap))
        .open(case.record.id())
        .unwrap()
        .record;
    assert_eq!(record.count("topic"), Some(1));
    assert!(record.text("round").unwrap().starts_with("fix: a"));
}

#[test]
fn what_no_entry_covers_is_refused_and_the_first_reasons_are_named() {
    let case = Case::new();
    assert_eq!(case.refused(without()), "the phase `drafting` was removed");
    let half = r#"[{"from":["OLD"],"phases":{"drafting":"writing"}}]"#;
    assert_eq!(
        case.refused(spec(&edited(&RENAMED), &entry(half))),
        "the field `round` was removed; `decision_signal` lost the word `max-reached`"
    );
    let many: Vec<(String, String)> = ["topic", "round", "decision_signal"]
        .map(|name| {
            (
                format!("{{\"name\":\"{name}\",\"kind\":"),
                format!("{{\"name\":\"{name}\",\"holds\":\"mode\",\"kind\":"),
            )
        })
        .into();
    let mut edits: Vec<(&str, &str)> = many.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    edits.push(RENAMED[0]);
    let why = case.refused(spec(&edited(&edits), ""));
    assert!(why.ends_with("; and 1 more"), "{why}");
    assert_eq!(case.text().matches("revision: 1").count(), 1);
}

#[test]
fn a_migration_whose_result_would_not_open_is_refused() {
    // Nobody owns this field, so that a person may write anything there.
    let loose = spec(
        &OLD.replace(
            "\"kind\":\"count\",\"initial\":1,\"owned\":true",
            "\"kind\":\"count\",\"initial\":1",
        ),
        "",
    );
    let case = Case::of(loose);
    let path = case.old.path_of(case.record.id());
    std::fs::write(&path, case.text().replace("round: 1", "round: many")).unwrap();
    let entry = ENTRY.replace("OLD", loose.graph_hash);
    let new = spec(
        &edited(&RENAMED).replace(
            "\"kind\":\"count\",\"initial\":1,\"owned\":true",
            "\"kind\":\"count\",\"initial\":1",
        ),
        &entry,
    );
    assert_eq!(
        case.refused(new),
        "the migration would leave what does not open: `turn` would be `many`"
    );
}

#[test]
fn a_refused_loop_is_shown_may_be_given_up_and_blocks_a_start_until_then() {
    let case = Case::new();
    let id = case.record.id().clone();
    let new = case.as_of(without());
    let listed = new.list().remove(0);
    assert_eq!(
        (listed.ours, listed.terminal, listed.phase.as_deref()),
        (false, false, Some("drafting"))
    );
    assert!(listed.problem.unwrap().contains("`drafting` was removed"));
    match new.start(plan()) {
        Err(StartError::Active { id: active, .. }) => assert_eq!(active, id.as_str()),
        other => panic!("{other:?}"),
    }
    let moved = new.give_up(&id, jiff::Timestamp::now()).unwrap().unwrap();
    assert!(moved.join(format!("{id}.state")).is_file() && moved.join(id.as_str()).is_dir());
    assert!(new.list().is_empty());
    assert!(matches!(
        new.give_up(&id, jiff::Timestamp::now()),
        Err(StoreError::NoLoop { .. })
    ));
    new.start(crate::store::StartPlan {
        now: jiff::Timestamp::now(),
        stale_after: None,
        by: "test".into(),
        id: None,
        fields: |_: &_| {
            let mut fields = fields();
            fields[1].1 = word("waiting");
            fields
        },
    })
    .unwrap();
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
fn a_rollback_leaves_the_shapes_for_loops_that_are_moved_back() {
    let case = Case::new();
    let now = jiff::Timestamp::now();
    assert_eq!(case.as_of(without()).roll_back_all(now).unwrap().len(), 1);
    assert!(case.shape_path().is_file());
    let moved = case.old.rolled_back_folder(now);
    for entry in moved.read_dir_utf8().unwrap() {
        let path = entry.unwrap().into_path();
        let name = path.file_name().unwrap().to_owned();
        std::fs::rename(path, case.old.folder().join(name)).unwrap();
    }
    let id = case.record.id();
    let gone = case.as_of(renamed()).open(id).unwrap_err();
    assert!(matches!(gone, StoreError::NotStartedHere { .. }), "{gone}");
    assert!(case.as_of(renamed()).take_up(id, "person").unwrap());
    assert_eq!(
        case.as_of(renamed()).open(id).unwrap().record.phase(),
        "in-writing"
    );
}

#[test]
fn strays_beside_the_shapes_are_swept() {
    let case = Case::new();
    let stray = case.old.folder().join("machines/.claudex-tmp-x");
    std::fs::write(&stray, "half").unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(7200);
    let swept = case
        .old
        .sweep(later, std::time::Duration::from_secs(1 << 30), false)
        .unwrap();
    assert_eq!(swept.strays, std::slice::from_ref(&stray));
    assert!(!stray.exists() && case.shape_path().is_file());
}

#[test]
fn a_shape_file_that_is_not_what_it_should_be_is_not_believed() {
    let case = Case::new();
    let path = case.shape_path();
    let folder = path.parent().unwrap().to_owned();
    let expect = |part: &str| {
        let why = case.refused(safe());
        assert!(why.contains(part), "{part}: {why}");
        assert!(!why.contains('\n') && why.len() < 1000, "{why}");
        assert!(case.as_of(safe()).list()[0].problem.is_some());
    };
    std::fs::write(&path, OLD.replace("\"done\"", "\"gone\"")).unwrap();
    expect("its digest is not its name");
    std::fs::write(&path, b"\xff\0\x1b]0;x\x07").unwrap();
    expect("its digest is not its name");
    std::fs::write(&path, "").unwrap();
    expect("its digest is not its name");
    std::fs::File::create(&path).unwrap().set_len(100 << 20).unwrap();
    expect("larger than");
    std::fs::remove_file(&path).unwrap();
    expect("is missing");
    std::fs::write(case.old.root().join("elsewhere"), OLD).unwrap();
    std::os::unix::fs::symlink(case.old.root().join("elsewhere"), &path).unwrap();
    expect("it is a symlink");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    expect("no regular file");
    std::fs::remove_dir(&path).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        path.as_std_path(),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    expect("no regular file");
    std::fs::remove_file(&path).unwrap();
    std::fs::remove_dir(&folder).unwrap();
    std::fs::write(case.old.root().join("there.json"), OLD).unwrap();
    std::os::unix::fs::symlink(case.old.root(), &folder).unwrap();
    expect("it is a symlink");
    std::fs::remove_file(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(&path, OLD).unwrap();
    assert_eq!(case.as_of(safe()).open(case.record.id()).unwrap().repairs, []);
}

#[test]
fn what_has_the_right_digest_and_is_no_shape_is_refused() {
    for text in ["not json", "{\"shape\":2}", "{\"shape\":1}", &"[".repeat(1 << 20)] {
        let hash: &'static str = Box::leak(hash_of(text.as_bytes()).into_boxed_str());
        let case = Case::of(Box::leak(Box::new(StateSpec {
            graph_hash: hash,
            ..SPEC
        })));
        std::fs::create_dir(case.old.folder().join("machines")).unwrap();
        std::fs::write(case.shape_path(), text).unwrap();
        let why = case.refused(safe());
        assert!(why.contains("shape"), "{why}");
    }
    // What stands in a document leads to no other file.
    for hash in [
        "../../../x",
        "",
        "0123456789abcdeF",
        "0123456789abcdef0",
        "/etc/passwd",
    ] {
        let case = Case::of(Box::leak(Box::new(StateSpec {
            graph_hash: hash,
            ..SPEC
        })));
        assert_eq!(case.refused(safe()), "its version cannot be looked up", "{hash}");
    }
}

#[test]
fn a_loop_that_names_no_version_is_not_taken_for_ours() {
    static UNKNOWN: StateSpec = StateSpec {
        fields: crate::store::HeldFields {
            graph_hash: None,
            ..SPEC.fields
        },
        ..SPEC
    };
    let case = Case::of(&UNKNOWN);
    let error = case.as_of(safe()).open(case.record.id()).unwrap_err();
    assert!(
        matches!(error, StoreError::OtherGraph { ref found, .. } if found.is_empty()),
        "{error}"
    );
}

#[test]
fn a_folder_that_others_could_have_written_stops_a_start_readably() {
    let (_kept, root) = folder();
    let store = Store::at(root.join(SPEC.folder), root.clone(), old(), home(&root));
    std::fs::create_dir_all(store.folder()).unwrap();
    std::os::unix::fs::symlink(&root, store.folder().join("machines")).unwrap();
    assert!(matches!(
        store.start(plan()),
        Err(StartError::Store(StoreError::Untrusted { .. }))
    ));
    assert!(store.list().is_empty());
}

/// Adds a line to the journal as if this version of the machine had ended the loop.
fn forge(case: &Case, hash: &str) {
    let journal = case.old.journal_path(case.record.id());
    let text = std::fs::read_to_string(&journal).unwrap();
    let mut line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    line["revision"] = 2.into();
    line["what"] = "migrate".into();
    line["by"] = "engine".into();
    line["from"] = "drafting".into();
    line["to"] = "done".into();
    line["fields"]["revision"] = 2.into();
    line["fields"]["phase"] = "done".into();
    line["fields"]["graph_hash"] = hash.into();
    std::fs::write(&journal, format!("{text}{line}\n")).unwrap();
}

#[test]
fn a_line_of_a_version_that_the_record_does_not_know_counts_for_nothing() {
    for spec in [safe(), renamed()] {
        let case = Case::new();
        let id = case.record.id();
        // Of the version that reads it, which has not changed the loop yet: its own program would have recorded that.
        forge(&case, spec.graph_hash);
        let new = case.as_of(spec);
        assert!(!new.list()[0].terminal);
        let opened = new.open(id).unwrap();
        assert!(!opened.record.is_terminal());
        assert!(
            matches!(opened.repairs[0], Repair::JournalCleaned { .. }),
            "{:?}",
            opened.repairs
        );
        // Once it has, its changes are believed.
        let record = new.commit(&opened.record, crate::store::Change::bare("bind", "hook"));
        let known = new.ownership(id).unwrap().unwrap().graphs;
        assert_eq!(known, [case.old.spec().graph_hash, spec.graph_hash]);
        assert_eq!(
            new.open(id).unwrap().record.revision(),
            record.unwrap().revision()
        );
    }
}

#[test]
fn a_loop_whose_version_is_no_longer_known_is_not_over_in_silence() {
    let case = Case::new();
    forge(&case, case.old.spec().graph_hash);
    std::fs::remove_file(case.shape_path()).unwrap();
    let listed = case.as_of(safe()).list().remove(0);
    assert!(!listed.terminal && listed.problem.is_some(), "{listed:?}");
}
