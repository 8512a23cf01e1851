//! Machines out of a hat: well-formed ones, from a row of numbers that decide whatever is left open.
//!
//! A shorter row, and smaller numbers, give a smaller machine, so that a case that fails can be made small.

use std::fmt::Write as _;

/// The row of numbers.
pub(crate) struct Tape<'t> {
    numbers: &'t [u32],
    at: usize,
}

impl<'t> Tape<'t> {
    pub(crate) fn new(numbers: &'t [u32]) -> Self {
        Self { numbers, at: 0 }
    }

    /// A number below `end`; 0 once the row is used up.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let number = self.numbers.get(self.at).copied().unwrap_or_default();
        self.at += 1;
        number as usize % end.max(1)
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// Names of phases, words of Rust among them.
const PHASES: [&str; 10] = [
    "idle",
    "match",
    "type",
    "async",
    "x_y",
    "a1",
    "dyn",
    "try",
    "long_name_of_a_phase_that_goes_on",
    "gen",
];
/// Names of transitions.
const TRANSITIONS: [&str; 10] = [
    "go", "move", "use", "static", "where", "r2_d2", "break", "do", "yield", "box",
];
const ENDS: [&str; 3] = ["done", "virtual", "lost"];
/// Docs that would be trouble in a comment or in a string.
const DOCS: [&str; 10] = [
    "Plain.",
    "It's \"quoted\" \\ here",
    "größe 漢字",
    "see round_two and `code`",
    "*/ /* // #",
    "{braces} {0}",
    "see [x] and [`y`], <b>bold</b> <T>",
    "line one\n\n    # two\n- `three",
    "</text>&amp;]]>",
    "\\\\\"; x\t|",
];

/// What a phase may have for tools.
const METAS: [&str; 4] = [
    "{ color = \"red\", at = 1979-05-27 }",
    "{ a = { b = [1, 2.5, nan, { c = \"</script>\" }] } }",
    "{ \"\" = \"\", \"ü\\\"\" = \"\\\\ */ \\u202e\" }",
    "{}",
];
/// What a stop may do; empty: it is left to Rust. `review` needs a subject and its evidence, which the plan loop has.
const BEHAVIOURS: [&str; 7] = [
    "",
    "approve",
    "require-file",
    "announce",
    "ask",
    "run",
    "wait-for",
];

/// A machine's file.
pub(crate) fn machine(tape: &mut Tape<'_>) -> String {
    let (open, ends) = (1 + tape.below(6), 1 + tape.below(3));
    let phases: Vec<&str> = (0..open).map(|at| PHASES[at]).collect();
    let mut text = String::from("name = \"hat\"\n");
    if tape.yes() {
        writeln!(text, "doc = {:?}", tape.pick(&DOCS)).unwrap();
    }
    if tape.yes() {
        let form = tape.pick(&[
            "ids = \"name\"",
            "folder = \".hat/below\"",
            "extension = \"x\"",
        ]);
        writeln!(text, "[state]\n{form}").unwrap();
    }
    writeln!(text, "[modes.first]\nstart = \"{}\"", phases[0]).unwrap();
    if tape.yes() {
        let start = phases[tape.below(open)];
        writeln!(
            text,
            "[modes.second]\nstart = \"{start}\"\ninitial = {{ c = 2, f = true }}"
        )
        .unwrap();
    }
    fields(tape, &mut text, &phases);

    let mut edges = String::new();
    for (at, phase) in phases.iter().enumerate() {
        let forward = TRANSITIONS[at];
        let next = phases.get(at + 1).copied().unwrap_or(ENDS[0]);
        let behaviour = BEHAVIOURS[tape.below(BEHAVIOURS.len())];
        let lets_end = next == ENDS[0];
        let behaviour = if behaviour == "announce" && lets_end {
            "approve"
        } else {
            behaviour
        };
        let turn = match behaviour {
            // It lets the turn end.
            "approve" if !lets_end => "turn = \"end\"\n",
            // It blocks, with words.
            "announce" => "message = \"words.md\"\n",
            _ => "",
        };
        forward_edges(tape, &mut edges, [forward, phase, next], turn);
        writeln!(text, "[phases.{phase}]").unwrap();
        if tape.yes() {
            writeln!(text, "stored = \"in-{at}\"").unwrap();
        }
        if tape.yes() {
            writeln!(text, "doc = {:?}", tape.pick(&DOCS)).unwrap();
        }
        if tape.yes() {
            writeln!(text, "meta = {}", tape.pick(&METAS)).unwrap();
        }
        if tape.yes() {
            text.push_str("message = \"a b/ü.md\"\n");
        }
        on_stop(
            tape,
            &mut text,
            &mut edges,
            [behaviour, forward, phase, next],
            at,
        );
    }
    for end in &ENDS[..ends] {
        writeln!(text, "[phases.{end}]\nterminal = true").unwrap();
    }
    for (at, end) in ENDS[..ends].iter().enumerate() {
        let by = tape.pick(&["[\"agent\"]", "[\"person\", \"agent\"]", "[\"person\"]"]);
        writeln!(
            edges,
            "[[transitions.end_{at}]]\nfrom = \"*\"\nto = \"{end}\"\nby = {by}"
        )
        .unwrap();
    }
    if tape.yes() {
        let (from, to) = (phases[tape.below(open)], phases[tape.below(open)]);
        let (kind, set) = [
            ("count", "c = \"c + args.in\""),
            ("text", "t = \"args.in\", f = false"),
            ("path", "p = \"args.in\", l = \"l + args.in\""),
            ("id", "e = \"args.in\", t = \"args.in\""),
            ("flag", "f = \"args.in\""),
        ][tape.below(5)];
        let long = if tape.yes() {
            format!(
                "{{ type = \"{kind}\", doc = {:?}, optional = {} }}",
                tape.pick(&DOCS),
                tape.yes()
            )
        } else {
            format!("\"{kind}\"")
        };
        writeln!(
            edges,
            "[[transitions.back]]\nfrom = \"{from}\"\nto = \"{to}\"\nby = [\"person\"]\nargs = {{ in = {long}, more = \"count\" }}\nset = {{ {set} }}"
        )
        .unwrap();
    }
    migrations(tape, &mut edges, phases[0]);
    text + &edges
}

/// What a stop does in a phase, with the edges that only that names.
fn on_stop(
    tape: &mut Tape<'_>,
    text: &mut String,
    edges: &mut String,
    [behaviour, forward, phase, next]: [&str; 4],
    at: usize,
) {
    let path = tape.pick(&["KEY", "{p}", "a/{t}/ü"]);
    let (stays, said) = match behaviour {
        "" => return,
        "approve" | "announce" => (false, format!("{{ then = \"{forward}\" }}")),
        "require-file" => (
            true,
            format!("{{ path = {path:?}, written = \"{forward}\", missing = \"stay_{at}\" }}"),
        ),
        "run" => (
            true,
            format!(
                "{{ command = \"build-{at}\", passed = \"{forward}\", failed = [\"stay_{at}\", \"{forward}\"] }}"
            ),
        ),
        "wait-for" => {
            let what = tape.pick(&["field = \"f\"", "file = \"{t}\"", "field = \"u\""]);
            (
                true,
                format!("{{ {what}, there = \"{forward}\", waiting = [\"stay_{at}\"] }}"),
            )
        }
        _ => {
            let label = tape.pick(&["Go on", "größe \\\"漢字\\\"", "</text>&amp;", "*/ $x %s"]);
            for (name, to) in [("yes", next), ("no", ENDS[0])] {
                writeln!(
                    edges,
                    "[[transitions.{name}_{at}]]\nfrom = \"{phase}\"\nto = \"{to}\"\nby = [\"person\"]"
                )
                .unwrap();
            }
            (
                true,
                format!(
                    "{{ question = \"{label}? {{t}}\", header = \"{{w}}\", options = [{{ label = \"{label}\", then = \"yes_{at}\" }}, \
                     {{ label = \"No\", description = \"{label}\", then = \"no_{at}\" }}], unanswered = [\"stay_{at}\", \"{forward}\"] }}"
                ),
            )
        }
    };
    writeln!(text, "on_stop.{behaviour} = {said}").unwrap();
    if stays {
        writeln!(
            edges,
            "[[transitions.stay_{at}]]\nfrom = \"{phase}\"\nto = \"same\"\nwhen = \"k < {}\"\nset = {{ k = \"k + {}\" }}",
            1 + tape.below(9),
            1 + tape.below(2)
        )
        .unwrap();
    }
}

/// How loops of earlier versions go on.
fn migrations(tape: &mut Tape<'_>, text: &mut String, phase: &str) {
    for at in 0..tape.below(3) {
        let does = tape.pick(&[
            "set = { c = 3 }",
            "fields = { was_t = \"t\" }",
            "words = { w = { old = \"b-2\" } }",
            "doc = \"*/ as it was\"\nset = { u = \"2026-11-22T07:00:00Z\", l = [\"a\\\"\"], e = \"\" }",
        ]);
        writeln!(
            text,
            "[[migrations]]\nfrom = [\"{at}123456789abcdef\"]\nphases = {{ gone_{at} = \"{phase}\" }}\n{does}"
        )
        .unwrap();
    }
}

/// What the engine keeps, and a field of each kind.
fn fields(tape: &mut Tape<'_>, text: &mut String, phases: &[&str]) {
    text.push_str("[fields]\n");
    let mut held = vec![
        "phase",
        "id",
        "root",
        "session",
        "revision",
        "machine",
        "graph-hash",
        "mode",
        "updated",
        "started",
    ];
    // Migrations need the hash.
    held.truncate(7 + tape.below(4));
    let first = tape.below(held.len());
    held.rotate_left(first);
    for name in held {
        writeln!(
            text,
            "h_{} = {{ holds = \"{name}\" }}",
            name.replace('-', "_")
        )
        .unwrap();
    }
    let start = ["", ", at_start = \"optional\"", ", at_start = \"required\""];
    let initial = [0, 1, 7, u32::MAX as usize];
    let count = |tape: &mut Tape<'_>| initial[tape.below(4)];
    writeln!(text, "k = {{ type = \"count\" }}").unwrap();
    writeln!(
        text,
        "c = {{ type = \"count\", initial = {}{} }}",
        count(tape),
        tape.pick(&start)
    )
    .unwrap();
    writeln!(
        text,
        "d = {{ type = \"count\", initial = {} }}",
        count(tape)
    )
    .unwrap();
    writeln!(text, "f = {{ type = \"flag\"{} }}", tape.pick(&start)).unwrap();
    writeln!(
        text,
        "t = {{ type = \"text\", initial = {:?}{} }}",
        tape.pick(&DOCS),
        tape.pick(&start)
    )
    .unwrap();
    writeln!(text, "p = {{ type = \"path\", initial = \"a b/ü\" }}").unwrap();
    writeln!(
        text,
        "w = {{ one_of = [\"a\", \"b-2\", \"3\"]{} }}",
        tape.pick(&start)
    )
    .unwrap();
    let times = [
        "",
        ", initial = \"2026-11-22T09:00:00+02:00\"",
        ", initial = 1979-05-27T07:32:00Z",
    ];
    let lists = ["", ", initial = [\"a\", \"\"]", ", initial = []"];
    writeln!(
        text,
        "u = {{ type = \"time\"{}{} }}",
        tape.pick(&times),
        tape.pick(&start)
    )
    .unwrap();
    writeln!(text, "e = {{ type = \"id\"{} }}", tape.pick(&start)).unwrap();
    writeln!(
        text,
        "l = {{ type = \"list\"{}{} }}",
        tape.pick(&lists),
        tape.pick(&start)
    )
    .unwrap();
    if tape.yes() {
        let last = phases.len() - tape.below(phases.len());
        let within = &phases[..last];
        let kind = tape.pick(&[
            "type = \"count\", initial = 7",
            "type = \"list\"",
            "one_of = [\"x\"]",
            "type = \"id\"",
            "type = \"time\"",
        ]);
        writeln!(
            text,
            "only = {{ {kind}, in = {within:?}, doc = {:?} }}",
            tape.pick(&DOCS)
        )
        .unwrap();
    }
}

/// One edge on, or two between which a guard decides.
fn forward_edges(
    tape: &mut Tape<'_>,
    text: &mut String,
    [name, from, next]: [&str; 3],
    turn: &str,
) {
    let limit = tape.below(5);
    let guards = [
        (format!("c <= {limit}"), format!("c > {limit}")),
        ("f == true".to_owned(), "f == false".to_owned()),
        ("w == \"a\"".to_owned(), "w != \"a\"".to_owned()),
        (
            format!("c <= {limit} and (f == true or w != \"3\")"),
            format!("c > {limit} or f == false and w == \"3\""),
        ),
        ("c + 1 < d".to_owned(), "c + 1 >= d".to_owned()),
        (
            format!("count(l) <= {limit}"),
            format!("count(l) > {limit}"),
        ),
        ("u - 60 <= now".to_owned(), "u > now + 60".to_owned()),
        ("e == \"id-1\"".to_owned(), "e != \"id-1\"".to_owned()),
        (
            "t == \"text 1\" or u == \"\"".to_owned(),
            "t != \"text 1\" and u != \"\"".to_owned(),
        ),
    ];
    let sets = [
        "",
        "set = { c = 3, f = true }\n",
        "set = { w = \"next(w)\", d = \"d + 1\" }\n",
        "set = { t = \"é\\\"\" }\n",
        "set = { u = \"now + 600\", l = [\"a\", \"é\"], e = \"id_1\" }\n",
        "set = { u = \"u - 5\", l = [], e = \"\" }\n",
    ];
    let set = tape.pick(&sets);
    if tape.yes() {
        let (when, otherwise) = &guards[tape.below(guards.len())];
        // `announce` blocks with the words of either; what lets the turn end may as well end the loop.
        let (other, words) = match turn {
            "" => (tape.pick(&[next, ENDS[0]]), ""),
            turn if turn.starts_with("message") => (next, turn),
            _ => (ENDS[0], ""),
        };
        writeln!(
            text,
            "[[transitions.{name}]]\nfrom = \"{from}\"\nto = \"{next}\"\nwhen = '{when}'\n{turn}{set}"
        )
        .unwrap();
        writeln!(
            text,
            "[[transitions.{name}]]\nfrom = [\"{from}\"]\nto = \"{other}\"\n{words}when = '{otherwise}'"
        )
        .unwrap();
    } else {
        writeln!(
            text,
            "[[transitions.{name}]]\nfrom = \"{from}\"\nto = \"{next}\"\n{turn}{set}doc = {:?}",
            tape.pick(&DOCS)
        )
        .unwrap();
    }
}
