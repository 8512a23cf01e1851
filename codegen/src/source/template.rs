//! `{field}` inside a behaviour's parameters.

use std::ops::Range;

/// The names between braces with their places in the text, or the place of a brace that holds no name.
pub(crate) fn interpolated(text: &str) -> Result<Vec<(&str, Range<usize>)>, Range<usize>> {
    let mut names = Vec::new();
    let mut at = 0;
    while let Some(found) = text[at..].find(['{', '}']) {
        let open = at + found;
        let name = text[open..]
            .strip_prefix('{')
            .and_then(|rest| rest.split_once('}'))
            .map(|(name, _)| name);
        match name.filter(|name| super::read::is_name(name)) {
            Some(name) => names.push((name, open + 1..open + 1 + name.len())),
            None => return Err(open..open + 1),
        }
        at = names.last().map_or(text.len(), |(_, part)| part.end + 1);
    }
    Ok(names)
}
