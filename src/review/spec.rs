//! What a phase's review looks at, as `machine.toml` says.

/// What a reviewing phase reviews. Generated, one per phase whose `on_stop` is `review`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReviewSpec {
    /// The file under review, from the loop's root; `{field}` stands for a field.
    pub subject: &'static str,
    /// The field that counts the rounds.
    pub round: &'static str,
}
