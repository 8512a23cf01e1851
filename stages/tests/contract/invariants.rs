//! The promises for any bytes of a summary file, as functions for tests.

use stages::contract::{Reading, Summary, read};

/// The largest input that is written again. Longer inputs are slow and add nothing.
const MAX_SHOWN: usize = 10_000;

/// Reads, reports and writes a summary again. Panics if a promise is broken.
pub(crate) fn holds(bytes: &[u8]) -> Reading {
    let reading = read(bytes, None, None);
    let text = String::from_utf8_lossy(bytes);
    let lines = text.matches('\n').count() + 1;
    for finding in &reading.findings {
        assert!((1..=lines).contains(&finding.start.line), "{finding:?}");
        assert!(finding.start.column >= 1, "{finding:?}");
        assert!(!finding.line().contains(char::is_control), "{finding:?}");
    }
    let is_taken = reading.summary.is_some();
    assert!(is_taken || !reading.findings.is_empty(), "it says why not");
    assert!(is_taken || !reading.is_valid(), "what is valid is taken");
    if bytes.len() > MAX_SHOWN {
        return reading;
    }
    if let Some(summary) = &reading.summary {
        check_written_again(summary);
        read_to_the_end(&text);
    }
    reading
}

/// Checks that a written summary is read unchanged.
fn check_written_again(summary: &Summary) {
    let Some(mut again) = read(summary.to_text().as_bytes(), None, None).summary else {
        panic!("{summary:?} is not taken")
    };
    again.context = summary.context.clone();
    assert_eq!(again, *summary);
}

/// Checks that the end of the frontmatter is read.
fn read_to_the_end(text: &str) {
    let fences = text.match_indices("---").map(|(at, _)| at);
    let is_fence = |at: &usize| {
        let line = text[*at..].split('\n').next().unwrap_or_default();
        let before = text[..*at].trim_start_matches('\u{feff}');
        (before.is_empty() || before.ends_with('\n')) && line.trim_end() == "---"
    };
    let close = fences.filter(is_fence).nth(1).expect("it is closed");
    let broken = format!("{}probe: [\n{}", &text[..close], &text[close..]);
    let summary = read(broken.as_bytes(), None, None).summary;
    assert_eq!(summary, None, "{broken}");
}
