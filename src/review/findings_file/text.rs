//! Making a stranger's text safe to show on one line: folded, stripped of what steers a terminal or a reader, capped.

/// Longest `what` and longest `recommendation` of a finding, in characters; the rest is cut and marked with `...`.
pub const MAX_FINDING_CHARS: usize = 600;
/// Longest detail line, in characters.
pub const MAX_DETAIL_CHARS: usize = 300;
/// Most detail lines that are kept for one finding.
pub const MAX_DETAIL_LINES: usize = 20;

const CUT: &str = "...";

/// Returns whether a character is shown as something other than itself, or changes how its neighbours are shown.
fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Drops terminal escape sequences and steering characters; line breaks and tabs stay.
pub(super) fn strip(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.peek() == Some(&'[') => {
                chars.next();
                // Parameters and intermediates, then one final byte; anything else was no sequence and stays.
                while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
                chars.next_if(|c| matches!(c, '@'..='~'));
            }
            '\r' => {
                chars.next_if_eq(&'\n');
                out.push('\n');
            }
            '\u{2028}' | '\u{2029}' | '\u{85}' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            c if steers(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// One line of at most `max` characters.
pub(super) fn fold(text: &str, max: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in strip(text).split_whitespace() {
        if count > 0 {
            out.push(' ');
            count += 1;
        }
        for c in word.chars() {
            out.push(c);
            count += 1;
        }
        if count > max {
            return cut(&out, max);
        }
    }
    out
}

fn cut(text: &str, max: usize) -> String {
    let kept: String = text.chars().take(max.saturating_sub(CUT.len())).collect();
    format!("{}{CUT}", kept.trim_end())
}
