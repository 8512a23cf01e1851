//! Whole outputs for snapshots, so that the diff shows a bad sentence.

/// Calls with their outputs.
pub(crate) struct Transcript {
    /// The names that differ between runs, with those in their place.
    pub(crate) names: Vec<(String, &'static str)>,
    pub(crate) text: String,
}

impl Transcript {
    pub(crate) fn new(names: &[(&str, &'static str)]) -> Self {
        let names = names.iter().map(|(name, new)| ((*name).to_owned(), *new));
        Self {
            names: names.collect(),
            text: String::new(),
        }
    }

    /// Adds a call.
    pub(crate) fn add(&mut self, call: &str, output: &str) {
        let output = self.evened(output.trim_end());
        let call = self.evened(call);
        self.text += &format!("$ {call}\n{output}\n\n");
    }

    /// Replaces names, and the times, durations and runs that differ each time.
    pub(crate) fn evened(&self, text: &str) -> String {
        let replace = |text: String, (name, new): &(String, &str)| text.replace(name, new);
        let text = self.names.iter().fold(text.to_owned(), replace);
        let is_time = |word: &str| {
            let is_part = |one: char| one.is_ascii_digit() || "-:TZ".contains(one);
            word.len() >= 8 && word.chars().all(is_part)
        };
        let is_commit =
            |word: &str| word.len() == 40 && word.chars().all(|one| one.is_ascii_hexdigit());
        let is_run = |word: &str| {
            let number = word.strip_prefix('r').and_then(|run| run.split_once('-'));
            number.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
        };
        let is_seconds = |word: &str| {
            let number = word.strip_suffix('s');
            number.is_some_and(|number| number.parse::<u32>().is_ok())
        };
        let mut evened = String::new();
        for part in text.split_inclusive([' ', '\n', '<', '>', '"']) {
            let word = part.trim_end_matches([' ', '\n', '.', ':', ',', '<', '>', '"']);
            let rest = &part[word.len()..];
            evened += match word {
                word if is_time(word) => "TIME",
                word if is_run(word) => "RUN",
                word if is_commit(word) => "COMMIT",
                word if is_seconds(word) => "0s",
                word => word,
            };
            evened += rest;
        }
        evened
    }
}
