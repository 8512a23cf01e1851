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
const DOCS: [&str; 6] = [
    "Plain.",
    "It's \"quoted\" \\ here",
    "größe 漢字",
    "see round_two and `code`",
    "*/ /* // #",
    "{braces} {0}",
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
        let form = tape.pick(&["ids = \"name\"", "folder = \".hat/below\"", "extension = \"x\""]);
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
    fields(tape, &mut text);

    let mut edges = String::new();
    for (at, phase) in phases.iter().enumerate() {
        let forward = TRANSITIONS[at];
        let next = phases.get(at + 1).copied().unwrap_or(ENDS[0]);
        let behaviour = tape.below(3);
        // `approve` lets the turn end.
        let turn = if behaviour == 1 && next != ENDS[0] {
            "turn = \"end\"\n"
        } else {
            ""
        };
        forward_edges(tape, &mut edges, [forward, phase, next], turn);
        writeln!(text, "[phases.{phase}]").unwrap();
        if tape.yes() {
            writeln!(text, "stored = \"in-{at}\"").unwrap();
        }
        if tape.yes() {
            writeln!(text, "doc = {:?}", tape.pick(&DOCS)).unwrap();
        }
        match behaviour {
            0 => {}
            1 => writeln!(text, "on_stop = {{ approve = {{ then = \"{forward}\" }} }}").unwrap(),
            _ => {
                let path = tape.pick(&["KEY", "{p}", "a/{t}/ü"]);
                writeln!(
                    text,
                    "on_stop = {{ require-file = {{ path = {path:?}, written = \"{forward}\", missing = \"stay_{at}\" }} }}"
                )
                .unwrap();
                writeln!(
                    edges,
                    "[[transitions.stay_{at}]]\nfrom = \"{phase}\"\nto = \"same\"\nwhen = \"k < {}\"\nset = {{ k = \"k + {}\" }}",
                    1 + tape.below(9),
                    1 + tape.below(2)
                )
                .unwrap();
            }
        }
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
        let kind = tape.pick(&["count", "text"]);
        let set = if kind == "count" {
            "c = \"c + args.in\""
        } else {
            "t = \"args.in\", f = false"
        };
        writeln!(
            edges,
            "[[transitions.back]]\nfrom = \"{from}\"\nto = \"{to}\"\nby = [\"person\"]\nargs = {{ in = \"{kind}\" }}\nset = {{ {set} }}"
        )
        .unwrap();
    }
    text + &edges
}

/// What the engine keeps, and a field of each kind.
fn fields(tape: &mut Tape<'_>, text: &mut String) {
    text.push_str("[fields]\n");
    let mut held = vec![
        "phase", "id", "root", "session", "revision", "machine", "mode", "updated",
    ];
    held.truncate(6 + tape.below(3));
    let first = tape.below(held.len());
    held.rotate_left(first);
    for name in held {
        writeln!(text, "h_{name} = {{ holds = \"{name}\" }}").unwrap();
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
    writeln!(text, "d = {{ type = \"count\", initial = {} }}", count(tape)).unwrap();
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
}

/// One edge on, or two between which a guard decides.
fn forward_edges(tape: &mut Tape<'_>, text: &mut String, [name, from, next]: [&str; 3], turn: &str) {
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
    ];
    let sets = [
        "",
        "set = { c = 3, f = true }\n",
        "set = { w = \"next(w)\", d = \"d + 1\" }\n",
        "set = { t = \"é\\\"\" }\n",
    ];
    let set = tape.pick(&sets);
    if tape.yes() {
        let (when, otherwise) = &guards[tape.below(guards.len())];
        let other = if turn.is_empty() {
            tape.pick(&[next, ENDS[0]])
        } else {
            ENDS[0]
        };
        writeln!(
            text,
            "[[transitions.{name}]]\nfrom = \"{from}\"\nto = \"{next}\"\nwhen = '{when}'\n{turn}{set}"
        )
        .unwrap();
        writeln!(
            text,
            "[[transitions.{name}]]\nfrom = [\"{from}\"]\nto = \"{other}\"\nwhen = '{otherwise}'"
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
