//! Reasons shortened to what the client takes whole.

/// The length below which a reason is whole. It counts UTF-16 units, as the client does, which shortens texts above 10,000.
pub const REASON_LIMIT: usize = 9_000;
/// The line that opens or closes a block of code.
const FENCE: &str = "```";

/// Returns the text itself, or its beginning with a last line that says that it was cut, and that the rest is in `rest`.
pub(super) fn shorten(text: &str, rest: &str) -> String {
    let whole = length(text);
    if whole < REASON_LIMIT {
        return text.to_owned();
    }
    let notice = format!("(This text was cut: it has {whole} characters. The rest is in {rest})");

    let budget = REASON_LIMIT - length(&format!("\n{FENCE}\n{notice}")) - 1;
    let mut used = 0;
    let fits = |character: &char| {
        used += character.len_utf16();
        used <= budget
    };
    let kept: String = text.chars().take_while(fits).collect();
    // Only whole lines, unless the last one is so long that hardly anything would be left.
    let kept = match kept.rsplit_once('\n') {
        Some((lines, last)) if length(last) < budget / 2 => lines,
        _ => &kept,
    };
    let is_fence = |line: &&str| line.trim_start().starts_with(FENCE);
    let is_open = kept.lines().filter(is_fence).count() % 2 == 1;
    match is_open {
        true => format!("{kept}\n{FENCE}\n{notice}"),
        false => format!("{kept}\n{notice}"),
    }
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
    fn open_fence_is_closed() {
        let cut = shorten(
            &format!("title\n```diff\n{}", "+ ``\n".repeat(5000)),
            "x status",
        );
        let lines: Vec<_> = cut.lines().collect();
        assert_eq!(lines[lines.len() - 2], "```");

        let closed = shorten(
            &format!("```\ncode\n```\n{}", "text\n".repeat(5000)),
            "x status",
        );
        assert_eq!(closed.matches("```").count(), 2);
    }

    #[test]
    fn astral_characters_count_as_two() {
        let cut = shorten(&"😀".repeat(5000), "x status");
        assert!(length(&cut) < REASON_LIMIT);
        assert!(cut.starts_with("😀😀"));
    }

    #[test]
    fn huge_line_is_cut_inside() {
        let cut = shorten(&format!("title\n{}", "word ".repeat(4000)), "x status");
        assert!(length(&cut) > REASON_LIMIT / 2);
    }
}
