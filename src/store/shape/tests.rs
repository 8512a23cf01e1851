//! Each row of the table in docs/migrations.md: two machines that differ in one thing, and what is said of it.

use super::*;

/// A machine that the cases edit.
pub(in crate::store) const DOOR: &str = r#"{"shape":1,"machine":"door","state":{"folder":".door","extension":"state","form":"lines","ids":"stamp"},"fields":[
{"name":"mode","kind":"held","holds":"mode"},
{"name":"phase","kind":"held","holds":"phase"},
{"name":"graph_hash","kind":"held","holds":"graph-hash"},
{"name":"updated","kind":"held","holds":"updated"},
{"name":"tries","kind":"count","initial":0,"owned":true},
{"name":"most","kind":"count","initial":3,"at_start":"optional"},
{"name":"color","kind":"one_of","words":["red","green"],"initial":"red","owned":true},
{"name":"owner","kind":"text","initial":""},
{"name":"key","kind":"path","initial":"KEY","in":["open"]}
],"phases":[
{"name":"open","stored":"open","terminal":false},
{"name":"ajar","stored":"half-open","terminal":false},
{"name":"closed","stored":"closed","terminal":true}
],"edges":[
{"transition":"shut","from":"open","to":"closed","requires":"settled"},
{"transition":"shut","from":"ajar","to":"closed","requires":"settled"},
{"transition":"remind","from":"open","to":"open","when":"tries < 3","set":{"tries":"tries + 1"}},
{"transition":"give","from":"open","to":"ajar","by":["person"],"args":{"why":"text"}}
]}"#;

pub(in crate::store) fn edited(edits: &[(&str, &str)]) -> String {
    let mut json = DOOR.to_owned();
    for (from, to) in edits {
        assert_eq!(
            json.matches(from).count(),
            1,
            "{from:?} has to stand once in\n{json}"
        );
        json = json.replace(from, to);
    }
    json
}

fn shape(json: &str) -> Shape {
    Shape::read(json.as_bytes()).unwrap()
}

/// `verdict: what (remedy)`, joined by ampersands, without what is the same in every case.
fn said(old: &[(&str, &str)], new: &[(&str, &str)]) -> String {
    let found = diff(&shape(&edited(old)), &shape(&edited(new)));
    let shown: Vec<String> = found
        .iter()
        .map(|one| {
            assert!(!one.means.is_empty(), "{one:?}");
            assert_eq!(
                one.remedy.is_empty(),
                one.verdict == Verdict::Safe,
                "what has to be done is said where there is something to do: {one:?}"
            );
            let remedy = one.suggestion.as_ref().map(Suggestion::line);
            let remedy = remedy.map(|line| format!(" ({line})")).unwrap_or_default();
            format!("{}: {}{remedy}", one.verdict, one.what)
        })
        .collect();
    shown.join(" & ")
}

macro_rules! rows {
    ($($name:ident: [$($from:expr => $to:expr),* $(,)?] says $expected:expr;)*) => {
        $(#[test]
        fn $name() {
            assert_eq!(said(&[], &[$(($from, $to)),*]), $expected);
        })*
    };
}

const OPEN: &str = "{\"name\":\"open\",\"stored\":\"open\",\"terminal\":false}";
const AJAR: &str = ",\n{\"name\":\"ajar\",\"stored\":\"half-open\",\"terminal\":false}";
const CLOSED: &str = "{\"name\":\"closed\",\"stored\":\"closed\",\"terminal\":true}";
const OWNER: &str = ",\n{\"name\":\"owner\",\"kind\":\"text\",\"initial\":\"\"}";
const AJAR_SHUT: &str =
    "{\"transition\":\"shut\",\"from\":\"ajar\",\"to\":\"closed\",\"requires\":\"settled\"},\n";
const GIVE: &str =
    "\"from\":\"open\",\"to\":\"ajar\",\"by\":[\"person\"],\"args\":{\"why\":\"text\"}";

rows! {
    the_same_machine: [] says "";
    another_name: ["\"door\"" => "\"gate\""] says "breaks: the machine `door` is named `gate`";
    another_folder: ["\".door\"" => "\".gate\""] says "breaks: the state folder `.door` is `.gate` now";
    another_extension: ["\"state\",\"form\"" => "\"md\",\"form\""] says "breaks: the extension `state` is `md` now";
    another_form: ["\"lines\"" => "\"json\""] says "breaks: the form `lines` is `json` now";
    ids_that_are_names: ["\"stamp\"" => "\"name\""] says "safe: ids are `name`, no longer `stamp`";

    a_phase_added: [CLOSED => "{\"name\":\"lost\",\"stored\":\"lost\",\"terminal\":true},{\"name\":\"closed\",\"stored\":\"closed\",\"terminal\":true}"]
        says "safe: the phase `lost` was added";
    a_phase_removed: [AJAR => "", AJAR_SHUT => "", GIVE => "\"from\":\"open\",\"to\":\"open\",\"by\":[\"person\"],\"args\":{\"why\":\"text\"}"]
        says "needs a migration: the phase `ajar` was removed (phases = { ajar = \"open\" }) & \
              safe: the transition `give` from `open` leads to `open`, no longer to `ajar`";
    a_phase_renamed: [CLOSED => "{\"name\":\"over\",\"stored\":\"over\",\"terminal\":true}", "\"from\":\"open\",\"to\":\"closed\"" => "\"from\":\"open\",\"to\":\"over\"", "\"from\":\"ajar\",\"to\":\"closed\"" => "\"from\":\"ajar\",\"to\":\"over\""]
        says "needs a migration: the phase `closed` was removed (phases = { closed = \"over\" }) & \
              safe: the phase `over` was added & \
              safe: the transition `shut` from `ajar`, `open` leads to `over`, no longer to `closed`";
    a_phase_renamed_and_stored_as_before: ["{\"name\":\"ajar\"" => "{\"name\":\"half\"", "\"from\":\"ajar\"" => "\"from\":\"half\"", "\"to\":\"ajar\"" => "\"to\":\"half\""]
        says "safe: the phase `ajar` is named `half`, and stored as before";
    a_stored_form_changed: ["half-open" => "half"]
        says "needs a migration: the phase `ajar` is stored as `half`, no longer as `half-open` (phases = { ajar = \"ajar\" })";
    a_stored_form_taken_by_another_phase: ["half-open" => "open", OPEN => "{\"name\":\"open\",\"stored\":\"wide\",\"terminal\":false}"]
        says "needs a migration: the phase `open` is stored as `wide`, no longer as `open` (phases = { open = \"open\" }) & \
              needs a migration: the phase `ajar` is stored as `open`, no longer as `half-open` (phases = { ajar = \"ajar\" })";
    a_phase_that_became_terminal: ["\"half-open\",\"terminal\":false" => "\"half-open\",\"terminal\":true"]
        says "needs a migration: the phase `ajar` is terminal now (phases = { ajar = \"ajar\" })";
    a_phase_that_is_terminal_no_longer: ["\"closed\",\"terminal\":true" => "\"closed\",\"terminal\":false"]
        says "needs a migration: the phase `closed` is terminal no longer (phases = { closed = \"closed\" })";

    a_field_added: [OWNER => ",\n{\"name\":\"owner\",\"kind\":\"text\",\"initial\":\"\"},{\"name\":\"fast\",\"kind\":\"flag\",\"initial\":false}"]
        says "safe: the field `fast` was added";
    a_field_removed: [OWNER => ""] says "safe: the field `owner` was removed";
    a_field_renamed: ["\"name\":\"owner\"" => "\"name\":\"keeper\""]
        says "needs a migration: the field `owner` was removed (fields = { owner = \"keeper\" }) & safe: the field `keeper` was added";
    two_fields_renamed: ["\"name\":\"tries\"" => "\"name\":\"attempts\"", "\"name\":\"most\"" => "\"name\":\"max\""]
        says "needs a migration: the field `tries` was removed (fields = { tries = \"attempts\" }) & \
              needs a migration: the field `most` was removed (fields = { most = \"max\" }) & \
              safe: the field `attempts` was added & safe: the field `max` was added";
    two_fields_removed_for_one: ["{\"name\":\"tries\",\"kind\":\"count\",\"initial\":0,\"owned\":true},\n" => "", "\"name\":\"most\"" => "\"name\":\"max\""]
        says "needs a migration: the field `tries` was removed (fields = { tries = \"max\" }) & \
              needs a migration: the field `most` was removed & safe: the field `max` was added";
    a_kind_that_takes_any_value: ["\"most\",\"kind\":\"count\"" => "\"most\",\"kind\":\"text\""]
        says "safe: the field `most` is `text`, no longer `count`";
    a_kind_that_does_not: ["{\"name\":\"owner\",\"kind\":\"text\",\"initial\":\"\"}" => "{\"name\":\"owner\",\"kind\":\"count\",\"initial\":7}"]
        says "needs a migration: the field `owner` is `count`, no longer `text` (set = { owner = 7 })";
    a_word_added: ["\"green\"" => "\"green\",\"blue\""] says "safe: `color` got the word `blue`";
    a_word_removed: ["[\"red\",\"green\"]" => "[\"red\"]"]
        says "needs a migration: `color` lost the word `green` (words = { color = { green = \"red\" } })";
    a_word_renamed: ["\"green\"" => "\"blue\""]
        says "needs a migration: `color` lost the word `green` (words = { color = { green = \"blue\" } }) & safe: `color` got the word `blue`";
    words_in_another_order: ["[\"red\",\"green\"]" => "[\"green\",\"red\"]"] says "safe: the words of `color` have another order";
    another_initial_value: ["\"initial\":3" => "\"initial\":4"] says "safe: the field `most` begins as 4, no longer as 3";
    other_phases_of_a_field: ["[\"open\"]}" => "[\"open\",\"ajar\"]}"] says "safe: the field `key` exists in other phases";
    another_null: ["\"kind\":\"count\",\"initial\":3" => "\"kind\":\"count\",\"null\":0,\"initial\":3"] says "safe: the field `most` is null for another value";
    another_start: [",\"at_start\":\"optional\"" => ""] says "safe: the start takes the field `most` otherwise";
    a_field_that_the_machine_took: ["\"initial\":3" => "\"initial\":3,\"owned\":true"] says "safe: the field `most` is the machine's";
    a_field_that_the_machine_let_go: ["\"initial\":0,\"owned\":true" => "\"initial\":0"] says "safe: the field `tries` is no longer the machine's";

    a_held_field_renamed: ["\"name\":\"mode\"" => "\"name\":\"kind\""]
        says "needs a migration: the field `mode`, which holds mode, is named `kind` (fields = { mode = \"kind\" })";
    a_held_field_by_which_loops_are_found_renamed: ["\"name\":\"phase\"" => "\"name\":\"state\""]
        says "breaks: the field `phase`, which holds the phase, is named `state`";
    a_held_field_removed: ["{\"name\":\"mode\",\"kind\":\"held\",\"holds\":\"mode\"},\n" => ""] says "safe: the field `mode` was removed";
    the_graph_hash_removed: ["{\"name\":\"graph_hash\",\"kind\":\"held\",\"holds\":\"graph-hash\"},\n" => ""]
        says "breaks: the field `graph_hash`, which holds the graph-hash, was removed";
    a_held_field_that_became_the_machines: ["\"kind\":\"held\",\"holds\":\"mode\"" => "\"kind\":\"text\""]
        says "breaks: the field `mode` is `text`, no longer the engine's (mode)";
    a_field_that_became_the_engines: ["\"kind\":\"text\",\"initial\":\"\"" => "\"kind\":\"held\",\"holds\":\"session\""]
        says "breaks: the field `owner` is the engine's (session), no longer `text`";

    an_edge_added: [AJAR_SHUT => "{\"transition\":\"shut\",\"from\":\"ajar\",\"to\":\"closed\",\"requires\":\"settled\"},{\"transition\":\"widen\",\"from\":\"ajar\",\"to\":\"open\"},\n"]
        says "safe: the transition `widen` from `ajar` was added";
    an_edge_removed: [AJAR_SHUT => ""] says "safe: the transition `shut` from `ajar` was removed";
    another_guard: ["tries < 3" => "tries < 9"] says "safe: the transition `remind` from `open` is open when `tries < 9`, no longer when `tries < 3`";
    other_values: ["tries + 1" => "tries + 2"] says "safe: the transition `remind` from `open` sets other values";
    other_people: ["[\"person\"]" => "[\"agent\",\"person\"]"] says "safe: the transition `give` from `open` is for agent and person, no longer for person";
    other_arguments: ["{\"why\":\"text\"}" => "{\"why\":\"text\",\"more\":\"count\"}"] says "safe: the transition `give` from `open` takes other arguments";
    alternatives: ["\"tries < 3\",\"set\":{\"tries\":\"tries + 1\"}}" => "\"tries < 3\",\"set\":{\"tries\":\"tries + 1\"}},{\"transition\":\"remind\",\"from\":\"open\",\"to\":\"ajar\",\"when\":\"tries >= 3\"}"]
        says "safe: the transition `remind` from `open` has other alternatives";
}

#[test]
fn names_that_are_no_stamps_are_lost_and_the_way_back_breaks() {
    assert_eq!(
        said(&[("\"stamp\"", "\"name\"")], &[]),
        "breaks: ids are `stamp`, no longer `name`"
    );
}

#[test]
fn a_graph_hash_that_was_not_kept_cannot_be_added_under_way() {
    let none = (
        "{\"name\":\"graph_hash\",\"kind\":\"held\",\"holds\":\"graph-hash\"},\n",
        "",
    );
    assert_eq!(
        said(&[none], &[]),
        "breaks: the field `graph_hash` was added"
    );
    let none = (
        "{\"name\":\"mode\",\"kind\":\"held\",\"holds\":\"mode\"},\n",
        "",
    );
    assert_eq!(said(&[none], &[]), "safe: the field `mode` was added");
}

#[test]
fn evidence_that_is_no_longer_needed_is_said_to_be_less() {
    let old = shape(DOOR);
    let new = shape(&DOOR.replace(",\"requires\":\"settled\"", ""));
    let found = diff(&old, &new);
    assert_eq!(found.len(), 1, "said once for both phases: {found:?}");
    assert_eq!(found[0].verdict, Verdict::Safe);
    assert_eq!(
        found[0].what,
        "the transition `shut` from `ajar`, `open` needs no evidence, no longer settled"
    );
    assert!(
        found[0].means.contains("less than was promised"),
        "{}",
        found[0].means
    );
    let more = diff(&new, &old);
    assert!(!more[0].means.contains("less"), "{}", more[0].means);
}

/// The verdicts and the words of a comparison, with the entries that the new machine has for the old one.
fn compared(new: &[(&str, &str)], entries: &str) -> Vec<(Verdict, String)> {
    let old = shape(DOOR);
    let entries = entries.replace("OLD", &old.hash);
    let migrations = Migrations::read(&entries).unwrap();
    let found = compare(&old, &shape(&edited(new)), &migrations);
    found
        .into_iter()
        .filter(|one| one.verdict > Verdict::Safe)
        .map(|one| (one.verdict, one.what))
        .collect()
}

#[test]
fn what_an_entry_covers_is_migrated_and_the_rest_is_not() {
    let new = [
        ("half-open", "half"),
        ("\"name\":\"owner\"", "\"name\":\"keeper\""),
        ("\"green\"", "\"blue\""),
    ];
    let all = compared(&new, "");
    assert_eq!(all.len(), 3, "{all:?}");
    assert!(
        all.iter()
            .all(|(verdict, _)| *verdict == Verdict::Migration)
    );
    let some = compared(&new, r#"[{"from":["OLD"],"phases":{"ajar":"ajar"}}]"#);
    assert_eq!(
        some.iter().map(|(verdict, _)| *verdict).collect::<Vec<_>>(),
        [Verdict::Migrated, Verdict::Migration, Verdict::Migration]
    );
    let whole = r#"[{"from":["OLD"],"phases":{"ajar":"ajar"},"fields":{"owner":"keeper"},"words":{"color":{"green":"blue"}}}]"#;
    assert!(
        compared(&new, whole)
            .iter()
            .all(|(verdict, _)| *verdict == Verdict::Migrated)
    );
    // An entry for another version is none for this one.
    assert_eq!(
        compared(&new, &whole.replace("OLD", "0123456789abcdef")),
        all
    );
    // A new field of the same kind that is no new name.
    let said = r#"[{"from":["OLD"],"phases":{"ajar":"ajar"},"set":{"keeper":"me"},"words":{"color":{"green":"red"}}}]"#;
    assert!(
        compared(&new, said)
            .iter()
            .all(|(verdict, _)| *verdict == Verdict::Migrated)
    );
}

#[test]
fn an_entry_and_all_that_follow_are_one_way() {
    let new = [("\"name\":\"owner\"", "\"name\":\"holder\"")];
    let chain = r#"[{"from":["0000000000000000"],"fields":{"owner":"wrong"}},
        {"from":["OLD"],"fields":{"owner":"keeper"}},{"from":["1111111111111111"],"fields":{"keeper":"holder"}}]"#;
    assert_eq!(
        compared(&new, chain),
        [(
            Verdict::Migrated,
            "the field `owner` was removed".to_owned()
        )]
    );
}

#[test]
fn an_entry_that_does_harm_itself_is_not_passed_over() {
    let two = compared(&[], r#"[{"from":["OLD"],"fields":{"owner":"key"}}]"#);
    assert_eq!(
        two,
        [(
            Verdict::Breaks,
            "the `[[migrations]]` entry cannot be followed".to_owned()
        )]
    );
    let mistyped = compared(
        &[],
        r#"[{"from":["OLD"],"fields":{"most":"owner","owner":"most"}}]"#,
    );
    assert_eq!(
        mistyped,
        [(
            Verdict::Migration,
            "the field `most` is `count`, no longer `text`".to_owned()
        )]
    );
    let nowhere = compared(&[], r#"[{"from":["OLD"],"phases":{"open":"nowhere"}}]"#);
    assert_eq!(nowhere, two);
}

#[test]
fn text_that_is_no_shape_is_refused() {
    for text in [
        "",
        "{}",
        "[]",
        "null",
        "{\"shape\":1}",
        "{\"shape\":\"1\"}",
        "\u{0}",
        &DOOR.replace("\"owned\":true", "\"owned\":true,\"more\":1"),
        &DOOR.replace("\"terminal\":true", "\"terminal\":\"yes\""),
        &format!("{{\"shape\":1,\"machine\":{}", "[".repeat(1 << 20)),
    ] {
        assert!(
            matches!(Shape::read(text.as_bytes()), Err(ShapeError::Form { .. })),
            "{:.40}",
            text
        );
    }
    assert!(matches!(
        Shape::read(DOOR.replace("\"shape\":1", "\"shape\":2").as_bytes()),
        Err(ShapeError::Version { found: 2 })
    ));
    assert!(Migrations::read("[{}]").is_err());
    assert!(!Migrations::read("").unwrap().takes("0123456789abcdef"));
}
