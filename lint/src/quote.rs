//! Quoting what is reviewed.

/// Returns the beginning of a text, as data: on one line, without control characters.
pub(crate) fn quote(text: &str) -> String {
    const MAX: usize = 120;
    let flat: String = text
        .chars()
        .take(4 * MAX)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    let flat = flat
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace('"', "'");
    match flat.char_indices().nth(MAX) {
        Some((end, _)) => format!("\"{}...\"", flat[..end].trim_end()),
        None => format!("\"{flat}\""),
    }
}
