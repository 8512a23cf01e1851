//! Words, sentences and the small pattern language in which the checks say what they look for.
//!
//! A pattern is matched against the lowercase words of one sentence: `retr*` is a prefix, `a|b` an alternative, `#` a word
//! with a digit in front, `..` a gap of up to [`GAP`] words. Whole words only, so `log` is not found in `catalogue`.

/// Longest gap that `..` stands for, in words.
const GAP: usize = 8;

/// Returns the lowercase words of a text. Everything but letters and digits separates; an apostrophe is dropped. The method of
/// a request, as in `DELETE /users`, has the word `http` in front, so that it differs from "delete users".
pub(super) fn words(text: &str) -> Vec<String> {
    placed_words(text)
        .into_iter()
        .map(|(_, word)| word)
        .collect()
}

/// The same, each word with the byte offset at which it begins.
pub(super) fn placed_words(text: &str) -> Vec<(usize, String)> {
    let mut out: Vec<(usize, String)> = Vec::new();
    let mut word = String::new();
    let mut begins = 0;
    let mut chars = text.char_indices().peekable();
    let mut last = ' ';
    // Whether the last word is a method in capitals, and nothing but spaces and marks came after it.
    let mut method = false;
    while let Some((at, c)) = chars.next() {
        let next_is_digit = chars.peek().is_some_and(|(_, next)| next.is_ascii_digit());
        if c.is_alphanumeric() {
            if word.is_empty() {
                method = true;
                begins = at;
            }
            method &= c.is_ascii_uppercase();
            word.extend(c.to_lowercase());
        } else if matches!(c, '\'' | '\u{2019}') {
        } else if matches!(c, ',' | '.') && last.is_ascii_digit() && next_is_digit {
            // 10,000 and 0.05 are one word.
            if c == '.' {
                word.push('.');
            }
        } else if !word.is_empty() {
            method &= matches!(word.as_str(), "get" | "post" | "put" | "patch" | "delete");
            out.push((begins, std::mem::take(&mut word)));
        }
        if c == '/' && last.is_whitespace() && std::mem::take(&mut method) {
            out.insert(out.len() - 1, (begins, "http".to_owned()));
        }
        last = c;
    }
    if !word.is_empty() {
        out.push((begins, word));
    }
    out
}

/// Byte ranges of the sentences of a text.
pub(super) fn sentences(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((index, c)) = chars.next() {
        let end = index + c.len_utf8();
        let boundary = match c {
            '\n' => true,
            '.' | '!' | '?' => {
                chars.peek().is_none_or(|(_, next)| next.is_whitespace())
                    && !abbreviation(&text[start..index])
            }
            _ => false,
        };
        if boundary {
            if !text[start..end].trim().is_empty() {
                out.push(start..end);
            }
            start = end;
        }
    }
    if !text[start..].trim().is_empty() {
        out.push(start..text.len());
    }
    out
}

fn abbreviation(before: &str) -> bool {
    let last = before
        .rsplit(|c: char| c.is_whitespace() || c == '(')
        .next()
        .unwrap_or_default();
    matches!(last, "e.g" | "i.e" | "vs" | "approx" | "etc" | "no" | "No") && !matches!(last, "etc")
}

#[derive(Debug, Clone)]
enum Piece {
    Gap,
    OneOf(Vec<Form>),
}

#[derive(Debug, Clone)]
enum Form {
    Word(&'static str),
    Prefix(&'static str),
    Number,
}

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(super) struct Pattern(Vec<Piece>);

impl Pattern {
    pub(super) fn new(source: &'static str) -> Self {
        let form = |text: &'static str| match text.strip_suffix('*') {
            Some(prefix) => Form::Prefix(prefix),
            None if text == "#" => Form::Number,
            None => Form::Word(text),
        };
        let piece = |text: &'static str| match text {
            ".." => Piece::Gap,
            _ => Piece::OneOf(text.split('|').map(form).collect()),
        };
        Self(source.split(' ').map(piece).collect())
    }

    /// Returns how many words a match has, gaps aside.
    pub(super) fn len(&self) -> usize {
        self.0
            .iter()
            .filter(|piece| matches!(piece, Piece::OneOf(_)))
            .count()
    }

    /// Returns the index of the first word of the first match.
    pub(super) fn find(&self, words: &[String]) -> Option<usize> {
        (0..words.len()).find(|start| matches(&self.0, &words[*start..]))
    }
}

fn matches(pieces: &[Piece], words: &[String]) -> bool {
    match pieces {
        [] => true,
        [Piece::Gap, rest @ ..] => {
            (0..=GAP.min(words.len())).any(|skip| matches(rest, &words[skip..]))
        }
        [Piece::OneOf(forms), rest @ ..] => match words {
            [word, after @ ..] => forms.iter().any(|form| form.fits(word)) && matches(rest, after),
            [] => false,
        },
    }
}

impl Form {
    fn fits(&self, word: &str) -> bool {
        match self {
            Self::Word(text) => word == *text,
            Self::Prefix(text) => word.starts_with(text),
            Self::Number => word.starts_with(|c: char| c.is_ascii_digit()),
        }
    }
}

/// Several patterns, compiled.
pub(super) fn patterns(sources: &[&'static str]) -> Vec<Pattern> {
    sources.iter().map(|source| Pattern::new(source)).collect()
}

/// Returns whether any of the patterns is found.
pub(super) fn any(patterns: &[Pattern], words: &[String]) -> bool {
    patterns.iter().any(|pattern| pattern.find(words).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &'static str, text: &str) -> bool {
        Pattern::new(pattern).find(&words(text)).is_some()
    }

    #[test]
    fn patterns_match_whole_words() {
        assert!(!found("log", "the catalogue of logs"));
        assert!(found("log*", "Logs, please"));
        assert!(found("retr* .. #", "Retried at most 5 times"));
        assert!(!found("retr* .. #", "5 workers that retry"));
        assert!(found("roll* back", "it is rolled-back"));
        assert!(found("don|dont", "we don't"));
    }

    #[test]
    fn numbers_stay_whole() {
        assert_eq!(
            words("10,000 units, 0.05 each."),
            ["10000", "units", "0.05", "each"]
        );
    }

    #[test]
    fn a_request_differs_from_prose() {
        assert_eq!(
            words("`DELETE /v2/users` now"),
            ["http", "delete", "v2", "users", "now"]
        );
        assert_eq!(
            words("delete v2 / users, GET and /v1, BGET /a"),
            ["delete", "v2", "users", "get", "and", "v1", "bget", "a"]
        );
        assert_eq!(words("/ GET"), ["get"]);
    }

    #[test]
    fn sentences_end_where_they_end() {
        let text = "Use v1.2 here. See e.g. this? Yes!";
        let all: Vec<&str> = sentences(text)
            .into_iter()
            .map(|range| text[range].trim())
            .collect();
        assert_eq!(all, ["Use v1.2 here.", "See e.g. this?", "Yes!"]);
    }
}
