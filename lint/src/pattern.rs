//! Word patterns: `retr*` is a prefix, `a|b` an alternative, `#` a number, `..` a gap of at most
//! [`MAX_GAP_WORDS`] words. Patterns match whole lowercase words. Several stand on lines of
//! their own.

/// The longest gap that `..` matches, in words.
const MAX_GAP_WORDS: usize = 6;

/// Returns the lowercase words of a text. Apostrophes are dropped, all other marks separate words.
pub(crate) fn words(text: &str) -> Vec<String> {
    text.replace(['\'', '\u{2019}'], "")
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// Returns whether any of the patterns matches somewhere in the words.
pub(crate) fn matches_any(patterns: &str, words: &[String]) -> bool {
    patterns
        .lines()
        .map(str::trim)
        .filter(|pattern| !pattern.is_empty())
        .any(|pattern| (0..words.len()).any(|start| matches_here(pattern, &words[start..])))
}

fn matches_here(pattern: &str, words: &[String]) -> bool {
    let (piece, rest) = match pattern.split_once(' ') {
        Some((piece, rest)) => (piece, Some(rest)),
        None => (pattern, None),
    };
    let matches_rest = |words| rest.is_none_or(|rest| matches_here(rest, words));
    if piece == ".." {
        return (0..=MAX_GAP_WORDS.min(words.len())).any(|skipped| matches_rest(&words[skipped..]));
    }
    words.split_first().is_some_and(|(word, after)| {
        piece.split('|').any(|form| matches_word(form, word)) && matches_rest(after)
    })
}

fn matches_word(form: &str, word: &str) -> bool {
    match form.strip_suffix('*') {
        Some(prefix) => word.starts_with(prefix),
        None if form == "#" => word.starts_with(|c: char| c.is_ascii_digit()),
        None => word == form,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_matches_whole_words() {
        for (pattern, text, expected) in [
            ("log", "the catalogue of logs", false),
            ("log*", "Logs, please", true),
            ("retr* .. #", "Retried at most 5 times", true),
            ("retr* .. #", "5 workers that retry", false),
            ("roll* back", "it is rolled-back", true),
            ("don|dont", "we don't", true),
            ("a .. b", "a 1 2 3 4 5 6 b", true),
            ("a .. b", "a 1 2 3 4 5 6 7 b", false),
        ] {
            assert_eq!(
                matches_any(pattern, &words(text)),
                expected,
                "{pattern}: {text}"
            );
        }
    }
}
