//! The values that stand in a configuration file: numbers in a range, durations, words, and where each of them stands.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Unexpected, Visitor};
use strum::IntoEnumIterator;

use crate::process::limits::parse_duration;
use crate::program::suggest;
use crate::text;

/// A value and where it stands in its file, in bytes.
#[derive(Debug, Clone)]
pub(super) struct At<T> {
    pub(super) value: T,
    pub(super) span: Range<usize>,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = toml::Spanned::<T>::deserialize(deserializer)?;
        Ok(Self {
            span: spanned.span(),
            value: spanned.into_inner(),
        })
    }
}

/// Compared by value, so that a name is found in a map wherever it stands.
impl<T: Ord> Ord for At<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.value.cmp(&other.value)
    }
}

impl<T: Ord> PartialOrd for At<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for At<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<T: Ord> Eq for At<T> {}

/// A table. To serde a list of values in the order of the fields would be as good.
#[derive(Debug, Default)]
pub(super) struct Table<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Seen<T> {
            type Value = Table<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(Table)
            }
        }

        deserializer.deserialize_map(Seen(PhantomData))
    }
}

/// A whole number from 1 to `MOST`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Whole<const MOST: u64>(pub(super) u64);

impl<'de, const MOST: u64> Deserialize<'de> for Whole<MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen<const MOST: u64>;

        impl<const MOST: u64> Visitor<'_> for Seen<MOST> {
            type Value = Whole<MOST>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "a whole number from 1 to {MOST}")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
                match u64::try_from(number) {
                    Ok(fits) => self.visit_u64(fits),
                    Err(_) => Err(E::invalid_value(Unexpected::Signed(number), &self)),
                }
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                if (1..=MOST).contains(&number) {
                    Ok(Whole(number))
                } else {
                    Err(E::invalid_value(Unexpected::Unsigned(number), &self))
                }
            }
        }

        deserializer.deserialize_i64(Seen)
    }
}

/// A duration such as `90s` or `2m30s`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time(pub(super) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen;

        impl Visitor<'_> for Seen {
            type Value = Time;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a duration as text, such as \"15m\"")
            }

            fn visit_str<E: Error>(self, given: &str) -> Result<Self::Value, E> {
                parse_duration(given).map(Time).map_err(|error| {
                    E::custom(format!("{error}; write it like 90s, 10m, 2m30s or 1h"))
                })
            }
        }

        deserializer.deserialize_str(Seen)
    }
}

/// One of the words of an enum.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word<T>(pub(super) T);

impl<'de, T: FromStr + IntoEnumIterator + fmt::Display> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Seen<T>(PhantomData<T>);

        impl<T: FromStr + IntoEnumIterator + fmt::Display> Visitor<'_> for Seen<T> {
            type Value = Word<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let words = words::<T>();
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                write!(f, "one of {}", suggest::list(&words))
            }

            fn visit_str<E: Error>(self, given: &str) -> Result<Self::Value, E> {
                given.parse().map(Word).map_err(|_| {
                    let words = words::<T>();
                    let words: Vec<&str> = words.iter().map(String::as_str).collect();
                    E::custom(format!(
                        "`{}` is none of its words; {}",
                        text::one_line(given, 40),
                        suggest::among(given, &words)
                    ))
                })
            }
        }

        deserializer.deserialize_str(Seen(PhantomData))
    }
}

fn words<T: IntoEnumIterator + fmt::Display>() -> Vec<String> {
    T::iter().map(|word| word.to_string()).collect()
}
