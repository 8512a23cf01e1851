//! The question of a phase, from `on_stop.ask` of a machine file.

/// A question to the user. `{field}` is to be filled in in `question` and `header`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Question {
    /// The question.
    pub question: &'static str,
    /// A short label of it.
    pub header: &'static str,
    /// The options.
    pub options: Options,
    /// The transition that takes a text which the user types instead of choosing.
    pub text: Option<Taker>,
}

/// The source of the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Options {
    /// The machine file.
    These(&'static [Choice]),
    /// The program, in Rust, with the question and its header.
    Program,
}

/// The transition that an answer takes in the user's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taker {
    /// The transition.
    pub transition: &'static str,
    /// The argument that gets the answer's words.
    pub argument: Option<&'static str>,
    /// The values of its other arguments, as on the command line.
    pub with: &'static [(&'static str, &'static str)],
}

/// An answer to a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The words. No other option of the question has the same.
    pub label: &'static str,
    /// The explanation. It may be empty.
    pub description: &'static str,
    /// The transition that it takes.
    pub taker: Taker,
}
