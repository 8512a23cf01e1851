//! The words of enums, as serde writes them.

use serde::Serialize;

/// Returns the word of a variant.
pub fn word_of<T: Serialize>(value: &T) -> &'static str {
    serde_variant::to_variant_name(value).unwrap_or_default()
}

/// Implements the conversions of an enum without data to and from its words.
#[doc(hidden)]
#[macro_export]
macro_rules! words {
    ($name:ty) => {
        impl ::core::fmt::Display for $name {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                f.pad($crate::__private::word_of(self))
            }
        }

        impl ::core::str::FromStr for $name {
            type Err = $crate::__private::serde::de::value::Error;

            // A variant may be called `Err`.
            fn from_str(word: &str) -> Result<Self, $crate::__private::serde::de::value::Error> {
                use $crate::__private::serde::de::{Deserialize, IntoDeserializer};

                Self::deserialize(word.into_deserializer())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Answer {
        Yes,
        NotYet,
    }

    words!(Answer);

    #[test]
    fn word_is_shown_and_read() {
        assert_eq!(
            format!("{}|{:8}|", Answer::Yes, Answer::NotYet),
            "yes|not-yet |"
        );
        assert_eq!("not-yet".parse(), Ok(Answer::NotYet));
        let error = "maybe".parse::<Answer>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown variant `maybe`, expected `yes` or `not-yet`"
        );
    }
}
