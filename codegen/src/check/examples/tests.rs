//! The search for examples compared with trying all values.

use proptest::prelude::*;

use super::*;
use crate::model::texts::Word;
use crate::model::{At, Sign};

fn kind(name: &str) -> FieldKind {
    match name {
        "i" | "j" => FieldKind::Count,
        _ => {
            let words = ["x", "y", "z"].map(|word| Word::try_from(word.to_owned()).unwrap());
            FieldKind::OneOf(words.map(|word| At::new(word, 0..0)).to_vec())
        }
    }
}

fn guard() -> impl Strategy<Value = Guard> {
    let named = |name: &'static str, offset| {
        let at = At::new(name.to_owned(), 0..0);
        let is_argument = !["i", "v"].contains(&name);
        Read {
            name: at,
            is_argument,
            offset,
            kind: Some(kind(name)),
            ty: String::new(),
            is_option: false,
        }
    };
    let count = prop_oneof![
        (prop::sample::select(vec!["i", "j"]), -2_i64..3)
            .prop_map(move |(name, offset)| Operand::Read(named(name, offset))),
        (0_u64..4).prop_map(|number| Operand::Constant(Constant::Count(number))),
    ];
    let text = prop_oneof![
        prop::sample::select(vec!["v", "w"]).prop_map(move |name| Operand::Read(named(name, 0))),
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
    let compare = |(left, sign, right)| Guard::Compare(Box::new(Comparison { left, sign, right }));
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

/// Returns whether some values of `i`, `args.j`, `v` and `args.w` are as wanted. Constants are
/// below 4 and offsets within 2, so counts below 14 are enough.
fn has_example(wanted: &[Wanted<'_>]) -> bool {
    let counts = || (0..14).map(Constant::Count);
    let words = || {
        ["x", "y", "z"]
            .map(|word| Constant::Text(word.to_owned()))
            .into_iter()
    };
    counts().any(|i| {
        counts().any(|j| words().any(|v| words().any(|w| is_example(wanted, [&i, &j, &v, &w]))))
    })
}

fn is_example(wanted: &[Wanted<'_>], [i, j, v, w]: [&Constant; 4]) -> bool {
    let value = |name: &str| match name {
        "i" => i.clone(),
        "args.j" => j.clone(),
        "v" => v.clone(),
        _ => w.clone(),
    };
    wanted
        .iter()
        .all(|(guard, is_wanted)| guard.holds(&value) == *is_wanted)
}

proptest! {
    #[test]
    fn example_is_found_if_there_is_one(
        wanted in prop::collection::vec((guard(), any::<bool>()), 1..4)
    ) {
        let conditions: Vec<Wanted<'_>> = wanted.iter().map(|(guard, is_wanted)| (guard, *is_wanted)).collect();
        let Ok(example) = find_example(&conditions) else {
            return Err(TestCaseError::fail("the search gave up"));
        };
        prop_assert_eq!(example.is_some(), has_example(&conditions), "{:?}", example);
        if let Some(example) = example {
            // Values that the example leaves out do not matter.
            let value = |name: &str, default: Constant| {
                let mut parts = example.iter();
                let text = parts.find_map(|part| part.strip_prefix(name)?.strip_prefix(" is "));
                match (text, &default) {
                    (Some(text), Constant::Count(_)) => Constant::Count(text.parse().unwrap()),
                    (Some(text), _) => Constant::Text(text.trim_matches('"').to_owned()),
                    (None, _) => default,
                }
            };
            let count = |name| value(name, Constant::Count(0));
            let word = |name| value(name, Constant::Text("x".to_owned()));
            let values = [&count("i"), &count("args.j"), &word("v"), &word("args.w")];
            prop_assert!(is_example(&conditions, values), "{:?}", example);
        }
    }
}
