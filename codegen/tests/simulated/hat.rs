//! Small machines out of a hat whose edges go anywhere, with any guards and updates: most of them are refused.

use std::fmt::Write as _;

/// Numbers that look random, the same ones each time.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const HEAD: &str = r#"name = "hat"
[modes.hat]
start = "a"
[fields]
phase = { holds = "phase" }
id = { holds = "id" }
root = { holds = "root" }
session = { holds = "session" }
revision = { holds = "revision" }
machine = { holds = "machine" }
i = { type = "count" }
j = { type = "count", initial = 1 }
most = { type = "count", initial = 2 }
f = { type = "flag" }
w = { one_of = ["x", "y", "3"] }
t = { type = "text", initial = "p" }
l = { type = "list" }
u = { type = "time" }
"#;

/// A machine's file.
pub(crate) fn machine(dice: &mut Dice) -> String {
    let mut text = HEAD.to_owned();
    if dice.one_in(2) {
        let within = dice.pick(&["\"b\"", "\"a\", \"b\"", "\"b\", \"c\"", "\"a\", \"c\""]);
        writeln!(
            text,
            "n = {{ type = \"count\", initial = {}, in = [{within}] }}",
            dice.below(3)
        )
        .unwrap();
        writeln!(text, "v = {{ one_of = [\"x\", \"y\"], in = [{within}] }}").unwrap();
    } else {
        text.push_str("n = { type = \"count\" }\nv = { one_of = [\"x\", \"y\"] }\n");
    }
    text.push_str("[phases.a]\n[phases.b]\n[phases.c]\n[phases.end]\nterminal = true\n");
    text.push_str(
        "[[transitions.on]]\nfrom = \"a\"\nto = \"b\"\n[[transitions.further]]\nfrom = \"b\"\nto = \"c\"\n",
    );
    text.push_str("[[transitions.leave]]\nfrom = \"*\"\nto = \"end\"\nby = [\"agent\"]\n");
    for at in 0..=dice.below(5) {
        transition(dice, &mut text, at);
    }
    text
}

/// Entries of one transition, which agree in who takes them and with what.
fn transition(dice: &mut Dice, text: &mut String, at: usize) {
    let by = dice.pick(&[
        "",
        "",
        "by = [\"agent\"]\n",
        "by = [\"person\"]\n",
        "by = [\"person\", \"agent\"]\n",
    ]);
    let (args, given) = [
        ("", ""),
        ("", ""),
        ("args = { k = \"count\" }\n", "count"),
        ("args = { k = \"text\" }\n", "text"),
        (
            "args = { k = { type = \"text\", optional = true } }\n",
            "text",
        ),
        ("args = { k = \"flag\" }\n", "flag"),
    ][dice.below(6)];
    let from = dice.pick(&["a", "b", "c", "a\", \"b", "b\", \"c", "a\", \"b\", \"c"]);
    let guard = guard(dice, 2);
    let guards = match dice.below(4) {
        0 => vec![String::new()],
        1 => vec![text_of(&guard)],
        2 => vec![text_of(&guard), text_of(&opposite(dice, &guard))],
        _ => {
            let second = self::guard(dice, 1);
            let not = opposite(dice, &guard);
            vec![
                text_of(&guard),
                format!("({}) and ({})", text_of(&not), text_of(&second)),
                format!(
                    "({}) and ({})",
                    text_of(&not),
                    text_of(&opposite(dice, &second))
                ),
            ]
        }
    };
    for when in guards {
        let to = dice.pick(&["same", "a", "b", "c", "end"]);
        write!(
            text,
            "[[transitions.e{at}]]\nfrom = [\"{from}\"]\nto = \"{to}\"\n{by}{args}"
        )
        .unwrap();
        if !when.is_empty() {
            writeln!(text, "when = '{when}'").unwrap();
        }
        let mut set: Vec<String> = (0..dice.below(3)).map(|_| update(dice, given)).collect();
        set.sort();
        set.dedup_by_key(|one| one[..1].to_owned());
        if !set.is_empty() {
            writeln!(text, "set = {{ {} }}", set.join(", ")).unwrap();
        }
    }
}

fn update(dice: &mut Dice, given: &str) -> String {
    let count = dice.pick(&["i", "j", "n", "i", "most"]);
    match (given, dice.below(12)) {
        ("count", 0..3) => format!("{count} = \"{count} + args.k\""),
        ("count", 3) => format!("{count} = \"args.k\""),
        ("text", 0..3) => "l = \"l + args.k\"".to_owned(),
        ("text", 3) => "t = \"args.k\"".to_owned(),
        ("flag", 0..3) => "f = \"args.k\"".to_owned(),
        (_, 0..6) => format!("{count} = \"{count} + {}\"", 1 + dice.below(2)),
        (_, 6) => format!("{count} = \"{} - 1\"", dice.pick(&["i", "j", "n"])),
        (_, 7) => format!("w = \"{}\"", dice.pick(&["x", "y", "3", "next(w)"])),
        (_, 8) => format!("f = {}", dice.pick(&["true", "false"])),
        (_, 9) => format!("t = \"{}\"", dice.pick(&["p", "q", ""])),
        (_, 10) => format!(
            "u = \"{}\"",
            dice.pick(&["now", "now + 2", "u + 1", "", "1970-01-01T00:00:03Z"])
        ),
        _ => dice
            .pick(&[
                "i = 0",
                "n = 1",
                "l = []",
                "l = [\"p\"]",
                "v = \"y\"",
                "v = \"x\"",
                "i = \"j\"",
            ])
            .to_owned(),
    }
}

/// A guard as text, before it is put in parentheses.
enum Guard {
    Compare(String, &'static str, String),
    Both(Box<Guard>, Box<Guard>),
    Either(Box<Guard>, Box<Guard>),
}

const SIGNS: [(&str, &str); 6] = [
    ("<", ">="),
    ("<=", ">"),
    ("==", "!="),
    (">=", "<"),
    (">", "<="),
    ("!=", "=="),
];

fn guard(dice: &mut Dice, depth: usize) -> Guard {
    if depth > 0 && dice.one_in(3) {
        let (left, right) = (
            Box::new(guard(dice, depth - 1)),
            Box::new(guard(dice, depth - 1)),
        );
        return if dice.one_in(2) {
            Guard::Both(left, right)
        } else {
            Guard::Either(left, right)
        };
    }
    let (left, right) = match dice.below(10) {
        0..5 => {
            let right = match dice.below(3) {
                0 => format!(
                    "{} {} {}",
                    dice.pick(&["j", "n", "i"]),
                    dice.pick(&["+", "-"]),
                    dice.below(3)
                ),
                1 => "most".to_owned(),
                _ => dice.below(4).to_string(),
            };
            (
                dice.pick(&["i", "i", "j", "n", "i + 1", "j - 1"])
                    .to_owned(),
                right,
            )
        }
        5 => (
            "count(l)".to_owned(),
            dice.pick(&["2", "1", "i", "most"]).to_owned(),
        ),
        6 => {
            let right = dice.pick(&["now", "now - 1", "\"1970-01-01T00:00:02Z\"", "\"\""]);
            (
                dice.pick(&["u", "u + 1", "u - 2"]).to_owned(),
                right.to_owned(),
            )
        }
        7 => return words(dice, "w", &["\"x\"", "\"y\"", "\"3\""]),
        8 => return words(dice, "f", &["true", "false"]),
        _ => {
            return if dice.one_in(2) {
                words(dice, "t", &["\"p\"", "\"q\"", "\"text 1\""])
            } else {
                words(dice, "v", &["\"x\"", "\"y\""])
            };
        }
    };
    Guard::Compare(left, SIGNS[dice.below(6)].0, right)
}

fn words(dice: &mut Dice, field: &str, of: &[&str]) -> Guard {
    let sign = if dice.one_in(3) { "!=" } else { "==" };
    Guard::Compare(field.to_owned(), sign, dice.pick(of).to_owned())
}

/// The opposite, mostly.
fn opposite(dice: &mut Dice, guard: &Guard) -> Guard {
    match guard {
        Guard::Compare(left, sign, right) => {
            let not = SIGNS
                .iter()
                .find(|(known, _)| known == sign)
                .map_or("==", |(_, not)| not);
            let sign = if dice.one_in(12) { "==" } else { not };
            Guard::Compare(left.clone(), sign, right.clone())
        }
        Guard::Both(left, right) => Guard::Either(
            Box::new(opposite(dice, left)),
            Box::new(opposite(dice, right)),
        ),
        Guard::Either(left, right) => Guard::Both(
            Box::new(opposite(dice, left)),
            Box::new(opposite(dice, right)),
        ),
    }
}

fn text_of(guard: &Guard) -> String {
    match guard {
        Guard::Compare(left, sign, right) => format!("{left} {sign} {right}"),
        Guard::Both(left, right) => format!("({}) and ({})", text_of(left), text_of(right)),
        Guard::Either(left, right) => format!("({}) or ({})", text_of(left), text_of(right)),
    }
}
