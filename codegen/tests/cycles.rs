//! A loop that could run for ever by itself cannot be built: machines with bounded and with unbounded cycles.

const PLAN: &str = include_str!("../../machine.toml");

/// What is said of a machine with these entries: `a` is where it starts, `end` is terminal, and Rust takes every edge.
fn said(transitions: &str) -> Vec<String> {
    let source = format!(
        "name = \"m\"\n[modes.m]\nstart = \"a\"\n[fields]\nphase = {{ holds = \"phase\" }}\nid = {{ holds = \"id\" }}\n\
         root = {{ holds = \"root\" }}\nsession = {{ holds = \"session\" }}\nrevision = {{ holds = \"revision\" }}\n\
         machine = {{ holds = \"machine\" }}\ni = {{ type = \"count\" }}\nj = {{ type = \"count\" }}\n\
         most = {{ type = \"count\" }}\nword = {{ one_of = [\"x\", \"y\", \"z\"] }}\nflag = {{ type = \"flag\" }}\n\
         [phases.a]\n[phases.b]\n[phases.end]\nterminal = true\n\
         [[transitions.go]]\nfrom = \"a\"\nto = \"b\"\n[[transitions.leave]]\nfrom = [\"a\", \"b\"]\nto = \"end\"\n\
         {transitions}"
    );
    found(&source)
}

fn found(source: &str) -> Vec<String> {
    match claudex_build::check_source("m.toml", source) {
        Ok(_) => Vec::new(),
        Err(found) => found
            .list
            .into_iter()
            .map(|one| format!("{} ({})", one.message, one.help.unwrap()))
            .collect(),
    }
}

/// Entries from a short form: name, source, target, and the rest as TOML.
fn edge(name: &str, from: &str, to: &str, rest: &str) -> String {
    format!("[[transitions.{name}]]\nfrom = \"{from}\"\nto = \"{to}\"\n{rest}\n")
}

/// An edge of `b` back to `a`, to which `go` leads from there.
fn back(rest: &str) -> String {
    edge("back", "b", "a", rest)
}

/// An edge of `a` to itself.
fn stay(name: &str, rest: &str) -> String {
    edge(name, "a", "same", rest)
}

#[track_caller]
fn assert_unbounded(said: &[String], cycle: &str, why: &str) {
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(
        said[0].starts_with(&format!("nothing bounds the cycle {cycle}")),
        "{}",
        said[0]
    );
    assert!(said[0].contains(why), "{}", said[0]);
}

#[test]
fn the_plan_loop_is_bounded() {
    assert_eq!(found(PLAN), Vec::<String>::new());
}

#[test]
fn a_reminder_without_its_guard_is_unbounded() {
    let endless = PLAN.replacen("when    = \"reminders < 1\"\n", "", 1);
    let said = found(&endless);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(
        said[0].starts_with("nothing bounds the cycle drafting -> drafting (by remind)"),
        "{}",
        said[0]
    );
    let attach = "when    = \"reminders < 1\"\nset     = { reminders = \"reminders + 1\" }\nmessage = \"running.md\"";
    assert_eq!(PLAN.matches(attach).count(), 1);
    let said = found(&PLAN.replace(
        attach,
        "set = { reminders = \"reminders + 1\" }\nmessage = \"running.md\"",
    ));
    assert_unbounded(
        &said,
        "reviewing -> reviewing (by attach)",
        "`attach` raises `reminders`, but no guard of it",
    );
}

#[test]
fn a_round_that_no_longer_counts_is_unbounded() {
    let said = found(&PLAN.replace("round = \"round + 1\", reminders", "reminders"));
    assert!(
        said.iter()
            .any(|one| one.contains("reviewing -> reviewing (by revise)")),
        "{said:#?}"
    );
}

#[test]
fn an_edge_back_to_its_phase_needs_a_bound() {
    assert_unbounded(
        &said(&stay("again", "")),
        "a -> a (by again)",
        "such as `when = \"tries < 3\"`",
    );
}

#[test]
fn a_cycle_through_two_phases_needs_a_bound() {
    assert_unbounded(&said(&back("")), "a -> b -> a (by go, back)", "such as");
}

#[test]
fn a_count_bounds_by_a_constant_or_an_unchanged_field() {
    for when in [
        "i < 3",
        "3 > i",
        "i <= most",
        "i + 1 < most - 1",
        "i == 2",
        "i < 3 and flag == true",
        "i < 3 or i < most",
    ] {
        let back = back(&format!("when = '{when}'\nset = {{ i = \"i + 2\" }}"));
        assert_eq!(said(&back), Vec::<String>::new(), "{when}");
    }
}

#[test]
fn a_guard_that_says_not_how_far_is_no_bound() {
    for when in ["i > 3", "i != 3", "j < 3", "i < 3 or flag == true"] {
        let back = back(&format!("when = '{when}'\nset = {{ i = \"i + 1\" }}"));
        assert_unbounded(
            &said(&back),
            "a -> b -> a",
            "`back` raises `i`, but no guard of it says how far",
        );
    }
}

#[test]
fn a_bound_that_moves_is_no_bound() {
    let back = back("when = 'i < most'\nset = { i = \"i + 1\", most = \"most + 1\" }");
    assert_unbounded(
        &said(&back),
        "a -> b -> a",
        "what bounds it changes on the way",
    );
}

#[test]
fn a_count_that_stands_still_or_falls_is_no_bound() {
    for set in ["i = \"i + 0\"", "i = \"i - 1\"", "i = \"j + 1\"", "i = 0"] {
        let back = back(&format!("when = 'i < 3'\nset = {{ {set} }}"));
        assert_unbounded(&said(&back), "a -> b -> a", "a cycle ends if");
    }
}

#[test]
fn two_counts_that_reset_each_other_are_unbounded() {
    let first = stay("first", "when = 'i < 3'\nset = { i = \"i + 1\", j = 0 }");
    let second = stay("second", "when = 'j < 3'\nset = { j = \"j + 1\", i = 0 }");
    let said = said(&(first + &second));
    assert_eq!(said.len(), 2, "{said:#?}");
    assert!(
        said[0].contains("`first` raises `i`, but `second` sets it back"),
        "{}",
        said[0]
    );
    assert!(
        said[1].contains("`second` raises `j`, but `first` sets it back"),
        "{}",
        said[1]
    );
}

#[test]
fn an_inner_count_may_be_reset_by_an_outer_one() {
    let outer = edge(
        "outer",
        "b",
        "a",
        "when = 'i < most'\nset = { i = \"i + 1\", j = 0 }",
    );
    let inner = edge(
        "inner",
        "b",
        "same",
        "when = 'j < 3'\nset = { j = \"j + 1\" }",
    );
    assert_eq!(said(&(outer + &inner)), Vec::<String>::new());
}

#[test]
fn a_word_that_is_left_for_good_bounds() {
    let once = stay("once", "when = 'word == \"x\"'\nset = { word = \"y\" }");
    assert_eq!(said(&once), Vec::<String>::new());
    let flag = stay("once", "when = 'flag != true'\nset = { flag = true }");
    assert_eq!(said(&flag), Vec::<String>::new());
}

#[test]
fn a_word_that_comes_back_is_no_bound() {
    let once = stay("once", "when = 'word == \"x\"'\nset = { word = \"y\" }");
    for back in ["word = \"x\"", "word = \"next(word)\""] {
        let back = stay(
            "back",
            &format!("when = 'word == \"y\"'\nset = {{ {back} }}"),
        );
        let said = said(&(once.clone() + &back));
        assert_eq!(said.len(), 2, "{said:#?}");
    }
    let still = stay("still", "when = 'word == \"x\"'\nset = { word = \"x\" }");
    assert_eq!(said(&still).len(), 1);
}

#[test]
fn a_person_may_go_round_for_ever_and_an_agent_may_not() {
    assert_eq!(said(&back("by = [\"person\"]")), Vec::<String>::new());
    assert_eq!(said(&back("by = [\"person\", \"agent\"]")).len(), 1);
}

#[test]
fn a_person_may_reset_what_bounds() {
    let again = stay("again", "when = 'i < 3'\nset = { i = \"i + 1\" }");
    let reset = stay("reset", "set = { i = 0 }\nby = [\"person\"]");
    assert_eq!(said(&(again.clone() + &reset)), Vec::<String>::new());
    let reset = stay("reset", "set = { i = 0 }\nby = [\"agent\"]");
    assert_eq!(said(&(again + &reset)).len(), 2);
}

#[test]
fn what_a_behaviour_takes_is_not_a_persons_alone() {
    let taken = PLAN.replace("missing = \"remind\" } }", "missing = \"resume\" } }");
    assert!(
        found(&taken)
            .iter()
            .any(|one| one.contains("drafting -> drafting (by resume)")),
        "{:#?}",
        found(&taken)
    );
}

#[test]
fn an_argument_bounds_nothing() {
    let raised = |when: &str, args: &str| {
        let rest = format!(
            "by = [\"agent\"]\nwhen = '{when}'\nargs = {{ {args} }}\nset = {{ i = \"i + 1\" }}"
        );
        said(&edge("again", "b", "a", &rest))
    };
    let cycle = "a -> b -> a (by go, again)";
    assert_unbounded(
        &raised("i < args.most", "most = \"count\""),
        cycle,
        "no guard of it says how far",
    );
    let word = "next = { one_of = [\"on\", \"off\"] }";
    assert_unbounded(
        &raised("args.next == \"on\"", word),
        cycle,
        "no guard of it says how far",
    );
    assert_unbounded(
        &raised("args.next == \"on\" or i < 3", word),
        cycle,
        "no guard of it says how far",
    );
    assert_eq!(
        raised("args.next == \"on\" and i < 3", word),
        Vec::<String>::new()
    );
    let left = "by = [\"agent\"]\nwhen = 'args.next == \"on\"'\nargs = { next = { one_of = [\"on\", \"off\"] } }\nset = { flag = true }";
    assert_unbounded(
        &said(&edge("again", "b", "a", left)),
        cycle,
        "a cycle ends if",
    );
}
