//! Changing flags: the bytes that were not changed stay.

use proptest::prelude::*;
use stages::contract::{EditError, Flags, PauseType, Round, Stage, Status, Summary, set_flags};

use crate::given::{ASKS, EXAMPLE, completed, found, of, taken, with};

fn edited(text: &str, change: impl FnOnce(&mut Flags)) -> String {
    String::from_utf8(
        set_flags(text.as_bytes(), change).unwrap_or_else(|error| panic!("{error}: {text}")),
    )
    .unwrap()
}

fn name(flags: &mut Flags) {
    flags.dispatch_id = Some("d-1".to_owned());
}

#[test]
fn nothing_changed_is_every_byte_as_it_was() {
    let odd = "\u{feff}---   \n# why\nstage:   'setup' # ours\n\"status\": \"completed\"\nmine: {a: 1}\nflags: # all\n    round_number:   1 # of three\n    ü: |\n      --- text\n      # none\n    tabs: \"a\\tb\"\n\n---\t\nbody\n---\nstage: no\n";
    for text in [EXAMPLE, ASKS, odd, &of(5)] {
        for text in [
            text.to_owned(),
            text.replace('\n', "\r\n"),
            text.trim_end().to_owned(),
        ] {
            assert_eq!(edited(&text, |_| {}), text);
        }
    }
}

#[test]
fn a_flag_is_added_behind_the_last_one_and_nothing_else_changes() {
    let text = edited(EXAMPLE, name);
    assert_eq!(
        text,
        with(
            EXAMPLE,
            "_pct: 100\n",
            "_pct: 100\n  dispatch_id: \"d-1\"\n"
        )
    );
    let crlf = EXAMPLE.replace('\n', "\r\n");
    assert_eq!(edited(&crlf, name), text.replace('\n', "\r\n"));
    let asks = edited(ASKS, |flags| flags.timeout = Some(true));
    assert_eq!(
        asks,
        with(
            ASKS,
            "second\": null\n",
            "second\": null\n  timeout: true\n"
        )
    );
    for (flags, with_it) in [
        ("flags: {}\n", "flags: {dispatch_id: \"d-1\"}\n"),
        (
            "flags: {partial: true} # x\n",
            "flags: {partial: true, dispatch_id: \"d-1\"} # x\n",
        ),
        (
            "flags: {\n  partial: true,\n}\n",
            "flags: {\n  partial: true, dispatch_id: \"d-1\",\n}\n",
        ),
        ("flags: # none\n", "flags: # none\n  dispatch_id: \"d-1\"\n"),
        ("flags: null # x\n", "flags: {dispatch_id: \"d-1\"} # x\n"),
        (
            "flags:\n    partial: true # x\n",
            "flags:\n    partial: true # x\n    dispatch_id: \"d-1\"\n",
        ),
        (
            "flags:\n  mine: |\n    a\n\n",
            "flags:\n  mine: |\n    a\n  dispatch_id: \"d-1\"\n\n",
        ),
        (
            "flags:\n  mine: a\n    b\n",
            "flags:\n  mine: a\n    b\n  dispatch_id: \"d-1\"\n",
        ),
        (
            "flags:\n  mine:\n",
            "flags:\n  mine:\n  dispatch_id: \"d-1\"\n",
        ),
        ("", "flags:\n  dispatch_id: \"d-1\"\n"),
    ] {
        let base = with(&of(1), "flags:\n  round_number: 1\n", flags);
        assert_eq!(
            edited(&base, name),
            with(&of(1), "flags:\n  round_number: 1\n", with_it)
        );
    }
}

#[test]
fn a_value_is_replaced_where_it_stands() {
    for (flag, with_it) in [
        ("dispatch_id: d-0", "dispatch_id: \"d-1\""),
        (
            "dispatch_id:   'd-0'   # it's",
            "dispatch_id:   \"d-1\"   # it's",
        ),
        ("dispatch_id: \"d # 0\" # x", "dispatch_id: \"d-1\" # x"),
        ("\"dispatch_id\" : d", "\"dispatch_id\" : \"d-1\""),
        ("dispatch_id: >- # x\n    d\n    0", "dispatch_id: \"d-1\""),
        ("dispatch_id: # x\n    d", "dispatch_id: \"d-1\" # x"),
        ("dispatch_id: {N} # x", "dispatch_id: \"d-1\" # x"),
        ("dispatch_id: # x", "dispatch_id: \"d-1\" # x"),
    ] {
        let base = with(
            &of(1),
            "round_number: 1",
            &format!("{flag}\n  round_number: 1"),
        );
        let expected = with(
            &of(1),
            "round_number: 1",
            &format!("{with_it}\n  round_number: 1"),
        );
        assert_eq!(edited(&base, name), expected, "{flag}");
        let crlf = edited(&base.replace('\n', "\r\n"), name);
        assert_eq!(crlf, expected.replace('\n', "\r\n"), "{flag}");
    }
    let raised = edited(EXAMPLE, |flags| flags.round_number = Round::new(2));
    assert_eq!(raised, with(EXAMPLE, "round_number: 1", "round_number: 2"));
    let fewer = edited(ASKS, |flags| {
        flags.question_context.as_mut().unwrap().options.truncate(1)
    });
    assert_eq!(
        taken(&fewer).flags.question_context.unwrap().options.len(),
        1
    );
}

#[test]
fn a_flag_is_taken_out_with_its_lines() {
    let gone = edited(ASKS, |flags| {
        (flags.question_context, flags.next_action_map) = (None, None)
    });
    let from = ASKS.find("  question_context").unwrap();
    let to = ASKS.find("---\n\n").unwrap();
    assert_eq!(gone, with(ASKS, &ASKS[from..to], ""));
    let last = edited(&of(1), |flags| flags.round_number = None);
    assert_eq!(
        last,
        with(&of(1), "flags:\n  round_number: 1\n", "flags: {}\n")
    );
    for (flags, without) in [
        ("{partial: true, round_number: 1}", "{partial: true}"),
        ("{round_number: 1, partial: true}", "{partial: true}"),
        ("{round_number: 1}", "{}"),
    ] {
        let base = with(
            &of(1),
            "flags:\n  round_number: 1",
            &format!("flags: {flags}"),
        );
        let expected = with(
            &of(1),
            "flags:\n  round_number: 1",
            &format!("flags: {without}"),
        );
        assert_eq!(edited(&base, |flags| flags.round_number = None), expected);
    }
}

#[test]
fn what_cannot_be_read_or_changed_is_left() {
    for text in [
        "",
        "text",
        "---\na: [\n---\n",
        "---\nflags: text\n---\n",
        "---\n- a\n---\n",
    ] {
        assert_eq!(
            set_flags(text.as_bytes(), name),
            Err(EditError::Unreadable),
            "{text}"
        );
    }
    let kept = with(&of(1), "round_number: 1\n", "mine: |+\n    a\n\n\n");
    let error = set_flags(kept.as_bytes(), name).unwrap_err();
    assert!(
        matches!(error, EditError::Unreadable | EditError::NotChanged { .. }),
        "{error}"
    );
}

#[test]
fn a_new_summary_keeps_every_rule_and_reads_as_it_was_written() {
    for stage in Stage::all() {
        let mut summary = Summary::new(
            stage,
            Status::Failed,
            "It \"broke\": # \u{1b}[2J \u{e0041} \u{ffff} \u{85} ü",
        );
        summary.artifacts = vec!["requirements/a b.md".into(), "c: d.md".into()];
        summary.flags.recovered = Some(true);
        summary.flags.completed_steps = Some(vec!["one: a".into(), "- two".into()]);
        summary.flags.other.insert(
            "a: b".into(),
            serde_json::json!({"x": [1, {"y": null}], "z": {}}),
        );
        summary.context = Some("Go on.\n\n- a".into());
        let text = summary.to_text();
        assert_eq!(found(&text), [], "{text}");
        assert_eq!(taken(&text), summary, "{text}");
    }
    let asks = taken(ASKS);
    assert_eq!(taken(&asks.to_text()), asks);
    let least = Summary::new(Stage::Completion, Status::Completed, "Done").to_text();
    assert_eq!(
        least,
        "---\nstage: \"completion\"\nstage_number: 6\nstatus: \"completed\"\ncheckpoint: \"COMPLETE\"\nartifacts_written: []\n\
         summary: \"Done\"\nflags: {}\n---\n\n## Context for Next Stage\n"
    );
}

proptest! {
    #[test]
    fn an_edit_changes_the_flags_that_it_names_or_nothing(
        lines in "(  (a|b|round_number|partial|\"timeout\"|dispatch_id) ?: ?[a-z1\"'#|>\\-{}\\[\\]:, ]{0,8}(\n|\r\n)(    [a-z:#\\-]{0,6}\n)?){0,5}",
        body in any::<String>(),
        stage in 1_u64..=7,
    ) {
        let text = with(&completed(Stage::of_number(stage).unwrap()), "  round_number: 1\n", &lines) + &body;
        if let Ok(bytes) = set_flags(text.as_bytes(), |_| {}) {
            prop_assert_eq!(String::from_utf8(bytes).unwrap(), &text[..]);
        }
        let change = |flags: &mut Flags| {
            flags.dispatch_id = Some("d \"1\" # é".into());
            flags.partial = None;
            flags.pause_type = Some(PauseType::ExitCli);
        };
        if let Ok(bytes) = set_flags(text.as_bytes(), change) {
            let written = String::from_utf8(bytes).unwrap();
            prop_assert!(written.ends_with(&body));
            let (mut before, mut after) = (None, None);
            set_flags(text.as_bytes(), |flags| before = Some(flags.clone())).unwrap();
            set_flags(written.as_bytes(), |flags| after = Some(flags.clone())).unwrap();
            let mut before = before.unwrap();
            change(&mut before);
            prop_assert_eq!(before, after.unwrap());
        }
    }
}
