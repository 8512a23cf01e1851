//! The solver against trying out every value.

use proptest::prelude::*;

use super::*;
use crate::model::texts::Word;
use crate::model::{ArgumentKind, At, AtStart, Many};

fn field(name: &str, kind: FieldKind) -> Field {
    let name = At::new(name.to_owned(), 0..0);
    Field {
        name,
        kind,
        initial: None,
        null: None,
        at_start: AtStart::Never,
        key: None,
        min: None,
        max: None,
        within: None,
        doc: String::new(),
    }
}

fn words() -> Many<At<Word>> {
    let words = ["x", "y", "z"].map(|word| Word::try_from(word.to_owned()).expect("a word"));
    words.map(|word| At::new(word, 0..0)).into_iter().collect()
}

fn fields() -> Vec<Field> {
    vec![
        field("i", FieldKind::Count),
        field("v", FieldKind::OneOf(words())),
    ]
}

fn arguments() -> Vec<Argument> {
    let argument = |name: &str, kind| Argument {
        name: At::new(name.to_owned(), 0..0),
        kind,
        doc: String::new(),
        optional: false,
    };
    vec![
        argument("j", ArgumentKind::Count),
        argument("w", ArgumentKind::OneOf(words())),
    ]
}

/// Values of the fields `i` and `v` and the arguments `j` and `w`, in the order of the alphabet.
type Values = (i64, i64, &'static str, &'static str);

fn holds(guard: &Guard, values: Values) -> bool {
    let number = |operand: &Operand| match operand {
        Operand::Field { name, offset } if name.value == "i" => Some(values.0 + offset),
        Operand::Argument { name, offset } if name.value == "j" => Some(values.1 + offset),
        Operand::Constant(Constant::Count(number)) => Some(i64::try_from(*number).unwrap()),
        _ => None,
    };
    let text = |operand: &Operand| match operand {
        Operand::Field { .. } => values.2.to_owned(),
        Operand::Argument { .. } => values.3.to_owned(),
        Operand::Constant(constant) => word(constant),
    };
    match guard {
        Guard::All(parts) => parts.iter().all(|part| holds(part, values)),
        Guard::Any(parts) => parts.iter().any(|part| holds(part, values)),
        Guard::Compare { left, sign, right } => {
            let order = match (number(left), number(right)) {
                (Some(left), Some(right)) => left.cmp(&right),
                _ => text(left).cmp(&text(right)),
            };
            match sign {
                Sign::Equal => order.is_eq(),
                Sign::NotEqual => order.is_ne(),
                Sign::Less => order.is_lt(),
                Sign::LessOrEqual => order.is_le(),
                Sign::Greater => order.is_gt(),
                Sign::GreaterOrEqual => order.is_ge(),
            }
        }
    }
}

fn guard() -> impl Strategy<Value = Guard> {
    let named = |name: &'static str, offset| {
        let at = At::new(name.to_owned(), 0..0);
        match name {
            "i" | "v" => Operand::Field { name: at, offset },
            _ => Operand::Argument { name: at, offset },
        }
    };
    let count = prop_oneof![
        (prop::sample::select(vec!["i", "j"]), -2_i64..3)
            .prop_map(move |(name, offset)| named(name, offset)),
        (0_u64..4).prop_map(|number| Operand::Constant(Constant::Count(number))),
    ];
    let text = prop_oneof![
        prop::sample::select(vec!["v", "w"]).prop_map(move |name| named(name, 0)),
        prop::sample::select(vec!["x", "y", "z"])
            .prop_map(|word| Operand::Constant(Constant::Text(word.to_owned()))),
    ];
    let signs = vec![
        Sign::Equal,
        Sign::NotEqual,
        Sign::Less,
        Sign::LessOrEqual,
        Sign::Greater,
        Sign::GreaterOrEqual,
    ];
    let field = prop::sample::select(vec!["i", "j"]).prop_map(move |name| named(name, 0));
    let letter = prop::sample::select(vec!["v", "w"]).prop_map(move |name| named(name, 0));
    let compare = |(left, sign, right)| Guard::Compare { left, sign, right };
    let leaf = prop_oneof![
        2 => (field, prop::sample::select(signs), count).prop_map(compare),
        1 => (letter, prop::sample::select(vec![Sign::Equal, Sign::NotEqual]), text).prop_map(compare),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let parts = prop::collection::vec(inner, 1..4);
        prop_oneof![
            parts.clone().prop_map(Guard::All),
            parts.prop_map(Guard::Any)
        ]
    })
}

/// Constants are below 4 and offsets within 2, so that no two counts need to be further apart than this.
fn all_values() -> impl Iterator<Item = Values> {
    let words = ["x", "y", "z"];
    (0..14).flat_map(move |i| {
        (0..14).flat_map(move |j| {
            words
                .into_iter()
                .flat_map(move |v| words.map(|w| (i, j, v, w)))
        })
    })
}

proptest! {
    #[test]
    fn the_solver_finds_values_where_there_are_any(
        wanted in prop::collection::vec((guard(), any::<bool>()), 1..4)
    ) {
        let (declared, arguments) = (fields(), arguments());
        let index: HashMap<&str, &Field> = declared.iter().map(|field| (field.name.value.as_str(), field)).collect();
        let wanted: Vec<(&Guard, bool)> = wanted.iter().map(|(guard, wanted)| (guard, *wanted)).collect();
        let fits = |values: Values| wanted.iter().all(|(guard, wanted)| holds(guard, values) == *wanted);
        let known = all_values().any(fits);
        match (Solver { fields: &index, left: u64::MAX }).solve(&arguments, &wanted) {
            Answer::GaveUp => prop_assert!(false, "gave up"),
            Answer::Never => prop_assert!(!known),
            Answer::Example(example) => {
                prop_assert!(known, "{example:?}");
                let said = |name: &str| example.iter().find_map(|part| part.strip_prefix(name)?.strip_prefix(" = "));
                let number = |name| said(name).map_or(0, |text| text.parse().unwrap());
                let word = |name| {
                    let word = said(name).map_or("x", |text| text.trim_matches('"'));
                    ["x", "y", "z"].into_iter().find(|known| *known == word).unwrap()
                };
                prop_assert!(fits((number("i"), number("args.j"), word("v"), word("args.w"))), "{example:?}");
            }
        }
    }
}
