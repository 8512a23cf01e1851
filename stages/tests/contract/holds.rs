//! What holds of any summary file, whatever its bytes: a function that the tests and a fuzzer call.

use stages::contract::{Context, Flags, Outcome, Summary, read, report, set_flags};

/// The largest input of which all is shown and written again: what is longer is slow, and nothing new.
const SHOWN: usize = 10_000;

/// Reads, reports, shows and changes a file. Panics where a promise does not hold.
pub(crate) fn holds(bytes: &[u8]) -> Outcome {
    let reading = read(bytes, &Context::default());
    let text = String::from_utf8_lossy(bytes);
    let lines = text.matches('\n').count() + 1;
    for finding in reading.findings.list() {
        assert!((1..=lines).contains(&finding.start.line), "{finding:?}");
        assert!(
            finding.start <= finding.end && finding.start.column >= 1,
            "{finding:?}"
        );
        assert!(
            !finding.message.is_empty() && !finding.help.is_empty(),
            "{finding:?}"
        );
    }
    for line in reading.findings.lines() {
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    let is_taken = matches!(reading.outcome, Outcome::Taken(_));
    assert!(
        is_taken || !reading.findings.list().is_empty(),
        "it says why not"
    );
    assert!(
        is_taken || reading.findings.has_error(),
        "what is valid is taken"
    );
    serde_json::to_string(&report(&reading)).expect("JSON");
    if bytes.len() > SHOWN {
        return reading.outcome;
    }
    let mut picture = String::new();
    let handler = miette::NarratableReportHandler::new();
    handler
        .render_report(&mut picture, &reading.findings)
        .expect("it is shown");
    changes(bytes);
    if let Outcome::Taken(summary) = &reading.outcome {
        written(summary);
        read_to_the_end(&text);
    }
    reading.outcome
}

/// An edit changes the flags that it names, or nothing.
fn changes(bytes: &[u8]) {
    let mut before = Flags::default();
    let Ok(same) = set_flags(bytes, |flags| before = flags.clone()) else {
        return;
    };
    assert_eq!(same, bytes, "nothing was changed");
    let change = |flags: &mut Flags| {
        flags.dispatch_id = Some("d \"1\": # é".to_owned());
        flags.timeout = Some(true);
        flags.next_action_map = None;
    };
    let Ok(changed) = set_flags(bytes, change) else {
        return;
    };
    change(&mut before);
    let mut after = Flags::default();
    set_flags(&changed, |flags| after = flags.clone()).expect("what was changed is read");
    assert_eq!(after, before);
    let of = |bytes: &[u8]| match read(bytes, &Context::default()).outcome {
        Outcome::Taken(summary) => Some((
            summary.stage,
            summary.status,
            summary.artifacts,
            summary.summary,
            summary.context,
        )),
        _ => None,
    };
    assert_eq!(of(&changed), of(bytes), "all else stays");
}

/// What is written is read as it was.
fn written(summary: &Summary) {
    let context = summary.context.clone().unwrap_or_default();
    let Outcome::Taken(mut again) = read(summary.to_text().as_bytes(), &Context::default()).outcome
    else {
        panic!("{summary:?} is not taken")
    };
    again.context = summary.context.clone();
    assert_eq!(*again, *summary, "{context}");
}

/// What stands last in the frontmatter is read, too.
fn read_to_the_end(text: &str) {
    let fences = text.match_indices("---").map(|(at, _)| at);
    let is_fence = |at: &usize| {
        let line = text[*at..].split('\n').next().unwrap_or_default();
        text[..*at].ends_with('\n') && line.trim_end() == "---"
    };
    let close = fences.skip(1).find(is_fence).expect("it is closed");
    let broken = format!("{}probe: [\n{}", &text[..close], &text[close..]);
    assert_eq!(
        read(broken.as_bytes(), &Context::default()).outcome,
        Outcome::Crash,
        "{broken}"
    );
}
