//! Engineering checks: goal, steps and their outcomes, failure of a step, tests, acceptance.

use super::check::{Check, Hit, Question, Rule, Subject};
use super::outline::BlockKind;
use super::pattern::{any, patterns};
use super::plan::Plan;
use super::question::{self, answered};
use super::sentence::{Quote, Sentence, Topic};
use super::steps::Step;
use crate::{PointOfView, Severity};

const VIEWS: &[PointOfView] = &[PointOfView::Engineering];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ENG-GOAL",
        subject: Subject::Goal,
        views: VIEWS,
        severity: Severity::Medium,
        run: Rule::Own(goal),
    },
    Check {
        id: "ENG-STEPS",
        subject: Subject::Steps,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Own(steps),
    },
    Check {
        id: "ENG-STEP-OUTCOME",
        subject: Subject::Acceptance,
        views: VIEWS,
        severity: Severity::Medium,
        run: Rule::Own(outcomes),
    },
    Check {
        id: "ENG-STEP-FAILURE",
        subject: Subject::Steps,
        views: VIEWS,
        severity: Severity::Low,
        run: Rule::Own(failure),
    },
    Check {
        id: "ENG-ACCEPTANCE",
        subject: Subject::Acceptance,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Own(acceptance),
    },
    Check {
        id: "ENG-TESTS",
        subject: Subject::Tests,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Question(Question {
            relevant: &[
                "implement*",
                "add",
                "build",
                "refactor*",
                "rewrite*",
                "endpoint*",
                "module*",
                "migrat*",
                "script*",
                "create",
                "change*",
                "replace*",
                "split",
                "develop*",
                "api",
                "code",
                "train*",
            ],
            also: &[],
            answered: &[
                "test*",
                "verif*",
                "fuzz*",
                "dry run",
                "rehears*",
                "golden",
                "benchmark*",
                "check*",
                "evaluat*",
                "measure*",
                "shadow",
                "reconcil*",
                "simulat*",
                "proof",
                "prove*",
                "compare*",
                "qa",
            ],
            named: &[],
            what: "nothing says how the change is tested",
            add: "name the tests (what they run, on what input, what they must show) beside the steps they belong to",
        }),
    },
];

const ACCEPTED: &[&str] = &[
    "accept* when|if|once|criteri*",
    "done|finished|complete|satisfied|released|shipped|successful when|once|if",
    "success means|is|criteri*",
    "criteri*",
    "we know it|this|whether",
    "definition of done",
    "good enough .. #",
    "enough when|if|once",
    "outcome",
    "result is|was",
    "must .. #",
    "by .. will|shall .. #",
    "aim is .. #",
    "goal is .. #",
    "goal|goals|target|targets .. zero|#",
    "at least|most #",
    "no|zero .. for # week*|day*|month*",
    "is met|reached when|if",
];

fn goal(plan: &Plan) -> Option<Hit> {
    let titled = plan.sentences.iter().any(|sentence| {
        sentence.block.is_some()
            && matches!(
                sentence.topic,
                Topic::Goal | Topic::Background | Topic::Questions
            )
    });
    let said = answered(
        plan,
        &[
            "goal*",
            "aim*",
            "objective*",
            "purpose",
            "so that",
            "so we",
            "in order to",
            "because",
            "we want",
            "want to",
            "wants|wanted|want a|an|the|to|our|us",
            "ask|asks|asked|asking us|for",
            "we need",
            "need to",
            "success",
            "question to answer",
            "shall",
            "after this",
            "problem",
            "why",
            "today",
            "currently",
            "allows|lets|enables",
            "by # *|january|february|march|april|may|june|july|august|september|october|november|december",
            "can|could not",
            "fails",
            "should",
        ],
    );
    (!titled && !said).then(|| Hit {
        severity: Severity::Medium,
        line: plan
            .outline
            .sections
            .first()
            .map_or(1, |section| section.line),
        what: "the plan does not say what it is for".to_owned(),
        add: "begin with the problem, who has it, and what is true for them when the work is done",
        quotes: Vec::new(),
    })
}

/// A plan with this many items, rows or headings has a form: if no steps were found in it, it may be one that is not known here.
const FORM: usize = 6;

fn steps(plan: &Plan) -> Option<Hit> {
    let blocks = plan.outline.blocks.iter();
    let listed = blocks
        .filter(|block| block.kind != BlockKind::Paragraph)
        .count();
    plan.steps.is_empty().then(|| Hit {
        severity: if listed + plan.outline.sections.len() < FORM {
            Severity::High
        } else {
            Severity::Low
        },
        line: plan.place(Topic::Steps),
        what: "the plan has no steps: nothing says what is done first and what after it".to_owned(),
        add: "write the steps in their order, each small enough to be checked and undone by itself",
        quotes: Vec::new(),
    })
}

/// Returns whether the plan as a whole says when it is accepted; step outcomes matter less then.
fn accepted(plan: &Plan) -> bool {
    let titled = plan
        .sentences
        .iter()
        .any(|sentence| sentence.topic == Topic::Acceptance && question::says(sentence));
    titled || answered(plan, ACCEPTED) || plan.sentences.iter().any(target)
}

/// "Every shard should be <= 45 % full", or a bound among the goals.
fn target(sentence: &Sentence) -> bool {
    let bound = sentence
        .text
        .split(['\u{2264}', '\u{2265}', '<', '>'])
        .skip(1)
        .any(|after| {
            after
                .trim_start_matches(['=', ' ', '$', '\u{20ac}'])
                .starts_with(|c: char| c.is_ascii_digit())
        })
        || any(
            &patterns(&["under|below|over|above|least|most|within|than #"]),
            &sentence.words,
        );
    let wanted = any(
        &patterns(&[
            "should|shall|must",
            "after this",
            "want|wants|target|targets|aim|goal",
        ]),
        &sentence.words,
    );
    sentence.block.is_some() && bound && (wanted || sentence.topic == Topic::Goal)
}

/// More steps than this are items of something else.
const MOST_STEPS: usize = 20;

fn outcomes(plan: &Plan) -> Option<Hit> {
    let missing: Vec<&Step> = plan.steps.iter().filter(|step| !step.outcome).collect();
    let first = missing.first()?;
    let (bad, all) = (missing.len(), plan.steps.len());
    (10 * bad >= 7 * all).then(|| Hit {
        severity: if accepted(plan) || all > MOST_STEPS {
            Severity::Low
        } else {
            Severity::Medium
        },
        line: first.line,
        what: format!("{bad} of {all} steps do not say what is true after them, or how that is checked"),
        add: "give each step an outcome that somebody else can check: a command and its result, a number, a state",
        quotes: missing
            .iter()
            .map(|step| Quote::new(step.line, step.title.clone()))
            .collect(),
    })
}

fn failure(plan: &Plan) -> Option<Hit> {
    let first = plan.steps.first().filter(|_| plan.steps.len() >= 3)?;
    let handled = answered(
        plan,
        &[
            "if|when|whenever|unless|otherwise|where .. fail*|break*|miss*|missed|not|wrong|error*|crash*|lost|exceed*|over|under|more|less|cannot|stuck|down|late|regress*",
            "fail* .. then|is|are|stop*|retry|retries|retried|retrying|revert*",
            "go|going back",
            "take|takes|taking|taken .. back",
            "roll* back",
            "rollback",
            "revert*",
            "stop and",
            "we stop",
            "fall* back",
            "undo*|undone",
            "way back",
            "plan b",
        ],
    );
    (!handled).then(|| Hit {
        severity: Severity::Low,
        line: first.line,
        what: "nothing says what happens when a step fails, or who decides then".to_owned(),
        add: "name an owner, and say for the steps that can fail whether one stops, repeats or goes back",
        quotes: Vec::new(),
    })
}

/// Words of a plan that says somewhere what it must come to, in whatever form.
const AIMED: &[&str] = &[
    "accept*|success*|criteri*|target*|expect*|done|measure*|metric*",
    "verif*|validat*|confirm*|pass|passes|green",
];

fn acceptance(plan: &Plan) -> Option<Hit> {
    let outcomes = plan.steps.iter().filter(|step| step.outcome).count();
    let most = !plan.steps.is_empty() && 3 * outcomes >= 2 * plan.steps.len();
    (!accepted(plan) && !most).then(|| Hit {
        severity: if plan.names(AIMED) { Severity::Low } else { Severity::High },
        line: plan.place(Topic::Acceptance),
        what: "nothing says when the work is accepted".to_owned(),
        add: "say what must be observed, with numbers, and for how long, before the work counts as done",
        quotes: Vec::new(),
    })
}
