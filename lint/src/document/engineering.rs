//! Engineering checks: goal, steps and their outcomes, failure of a step, tests, acceptance.

use super::pattern::{any, patterns};
use super::plan::{Plan, Sentence, Topic};
use super::question::{self, answered, answers, relevant};
use super::steps::Step;
use super::{Check, Hit, PointOfView, Rule, Severity};

const FOCUS: &[PointOfView] = &[PointOfView::Engineering];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "ENG-GOAL",
        focus: FOCUS,
        severity: Severity::High,
        run: Rule::Own(goal),
    },
    Check {
        id: "ENG-STEPS",
        focus: FOCUS,
        severity: Severity::High,
        run: Rule::Own(steps),
    },
    Check {
        id: "ENG-STEP-OUTCOME",
        focus: FOCUS,
        severity: Severity::High,
        run: Rule::Own(outcomes),
    },
    Check {
        id: "ENG-STEP-FAILURE",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Own(failure),
    },
    Check {
        id: "ENG-ACCEPTANCE",
        focus: FOCUS,
        severity: Severity::High,
        run: Rule::Own(acceptance),
    },
    Check {
        id: "ENG-TESTS",
        focus: FOCUS,
        severity: Severity::High,
        run: Rule::Question(question::Question {
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
            && matches!(sentence.topic, Topic::Goal | Topic::Background | Topic::Questions)
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
        severity: Severity::High,
        line: plan.outline.sections.first().map_or(1, |section| section.line),
        what: "the plan does not say what it is for".to_owned(),
        add: "begin with the problem, who has it, and what is true for them when the work is done",
        quotes: Vec::new(),
    })
}

fn steps(plan: &Plan) -> Option<Hit> {
    plan.steps.is_empty().then(|| Hit {
        severity: Severity::High,
        line: plan.place(Topic::Steps),
        what: "the plan has no steps: nothing says what is done first and what after it".to_owned(),
        add: "write the steps in their order, each small enough to be checked and undone by itself",
        quotes: Vec::new(),
    })
}

/// Whether the plan as a whole says when it is accepted; step outcomes matter less then.
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

fn outcomes(plan: &Plan) -> Option<Hit> {
    let missing: Vec<&Step> = plan.steps.iter().filter(|step| !step.outcome).collect();
    let first = missing.first()?;
    let (bad, all) = (missing.len(), plan.steps.len());
    let severity = match (10 * bad / all, accepted(plan)) {
        (7.., false) => Severity::High,
        (5.., false) => Severity::Medium,
        (7.., true) => Severity::Low,
        _ => return None,
    };
    Some(Hit {
        severity,
        line: first.line,
        what: format!("{bad} of {all} steps do not say what is true after them, or how that is checked"),
        add: "give each step an outcome that somebody else can check: a command and its result, a number, a state",
        quotes: missing
            .iter()
            .map(|step| (step.line, step.title.clone()))
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
        severity: Severity::Medium,
        line: first.line,
        what: "nothing says what happens when a step fails, or who decides then".to_owned(),
        add: "name an owner, and say for the steps that can fail whether one stops, repeats or goes back",
        quotes: Vec::new(),
    })
}

fn acceptance(plan: &Plan) -> Option<Hit> {
    let outcomes = plan.steps.iter().filter(|step| step.outcome).count();
    let most = !plan.steps.is_empty() && 3 * outcomes >= 2 * plan.steps.len();
    (!accepted(plan) && !most).then(|| {
        let about = relevant(plan, &["should"])
            .into_iter()
            .chain(answers(plan, &["goal*"]))
            .next();
        Hit {
            severity: Severity::High,
            line: plan.place(Topic::Acceptance),
            what: "nothing says when the work is accepted".to_owned(),
            add: "say what must be observed, with numbers, and for how long, before the work counts as done",
            quotes: about
                .map(|sentence| (sentence.line, sentence.text.clone()))
                .into_iter()
                .collect(),
        }
    })
}
