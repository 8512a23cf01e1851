//! Checks of what the work leans on: other teams, libraries, services of others; what their delay or failure does.

use super::pattern::{self, patterns};
use super::plan::Plan;
use super::question::{Question, answered, relevant};
use super::{Check, Hit, PointOfView, Rule, Severity};
use std::collections::HashSet;

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ENG-DEPENDENCY",
        focus: &[PointOfView::Engineering],
        severity: Severity::Medium,
        run: Rule::Own(others),
    },
    Check {
        id: "ENG-LIBRARY",
        focus: &[PointOfView::Engineering],
        severity: Severity::Low,
        run: Rule::Question(Question {
            relevant: &[
                "existing|suitable|some|open|popular|off|third library|package|plugin|component|framework",
                "existing|suitable|some|open|popular|off source|the|party shelf|library|package|plugin|component|framework",
                "a|an library|package|plugin for|to|from|that",
                "update|upgrade|bump all|the|our dependencies|libraries|packages",
                "update|upgrade|bump dependencies|libraries|packages",
                "new dependency|dependencies",
            ],
            also: &[],
            answered: &[
                "pin|pinned|pins|pinning",
                "lockfile|lock file",
                "version|versions # *",
                "version # ",
                "licen*",
                "maintained|maintainer*",
                "vendored|fork|forked|forks",
                "advisor*|cve|cves|audit*|vulnerab*",
                "replace .. library|package|later",
                "instead of|over .. because",
                "std|standard library",
                "changelog*|breaking change*",
            ],
            what: "a library is taken on or updated, and nothing says which one or what speaks for it",
            add: "name it with its version and licence, who keeps it up, and what is done when it is given up or has a hole",
        }),
    },
    Check {
        id: "OPS-DEPENDENCY",
        focus: &[PointOfView::Operations],
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: &[
                "call|calls|calling|called|query|queries|ask|asks|fetch* .. api|provider*",
                "third party|parties",
                "external api*|service*|provider*|system*",
                "payment|sms|email|mail|identity|map|maps|weather|shipping|carrier|geocoding|push|translation|ocr provider*|gateway|vendor|api",
                "stripe|twilio|sendgrid|mailgun|postmark|adyen|paypal|mollie|auth0|okta|cognito|algolia|mapbox|salesforce|hubspot|zendesk|shopify|docusign|plaid|firebase",
                "openai|anthropic|gpt|gpt4|chatgpt|claude|gemini|bedrock|llm|llms",
                "language model|models",
                "call|calls|calling .. endpoint",
                "google maps|calendar|sheets|drive|cloud",
                "to|from|into|in the crm|erp|sap",
                "partner|supplier|vendor*|bank* api|apis|feed|feeds|sftp|system",
                "saas",
                "new|different|another|switch* .. vendor|provider",
                "issue refund*",
            ],
            also: &[],
            answered: &[
                "if|when|whenever|after|where|what|while|should|once .. down|unreachable|unavailable|timeout*|times|fails|fail|failed|failing|slow|late|error*|gone|missing|offline|rejects|refuses|answers|returns|hang*|breaks|unanswered",
                "fail* .. is|are|leave*|shows|show|again|then|falls",
                "retry|retries|retried|retrying .. #",
                "# retry|retries|attempts",
                "fall* back",
                "fallback*",
                "degrad*",
                "circuit breaker*",
                "outage*",
                "503|500|5xx|429|502|504",
                "dead letter",
                "queue* .. until|while|when",
                "last known|good|cached",
                "standby|failover|second provider|vendor|supplier",
                "without the|it|them .. still|works|goes|continues",
                "unreachable|unavailable",
                "sla|slas",
            ],
            what: "it needs a service of somebody else, and nothing says what happens while that is down, slow, or refuses",
            add: "for each of them: what users see while it is away, what waits and for how long, its limits, and who is called there",
        }),
    },
];

/// Somebody else has to do something first.
const NEEDED: &[&str] = &[
    "vendor|supplier|agency|contractor|partner will|must|has|needs|delivers|provides|sends|ships|should|promised",
    "depends|dependent|depend on .. team|vendor|supplier|partner|agency|approval|department|contractor",
    "wait|waits|waiting for .. team|vendor|supplier|partner|approval|legal|department|procurement",
    "blocked by|on .. team|vendor|supplier|approval|legal|department",
    "once|as soon as .. team|vendor|supplier|legal|department|partner has|have|delivers|provides|approves|gives|finishes|is|are",
    "once|after|when team|vendor|supplier|legal|it|security|ops|procurement has|have|delivers|provides|approves|gives",
    "need|needs|requires|require .. from .. team|vendor|supplier|legal|department|partner|procurement",
    "need|needs|requires|require approval",
    "need|needs|requires|require sign off",
    "coordinate|coordinated|coordination|align with .. team|teams|vendor|supplier",
];

/// What a team other than one's own does in a plan that leans on it.
const DOES: &[&str] = &[
    "provides|delivers|builds|adds|sends|gives|exposes",
    "will|must|needs|should|would|has .. add|build|provide|deliver|implement|create|write|expose|change|set|give|send|open|approve|upgrade|migrate|fix|ship|extend|update|release|supply",
];
/// Words before "team" that make it the plan's own.
const OWN: &[&str] = &[
    "our",
    "own",
    "the",
    "my",
    "this",
    "whole",
    "each",
    "every",
    "all",
    "per",
    "both",
    "project",
    "entire",
    "core",
    "a",
    "development",
    "dev",
    "engineering",
    "delivery",
    "functional",
    "product",
    "implementation",
];

fn others(plan: &Plan) -> Option<Hit> {
    let mut found = relevant(plan, NEEDED);
    let does = patterns(DOES);
    for sentence in relevant(plan, &["team|department"]) {
        let at = sentence
            .words
            .iter()
            .position(|word| matches!(word.as_str(), "team" | "department"));
        let Some(at) = at.filter(|at| *at > 0) else {
            continue;
        };
        let own = OWN.contains(&sentence.words[at - 1].as_str());
        let after = &sentence.words[at + 1..sentence.words.len().min(at + 8)];
        if !own && does.iter().any(|does| does.find(after) == Some(0)) {
            found.push(sentence);
        }
    }
    let dated = dated(plan);
    found.retain(|sentence| !dated.contains(&sentence.block));
    let first = found.first()?;
    let handled = answered(
        plan,
        &[
            "if|when|where|should .. late|delay*|slip*|refuse*|declin*|disagree*",
            "if|when|where|should .. not .. ready|time|answer|deliver*|arrive*|there|by|agree*|approve*|do",
            "has|have agreed|confirmed|committed|promised|signed|approved|reserved|accepted",
            "agreed|confirmed|committed with|by|to",
            "until then",
            "stub|stubs|stubbed|mock|mocks|mocked|fake",
            "escalat*",
            "contact person",
            "point of contact",
            "fallback|plan b",
            "without them|it we|the",
            "silence .. counts",
        ],
    );
    (!handled).then(|| Hit {
        severity: Severity::Medium,
        line: first.line,
        what:
            "others have to do something for this, and nothing says by when, or what happens if they are late"
                .to_owned(),
        add: "name the person who agreed and the day, what goes on without them, and when one stops waiting",
        quotes: found
            .iter()
            .take(3)
            .map(|sentence| (sentence.line, sentence.text.clone()))
            .collect(),
    })
}

/// Blocks in which a day is named, or that it is agreed.
fn dated(plan: &Plan) -> HashSet<Option<usize>> {
    let days = patterns(&[
        "#",
        "agreed|confirmed|committed|promised|approved|already",
        "by|on|until|before monday|tuesday|wednesday|thursday|friday|january|february|march|april|may|june|july|august|september|october|november|december",
    ]);
    plan.sentences
        .iter()
        .filter(|sentence| sentence.block.is_some() && pattern::any(&days, &sentence.words))
        .map(|sentence| sentence.block)
        .collect()
}
