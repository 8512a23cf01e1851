//! How a flag is read off YAML into a type that cannot be wrong.
//!
//! A reader that finds something wrong says so itself, and returns what there is instead: nothing, or what of a list is right.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};
use strum::VariantNames;

use super::findings::{Found, one_of, quoted};
use super::rule::Rule;
use super::words::{
    AnalysisMode, Decision, Dimension, NextAction, PauseType, PrdMode, ResearchMethod,
};
use super::yaml::{Node, Value};

/// A type of a flag.
pub(crate) trait FlagValue: Sized {
    /// Reads it; what is wrong with it is found. `what` names the flag.
    fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self>;
}

/// Says that a value is of another type.
pub(crate) fn wrong_type<T>(
    what: &str,
    node: &Node,
    expected: &str,
    found: &mut Found,
) -> Option<T> {
    let message = format!("{what} is {}, and not {expected}", node.kind());
    found.error(
        Rule::FlagType,
        node.span.clone(),
        message,
        format!("write {expected}"),
    );
    None
}

fn out_of_range<T>(what: &str, node: &Node, expected: &str, found: &mut Found) -> Option<T> {
    let message = format!("{what} is not {expected}");
    found.error(
        Rule::FlagRange,
        node.span.clone(),
        message,
        format!("write {expected}"),
    );
    None
}

impl FlagValue for bool {
    fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
        match node.value {
            Value::Flag(flag) => Some(flag),
            _ => wrong_type(what, node, "true or false", found),
        }
    }
}

impl FlagValue for String {
    fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Some(text.clone()),
            _ => wrong_type(what, node, "text", found),
        }
    }
}

/// A whole number in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Whole<const LEAST: u32, const MOST: u32>(u32);

/// The number of a round, from 1.
pub type Round = Whole<1, { u32::MAX }>;
/// A number of things.
pub type Count = Whole<0, { u32::MAX }>;
/// How many sit on the panel.
pub type Members = Whole<0, 5>;
/// The score of a dimension.
pub type Grade = Whole<1, 4>;

impl<const LEAST: u32, const MOST: u32> Whole<LEAST, MOST> {
    /// The least number.
    pub const LEAST: Self = Self(LEAST);

    /// Returns a number that is in the range.
    pub fn new(number: u32) -> Option<Self> {
        (LEAST..=MOST).contains(&number).then_some(Self(number))
    }

    /// Returns the number.
    pub fn get(self) -> u32 {
        self.0
    }

    fn expected() -> String {
        match MOST {
            u32::MAX => format!("a whole number, {LEAST} or more"),
            _ => format!("a whole number from {LEAST} to {MOST}"),
        }
    }
}

impl<const LEAST: u32, const MOST: u32> FlagValue for Whole<LEAST, MOST> {
    fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
        match node.value {
            Value::Whole(number) => u32::try_from(number)
                .ok()
                .and_then(Self::new)
                .or_else(|| out_of_range(what, node, &Self::expected(), found)),
            Value::Real(number) if number < 0.0 => {
                out_of_range(what, node, &Self::expected(), found)
            }
            _ => wrong_type(what, node, &Self::expected(), found),
        }
    }
}

/// Declares a number with decimals, with the largest one that may be written, and what is made of it.
macro_rules! reals {
    ($($(#[$doc:meta])+ $name:ident to $most:literal, $as:expr;)+) => {$(
        $(#[$doc])+
        #[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
        pub struct $name(f64);

        /// Written without decimals where it has none.
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match (0..=100_u8).find(|whole| f64::from(*whole) == self.0) {
                    Some(whole) => serializer.serialize_u8(whole),
                    None => serializer.serialize_f64(self.0),
                }
            }
        }

        impl $name {
            /// Returns a number that is in the range.
            pub fn new(number: f64) -> Option<Self> {
                (0.0..=$most).contains(&number).then(|| Self($as(number)))
            }

            /// Returns the number.
            pub fn get(self) -> f64 {
                self.0
            }
        }

        impl FlagValue for $name {
            fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
                let expected = concat!("a number from 0 to ", $most);
                let number = match node.value {
                    // Beyond the range it is the same how exact it is.
                    Value::Whole(number) => u32::try_from(number).map_or(f64::INFINITY, f64::from),
                    Value::Real(number) => number,
                    _ => return wrong_type(what, node, expected, found),
                };
                Self::new(number).or_else(|| out_of_range(what, node, expected, found))
            }
        }
    )+};
}

reals! {
    /// A score of 20.
    Score to 20.0, |number| number;
    /// A share in per cent.
    Percent to 100.0, |number| number;
    /// A share from 0 to 1. What is above 1 is read as per cent.
    Rate to 100.0, |number| if number > 1.0 { number / 100.0 } else { number };
}

/// Reads a word of a closed list.
fn word<T: std::str::FromStr + VariantNames>(
    rule: Rule,
    what: &str,
    node: &Node,
    found: &mut Found,
) -> Option<T> {
    // A flag with a rule of its own may be null.
    let null = (rule != Rule::FlagRange).then_some("null");
    let words: Vec<&str> = T::VARIANTS.iter().copied().chain(null).collect();
    let expected = one_of(&words);
    let Value::Text(text) = &node.value else {
        if rule == Rule::FlagRange {
            return wrong_type(what, node, &expected, found);
        }
        let message = format!("{what} is {}, and not {expected}", node.kind());
        found.error(
            rule,
            node.span.clone(),
            message,
            format!("write {expected}"),
        );
        return None;
    };
    let read = text.parse().ok();
    if read.is_none() {
        let message = format!("{what} is {}, which is none of its words", quoted(text));
        found.error(
            rule,
            node.span.clone(),
            message,
            format!("write {expected}"),
        );
    }
    read
}

macro_rules! words {
    ($($name:ident: $rule:ident,)+) => {$(
        impl FlagValue for $name {
            fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
                word(Rule::$rule, what, node, found)
            }
        }
    )+};
}

words! {
    AnalysisMode: FlagRange,
    PrdMode: FlagRange,
    ResearchMethod: FlagRange,
    Decision: FlagRange,
    Dimension: FlagRange,
    PauseType: UnknownPause,
    NextAction: UnknownAction,
}

/// A list is ignored as a whole where one of its values is wrong.
impl<T: FlagValue> FlagValue for Vec<T> {
    fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
        let Value::List(items) = &node.value else {
            return wrong_type(what, node, "a list", found);
        };
        let what = format!("a value of {what}");
        let read: Vec<Option<T>> = items
            .iter()
            .map(|item| T::read(&what, item, found))
            .collect();
        read.into_iter().collect()
    }
}

/// The score of each dimension.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct DimensionScores(pub BTreeMap<Dimension, Grade>);

impl FlagValue for DimensionScores {
    fn read(what: &str, node: &Node, found: &mut Found) -> Option<Self> {
        let Some(map) = node.map() else {
            return wrong_type(what, node, "a map of dimensions with their scores", found);
        };
        let read: Vec<_> = map
            .entries
            .iter()
            .map(|(key, node)| {
                let name = Node {
                    span: key.span.clone(),
                    value: Value::Text(key.name.clone()),
                };
                let dimension = Dimension::read(&format!("a key of {what}"), &name, found);
                let grade = Grade::read(&format!("{} of {what}", quoted(&key.name)), node, found);
                dimension.zip(grade)
            })
            .collect();
        read.into_iter().collect::<Option<_>>().map(Self)
    }
}
