//! The words of reviewers. `words.txt` has their lists, each on a line with its name.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Longest text that counts as words of these lists alone, in bytes.
pub(super) const MAX_WORDS_BYTES: usize = 120;

/// The lists by their names.
static LISTS: LazyLock<HashMap<&str, Vec<&str>>> = LazyLock::new(|| {
    let lines = include_str!("words.txt").lines();
    let lists = lines.filter_map(|line| line.split_once(": "));
    let lists = lists.map(|(name, words)| (name, words.split(' ').collect()));
    lists.collect()
});

/// Returns whether one of these lists has a lowercase word, alone or as a plural.
pub(super) fn is_among(word: &str, lists: &str) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let mut known = lists.split(' ').flat_map(|name| &LISTS[name]);
    known.any(|one| *one == word || *one == singular)
}

/// Returns whether each word of a text is a number, an id such as `F2`, or in one of these lists. One
/// must be in the first list.
pub(super) fn consists_of(text: &str, lists: &str) -> bool {
    let plain = words(text);
    let mut words = plain.split_whitespace();
    let first = lists.split(' ').next().unwrap_or(lists);
    words.clone().any(|word| is_among(word, first))
        && words.all(|word| is_number(word.trim_start_matches('f')) || is_among(word, lists))
}

pub(super) fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns the lowercase words of a text, each between spaces. Other signs separate words.
pub(in crate::review) fn words(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.fold(" ".to_owned(), |all, word| all + &word.to_lowercase() + " ")
}
