//! The check of times: what happens at a time of day, or counts days, needs to say whose clock that is.

use super::pattern::{any, patterns};
use super::plan::{Plan, Sentence};
use super::question::{answered, relevant, says};
use super::{Check, Hit, PointOfView, Rule, Severity};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "ENG-TIME",
    focus: &[PointOfView::Engineering],
    severity: Severity::Medium,
    run: Rule::Own(zones),
}];

/// What is built does something at a time, or reckons with dates. When people do a step of the plan is no such thing.
const RECKONS: &[&str] = &[
    "midnight",
    "business|office|opening|working|quiet hours",
    "calculat*|comput*|count|counts|counted|counting .. business|working day|days",
    "# business|working days after|before|from|since|until|later",
    "due date|dates",
    "remind* .. hour|hours|day|days|morning|evening|before",
    "book|books|booking|schedule*|rebook|reschedule*|remind*|cancel .. appointment*|slot|slots",
    "time slot|slots",
    "calendar entry|entries|event*|invite*|invitation*|sync*|feed*",
    "in|into|to a|the|their|your|his|her calendar|calendars",
    "expire*|expiry .. midnight|date|end of",
    "schedule|schedules|scheduled posts|messages|emails|mails|publication|publishing|sending",
    "daily|weekly|monthly digest*|newsletter*|summary",
    "every|each morning|evening|monday|tuesday|wednesday|thursday|friday|saturday|sunday",
    "end of .. day|month .. close*|bill*|invoice*|charge*|payout*",
    "cut off time",
];

/// With a time of day behind it, one of these makes a schedule of it.
const REPEATS: &[&str] = &[
    "every|each|daily|nightly|weekly|monthly|weekdays|cron*|job|jobs|runs|run|sends|send|sent|starts|triggered|mailed|emailed|published .. at|by|until|before|from|around #",
];

const ANSWERED: &[&str] = &[
    "utc|gmt|cet|cest|bst|est|edt|cst|pst|pdt|ist|jst|aest",
    "time zone|zones",
    "timezone*",
    "local|server|wall time|clock",
    "clock|clocks change*|skew|drift|go*|fake*|inject*",
    "daylight|summer time|saving*",
    "dst|ntp|iana|tzdata|zoneinfo",
    "offset .. hour*|minute*|zone",
    "epoch|unix seconds|time|milliseconds",
    "monotonic",
    "europe|america|asia|africa|australia|pacific berlin|london|paris|madrid|rome|vienna|zurich|amsterdam|stockholm|new|los|chicago|toronto|tokyo|kolkata|singapore|shanghai|dubai|nairobi|lagos|cairo|sydney|auckland|lisbon|warsaw|helsinki|oslo|copenhagen|prague|athens|istanbul|dublin|brussels",
    "berlin|london|paris|york|tokyo|madrid|vienna|zurich|amsterdam time",
    "same|one|single|only country|site|city|zone|town|building|region",
];

fn zones(plan: &Plan) -> Option<Hit> {
    let repeats = patterns(REPEATS);
    let mut found = relevant(plan, RECKONS);
    let timed = relevant(plan, &["#"]);
    found.extend(
        timed
            .into_iter()
            .filter(|sentence| time_of_day(sentence) && any(&repeats, &sentence.words)),
    );
    let first = found.first()?;
    let named = plan
        .sentences
        .iter()
        .any(|sentence| says(sentence) && named_time(&sentence.text));
    (!named && !answered(plan, ANSWERED)).then(|| Hit {
        severity: Severity::Medium,
        line: first.line,
        what: "something depends on the time of day or on dates, and nothing says in which time zone".to_owned(),
        add: "say whose time zone counts, in which one times are kept (UTC), and what happens when the clocks change",
        quotes: found
            .iter()
            .take(3)
            .map(|sentence| (sentence.line, sentence.text.clone()))
            .collect(),
    })
}

/// "Stockholm time".
fn named_time(text: &str) -> bool {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    tokens.windows(3).any(|near| {
        near[1].starts_with(char::is_uppercase)
            && near[1].len() > 3
            && !near[0].ends_with(['.', ':', '?', '!'])
            && near[2].trim_end_matches(|c: char| !c.is_alphanumeric()) == "time"
    })
}

/// "07:00", "7 am", "7pm".
fn time_of_day(sentence: &Sentence) -> bool {
    let colon = sentence
        .text
        .split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';'))
        .any(|token| {
            let token = token.trim_end_matches(['.', '?', '!']);
            token.split_once(':').is_some_and(|(hour, minute)| {
                let digits = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
                    lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
                };
                digits(hour, 1..=2) && digits(minute, 2..=2)
            })
        });
    let half = |word: &str| {
        ["am", "pm"]
            .iter()
            .filter_map(|half| word.strip_suffix(half))
            .any(|hour| hour.bytes().all(|byte| byte.is_ascii_digit()) && hour.len() <= 2)
    };
    let mut before = "";
    let spoken = sentence.words.iter().any(|word| {
        let hour = before.starts_with(|c: char| c.is_ascii_digit());
        before = word;
        half(word) && (hour || word.len() > 2)
    });
    colon || spoken
}
