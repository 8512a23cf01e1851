//! The search finds a way to every edge that can be reached, and says of the others why not.

use claudex_build::model::Machine;
use claudex_testkit::search::{Found, Search};

const NOW: u64 = 1_800_000_000;

fn searched(name: &str, source: &str) -> (Machine, Found) {
    let machine =
        claudex_build::check_source(name, source).unwrap_or_else(|found| panic!("{found}"));
    let found = Search::new(&machine, |_, _| true, NOW).run(name, source);
    (machine, found)
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "the numbers are what the test has to say"
)]
fn two_large_machines_have_a_way_to_every_edge() {
    for (name, source) in [
        (
            "taskie/machine.toml",
            include_str!("../../taskie/machine.toml"),
        ),
        ("stages.toml", include_str!("../../stages/machine.toml")),
    ] {
        let (machine, found) = searched(name, source);
        let all = machine.edges().len();
        let longest = found.ways.iter().map(|way| way.steps.len()).max();
        println!(
            "{name}: a way to {} of {all} edges, {} ways, the longest of {} steps, {} states",
            all - found.unreached.len(),
            found.ways.len(),
            longest.unwrap_or_default(),
            found.states,
        );
        assert_eq!(found.unreached, [], "{name}");
    }
}

/// A machine of one phase, in which a file is waited for: its edges and its fields are what a test is about.
fn small(fields: &str, behaviour: &str, transitions: &str) -> (Machine, Found) {
    let source = format!(
        "name = \"small\"\n[modes.small]\nstart = \"open\"\n[fields]\nphase = {{ holds = \"phase\" }}\nid = {{ holds = \"id\" }}\n\
         root = {{ holds = \"root\" }}\nsession = {{ holds = \"session\" }}\nrevision = {{ holds = \"revision\" }}\n\
         machine = {{ holds = \"machine\" }}\n{fields}\n[phases.open]\n{behaviour}\n[phases.shut]\nterminal = true\n{transitions}"
    );
    let machine = claudex_build::check_source("small.toml", &source)
        .unwrap_or_else(|found| panic!("{found}"));
    let found = Search::new(&machine, |_, transition| transition != "nobody", NOW)
        .run("small.toml", &source);
    (machine, found)
}

const WAIT: &str =
    "on_stop = { wait-for = { file = \"GO\", there = [\"skip\", \"go\"], waiting = \"remind\" } }";

#[test]
fn a_start_value_that_opens_an_edge_is_found_however_long_the_way_is() {
    let (machine, found) = small(
        "most = { type = \"count\", initial = 30, at_start = \"optional\" }\nreminders = { type = \"count\" }",
        WAIT,
        "[[transitions.skip]]\nfrom = \"open\"\nto = \"shut\"\nwhen = \"most == 0\"\n\
         [[transitions.go]]\nfrom = \"open\"\nto = \"shut\"\nwhen = \"reminders >= 25\"\n\
         [[transitions.remind]]\nfrom = \"open\"\nto = \"same\"\nwhen = \"reminders < most\"\n\
         set = { reminders = \"reminders + 1\" }",
    );
    assert_eq!(found.unreached, []);
    assert_eq!(found.ways[0].steps.len(), 26, "25 reminders, then it goes");
    let most = machine
        .fields
        .iter()
        .position(|field| field.name.value == "most")
        .unwrap();
    let skipped = found.ways.iter().find(|way| way.steps.len() == 1).unwrap();
    assert_eq!(skipped.given[0].0, most);
    assert_eq!(skipped.given[0].1.to_string(), "0");
}

#[test]
fn a_time_is_waited_for() {
    let (_, found) = small(
        "since = { type = \"time\" }\ntries = { type = \"count\" }",
        WAIT,
        "[[transitions.skip]]\nfrom = \"open\"\nto = \"shut\"\nwhen = 'since != \"\" and since + 2 <= now'\n\
         [[transitions.go]]\nfrom = \"open\"\nto = \"same\"\nwhen = 'tries < 1'\nset = { since = \"now\", tries = \"tries + 1\" }\n\
         [[transitions.remind]]\nfrom = \"open\"\nto = \"shut\"",
    );
    assert_eq!(found.unreached, []);
    assert!(
        found.ways.iter().any(|way| way.steps.len() == 3),
        "go, a wait, skip"
    );
}

#[test]
fn what_cannot_be_reached_is_named_with_the_reason() {
    let (_, found) = small(
        "reminders = { type = \"count\" }\ndone = { type = \"flag\" }",
        WAIT,
        "[[transitions.skip]]\nfrom = \"open\"\nto = \"shut\"\n\
         [[transitions.go]]\nfrom = \"open\"\nto = \"shut\"\n\
         [[transitions.remind]]\nfrom = \"open\"\nto = \"shut\"\nwhen = \"done == true\"\n",
    );
    let why: Vec<_> = found
        .unreached
        .iter()
        .map(|one| format!("{}: {}", one.what, one.why))
        .collect();
    assert_eq!(
        why,
        [
            "`go` in `open` (small.toml:20): wherever its guard holds, another transition is taken before it",
            "`remind` in `open` (small.toml:23): its guard `done == true` holds in none of the 2 states that were visited",
        ]
    );

    let (_, found) = small(
        "",
        "",
        "[[transitions.nobody]]\nfrom = \"open\"\nto = \"shut\"\n\
         [[transitions.leave]]\nfrom = \"open\"\nto = \"shut\"\nby = [\"person\"]",
    );
    let why: Vec<_> = found.unreached.iter().map(|one| one.why.as_str()).collect();
    assert_eq!(
        why,
        [
            "only Rust takes it: say with `Kit::own` or `Kit::verb` what makes the program take `nobody` in `open`"
        ]
    );
}

#[test]
fn arguments_that_open_an_edge_are_found_and_constants_are_given() {
    let args = "args = { word = { one_of = [\"leave\", \"stay\"] }, score = \"count\" }";
    let (machine, found) = small(
        "score = { type = \"count\", initial = 5 }\nlast = { one_of = [\"leave\", \"stay\"] }\nround = { type = \"count\" }",
        "on_stop = { wait-for = { file = \"GO\", there = [{ then = \"end\", with = { hard = false } }, { then = \"end\", with = { hard = true } }], waiting = { then = \"wait\", with = { score = 7 } } } }",
        &format!(
            "[[transitions.conclude]]\nfrom = \"open\"\nto = \"same\"\nby = [\"agent\"]\n{args}\n\
             when = 'args.word == \"stay\" and args.score >= score + 20 and round < 3'\n\
             set = {{ round = \"round + 1\", last = \"args.word\" }}\n\
             [[transitions.conclude]]\nfrom = \"open\"\nto = \"shut\"\nby = [\"agent\"]\n{args}\n\
             when = 'args.word == \"leave\" or args.score < score + 20 or round >= 3'\n\
             [[transitions.exactly]]\nfrom = \"open\"\nto = \"shut\"\nby = [\"agent\"]\nargs = {{ hard = \"flag\", score = \"count\" }}\n\
             when = 'args.hard == false and args.score == 77 and last == \"stay\"'\n\
             [[transitions.end]]\nfrom = \"open\"\nto = \"shut\"\nargs = {{ hard = \"flag\" }}\nwhen = 'args.hard == true and score == 7'\n\
             [[transitions.wait]]\nfrom = \"open\"\nto = \"same\"\nargs = {{ score = \"count\" }}\nwhen = \"round < 5\"\n\
             set = {{ score = \"args.score\", round = \"round + 1\" }}"
        ),
    );
    assert_eq!(found.unreached, []);
    let way = |name: &str| {
        let edges = machine.edges();
        let last = |way: &&claudex_testkit::search::Way| {
            let edge = way.steps.last().and_then(|step| step.edge);
            edge.is_some_and(|edge| edges[edge].declared.name.value == name)
        };
        found.ways.iter().find(last).map(|way| way.steps.len())
    };
    assert_eq!(way("end"), Some(2), "one wait has to come before it");
}
