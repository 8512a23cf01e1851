//! Every legal walk of every machine of the workspace, on the real store, through the generated methods.
//!
//! The walks are made by a program of a crate outside the workspace, which has the code of all machines; `walks/walker.rs`
//! is its heart. Here the crate is written: for each machine one arm per edge, so that each call is of the typed method.

use std::fmt::Write as _;
use std::process::Command;

use claudex_build::model::{ArgumentKind, AtStart, Evidence, FieldKind, Machine};

#[path = "support/machines.rs"]
mod machines;
#[path = "support/stranger.rs"]
mod stranger;

use claudex_testkit::pairs::type_of;
use claudex_testkit::search::{Search, Way};
use machines::Found;

/// The calls of one machine.
fn calls(found: &Found) -> String {
    let (module, machine) = (&found.module, &found.machine);
    let marker = type_of(&machine.name.value);
    let mut start = format!("{module}::Start {{ mode: mode.parse().unwrap()");
    for field in &machine.fields {
        let value = match (field.at_start, &field.kind) {
            (AtStart::Never, _) => continue,
            (AtStart::Optional, _) => "None".to_owned(),
            (AtStart::Required, FieldKind::OneOf(words)) => format!("{:?}.parse().unwrap()", words[0].value),
            (AtStart::Required, _) => "Given::given()".to_owned(),
        };
        write!(start, ", r#{}: {value}", field.name.value).unwrap();
    }
    start.push_str(" }");
    let mut arms = String::new();
    let mut known: Vec<(usize, &str)> = Vec::new();
    for edge in machine.edges() {
        let name = edge.declared.name.value.as_str();
        if known.contains(&(edge.from, name)) {
            continue;
        }
        known.push((edge.from, name));
        let (evidence, shown) = match edge.declared.requires.as_ref().map(|evidence| evidence.value) {
            None => ("", vec![]),
            Some(Evidence::Settled) => (
                "let evidence = settled(held.raw(), held.phase().review()); ",
                vec!["&evidence"],
            ),
            // Nobody is there to permit commands.
            Some(Evidence::Verified) => continue,
            Some(Evidence::Reviewed) => (
                "let evidence = reviewed(held.raw(), held.phase().review()); ",
                vec!["&evidence"],
            ),
        };
        let given = edge.declared.args.iter().map(|_| "Given::given()");
        let arguments: Vec<_> = shown.into_iter().chain(given).collect();
        writeln!(
            arms,
            "            ({module}::AnyLoop::{}(held), {name:?}) => {{ {evidence}held.r#{name}({}).map(Into::into)\
             .map_err(|refused| refused.map(Into::into)) }}",
            type_of(&machine.phases[edge.from].name.value),
            arguments.join(", "),
        )
        .unwrap();
    }
    format!(
        "impl Walked for {module}::{marker} {{
    type Any = {module}::AnyLoop;
    fn start(store: &Store, mode: &str, how: Beginning) -> Self::Any {{
        let start = {start};
        let by = start.mode.info().by.first().copied().unwrap_or(Actor::Hook);
        start.begin(store, how, by).unwrap()
    }}
    fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<Self::Any, OpenError> {{
        {module}::AnyLoop::open(store, id, actor)
    }}
    fn raw(held: &Self::Any) -> &Raw {{ held.raw() }}
    fn phase(held: &Self::Any) -> String {{ held.phase().to_string() }}
    fn review(held: &Self::Any) -> Option<&'static ReviewSpec> {{ held.phase().review() }}
    fn take(held: Self::Any, transition: &str) -> Result<Self::Any, Refused<Self::Any>> {{
        match (held, transition) {{
{arms}            (held, other) => panic!(\"{{other}} is no edge of {{}}\", held.phase()),
        }}
    }}
}}
"
    )
}

const IMPORTS: &str = "//! Walks every machine and says what it came to.
mod machines;
mod walker;

use claudex_loop::machine::Raw;
use claudex_loop::review::ReviewSpec;
use claudex_loop::store::{LoopId, Store};
use claudex_loop::{Actor, Beginning, OpenError, Refused};
use machines::*;
use walker::{Given, Walked, reviewed, settled};

";

/// The program: the calls of all machines, and the walks.
fn program(all: &[Found]) -> String {
    let mut text = String::from(IMPORTS);
    let mut walks = String::new();
    for found in all {
        let Machine { fields, name, .. } = &found.machine;
        let required: Vec<_> = fields
            .iter()
            .filter(|field| field.at_start == AtStart::Required)
            .map(|field| &field.name.value)
            .collect();
        text.push_str(&calls(found));
        writeln!(
            walks,
            "    walks.push(std::thread::spawn(|| walker::run::<{}::{}>(&folder().join({:?}), &{required:?})));",
            found.module,
            type_of(&name.value),
            found.module,
        )
        .unwrap();
    }
    write!(
        text,
        "
fn folder() -> std::path::PathBuf {{ std::env::args().nth(1).unwrap().into() }}

fn main() {{
    let mut walks = Vec::new();
{walks}
    for walk in walks {{
        let report = walk.join().unwrap();
        let taken = report.hits.iter().filter(|hits| **hits > 0).count();
        let which = if report.thinned {{ \"walks, one for each state of the guards,\" }} else {{ \"walks\" }};
        println!(
            \"{{}}: {{}} {{which}} to depth {{}} took {{taken}} of {{}} edges in {{}} steps; {{}} refusals changed nothing\",
            report.machine, report.walks, report.depth, report.hits.len(), report.steps, report.refusals
        );
        println!(\"hits {{}} {{:?}}\", report.machine, report.hits);
    }}
}}
"
    )
    .unwrap();
    text
}

/// Whether every edge is taken within the walker's steps, from a start that is given nothing but what it requires, and with arguments that
/// are of a plain type. Any other machine is
/// walked by the kit alone, which searches for what opens an edge.
fn is_walked_here(found: &Found) -> bool {
    let mut arguments = found
        .machine
        .transitions
        .iter()
        .flat_map(|declared| &declared.args);
    if arguments.any(|argument| matches!(argument.kind.value, ArgumentKind::OneOf(_))) {
        return false;
    }
    let search = Search::new(&found.machine, |_, _| true, 0).run(&found.place, &found.source);
    let required = found.machine.fields.iter();
    let required = required
        .filter(|field| field.at_start == AtStart::Required)
        .count();
    let plain = |way: &Way| way.given.len() == required && way.edges().count() <= 12;
    search.ways.iter().all(plain)
}

#[test]
#[expect(clippy::print_stdout, reason = "the numbers are what the test has to say")]
fn every_legal_walk_of_every_machine_leaves_what_the_machine_says_and_takes_every_edge() {
    let mut all = machines::all();
    all.retain(is_walked_here);
    let stranger = machines::crate_of("walks", &all);
    stranger.write("src/main.rs", &program(&all));
    stranger.write("src/walker.rs", include_str!("walks/walker.rs"));
    let built = stranger.cargo(&["build"]);
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );

    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let begun = std::time::Instant::now();
    let walked = Command::new(stranger::target().join("debug/walks"))
        .arg(folder.path().join("läufe"))
        // A record of their own: these walks say nothing about the rest of the tests.
        .env("CLAUDEX_COVERAGE", &record)
        .env_remove("CLAUDEX_EVIDENCE")
        .output()
        .unwrap();
    let said = String::from_utf8(walked.stdout).unwrap();
    print!("{said}");
    println!("in {:?}", begun.elapsed());
    assert!(
        walked.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&walked.stderr)
    );

    for found in &all {
        let name = &found.machine.name.value;
        let taken: usize = said
            .lines()
            .filter(|line| line.starts_with(&format!("{name}: ")))
            .filter_map(|line| {
                line.split_once(" took ")?
                    .1
                    .split(' ')
                    .next()?
                    .parse::<usize>()
                    .ok()
            })
            .sum();
        assert_eq!(taken, found.machine.edges().len(), "{name}: {said}");

        let hits = said
            .lines()
            .find_map(|line| line.strip_prefix(&format!("hits {name} ")))
            .unwrap();
        let hits: Vec<usize> = serde_json::from_str(hits).unwrap();
        let lines = std::fs::read_to_string(record.join(format!("{name}.edges"))).unwrap();
        for (edge, hits) in hits.iter().enumerate() {
            let recorded = lines
                .lines()
                .filter(|line| line.split(' ').nth(2) == Some(&edge.to_string()));
            assert_eq!(
                recorded.count(),
                *hits,
                "{name}: each step left a line of its edge"
            );
        }
    }
}
