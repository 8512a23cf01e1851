//! Reasons shortened to what the client takes whole.

/// The length below which a reason is whole. It counts UTF-16 units, as the client does, which shortens texts above 10,000.
pub const REASON_LIMIT: usize = 9_000;

/// Returns the text itself, or its beginning with a last line that says that it was cut, and that the rest is in `rest`.
pub(super) fn shorten(text: &str, rest: &str) -> String {
    let whole = length(text);
    if whole < REASON_LIMIT {
        return text.to_owned();
    }
    let notice = format!("(This text was cut: it has {whole} characters. The rest is in {rest})");

    let budget = REASON_LIMIT - length(&notice) - 2;
    let mut used = 0;
    let fits = |character: &char| {
        used += character.len_utf16();
        used <= budget
    };
    let kept: String = text.chars().take_while(fits).collect();
    // Only whole lines, unless there is but one.
    let kept = kept.rsplit_once('\n').map_or(&*kept, |(lines, _)| lines);
    format!("{kept}\n{notice}")
}

/// Returns how long the client takes a text to be.
fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_at_the_limit_is_cut() {
        let text = "x".repeat(REASON_LIMIT - 1);
        assert_eq!(shorten(&text, "x status"), text);

        let cut = shorten(&"x".repeat(REASON_LIMIT), "x status");
        assert!(length(&cut) < REASON_LIMIT);
        assert!(
            cut.ends_with(
                "xx\n(This text was cut: it has 9000 characters. The rest is in x status)"
            )
        );
    }

    #[test]
    fn cut_text_keeps_whole_lines_and_names_the_rest() {
        let text = "a line of findings\n".repeat(1000);
        let cut = shorten(&text, "x status");
        let (lines, last) = cut.rsplit_once('\n').unwrap();
        assert!(lines.lines().all(|line| line == "a line of findings"));
        assert_eq!(
            last,
            "(This text was cut: it has 19000 characters. The rest is in x status)"
        );
        assert!(length(&cut) > REASON_LIMIT - 200);
    }

    #[test]
    fn astral_characters_count_as_two() {
        let cut = shorten(&"😀".repeat(5000), "x status");
        assert!(length(&cut) < REASON_LIMIT);
        assert!(cut.starts_with("😀😀"));
    }
}
