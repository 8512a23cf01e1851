//! Operations checks: going back, retries and timeouts, watching what runs.

use super::check::Question;
use super::check::{Check, Hit, Rule, Subject};
use super::outline::BlockKind;
use super::pattern::{self, Pattern, patterns};
use super::plan::Plan;
use super::question::{answers, quotes, relevant};
use super::sentence::Sentence;
use crate::{PointOfView, Severity};

const VIEWS: &[PointOfView] = &[PointOfView::Operations];

/// Something is put in front of its users.
const DEPLOYED: &[&str] = &[
    "deploy*",
    "release it|to|the",
    "roll* out",
    "roll|rolls|rolled|rolling it|this|them|that|everything|these out|to",
    "rollout",
    "to|in production",
    "put|puts .. into production",
    "put|puts it|this|them|that live",
    "ship|ships|shipped with|in #",
    "hosted on|at|in|by the|our",
    "flip|flips|flipped|flipping .. config*|flag|switch|dns|setting*|toggle",
    "turn|turned|switch|switched it|them|this on",
    "enable* .. for everybody|everyone|customers|users",
    "enable* .. for all users|customers|tenants|members|shops|stores|sites",
    "go|goes|make|makes live",
    "make it|this|them live",
    "go|goes|be|is|are|it live in|within|by|on a|one|two|three|#|monday|tuesday|wednesday|thursday|friday|week|month",
    "goes out to|with|on",
    "against|on|to prod|production",
    "against|on the|our prod|production",
    "point|points .. dns|domain",
    "cancel* .. hosting|contract|subscription",
    "launch*",
    "go live",
    "going live",
    "switch* .. dns|traffic|over",
    "cut over",
    "cutover",
    "publish* .. to|from|site|app",
    "migrate .. services|service|users|customers|traffic",
    "ship it|to|the",
    "app store",
    "the store",
    "remove .. old .. job|service|system|path",
    "over the air",
    "ota",
    "onboard* .. customer*|user*",
];

/// Something runs by itself afterwards.
const RUNNING: &[&str] = &[
    "service",
    "services",
    "worker*",
    "endpoint*",
    "webhook*",
    "nightly job*|run*|load*|import*|sync*|batch*|report*|export*",
    "every night|hour|day",
    "cron*",
    "pipeline*",
    "airflow",
    "in|to|into|on production",
    "server*",
    "cluster*",
    "kubernetes",
    "daemon*",
    "fleet",
    "devices|sensors .. field|update*",
    "broker|brokers",
    "hosted on|at|in",
    "job",
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "OPS-ROLLBACK",
        subject: Subject::Release,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Question(Question {
            relevant: DEPLOYED,
            also: &[],
            answered: &[
                "roll* back|backs",
                "rollback*",
                "revert*",
                "undo*|undone",
                "way back",
                "go|goes|going|went back",
                "switch* .. back|off",
                "swap* .. back|again",
                "yank*",
                "previous release|version|commit|image|build",
                "takes it back",
                "turn* .. off",
                "flag .. off",
                "restor*",
                "reverse replication",
                "back to|out",
                "bring*|put|set|switch*|flip*|change*|move*|point*|step* .. back",
                "keep|keeps|kept .. old|previous .. running|warm|ready|installed|available|beside|for|until",
                "old|previous|former .. stays|remains|still|is|keeps .. running|available|installed|place|reachable|ready|warm|until",
                "backs out",
                "brings .. back",
                "hidden again",
                "disable*",
                "thrown away",
                "destroy",
                "reinstall*",
                "can be reverted",
            ],
            named: &[],
            what: "something is released, and nothing says how it is taken back",
            add: "say who takes it back on what sign, with which command, how long that takes, and what happens to data written meanwhile",
        }),
    },
    Check {
        id: "OPS-RETRY",
        subject: Subject::Calls,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Own(retries),
    },
    Check {
        id: "OPS-TIMEOUT",
        subject: Subject::Calls,
        views: VIEWS,
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: &[
                "call|calls|called|calling .. api|service|server|provider|endpoint*",
                "push* .. api|crm|to the",
                "post .. to .. url*|endpoint*|customer*",
                "fetch* .. api|from|server",
                "sync* .. server|api|background|periodic*",
                "download* .. from|over|image*",
                "deliver* .. event*|webhook*|to",
                "third party",
                "external api|service*",
            ],
            also: &[],
            answered: &[
                "timeout*|timed",
                "time out|limit*",
                "deadline*",
                "backoff",
                "retry|retries|retried|retrying .. #",
                "# .. times|attempts",
                "gives|give|gave up",
                "circuit breaker*",
                "limited to # *",
                "# second*|s|ms timeout",
                "within # *",
                "after # *",
                "killed",
                "fails .. leave*|then|and",
                "offline",
                "asynchron* .. queue*",
            ],
            named: &[],
            what: "something else is called, and nothing says how long one waits for it",
            add: "give a timeout and the number of attempts for each call, and what the caller does when they are used up",
        }),
    },
    Check {
        id: "OPS-OBSERVABILITY",
        subject: Subject::Watching,
        views: VIEWS,
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: RUNNING,
            also: DEPLOYED_OR_SCHEDULED,
            answered: &[
                "metric*",
                "monitor*",
                "alert*",
                "on .. dashboard*",
                "dashboard* .. show*|metric*",
                "logs|logged|logging|log",
                "page|pages|paged .. on|call|team|when",
                "trac*",
                "watch*",
                "telemetry",
                "observab*",
                "prometheus|grafana|datadog|sentry",
                "reports .. version|state|status|once",
                "counted|counts",
                "health check*",
                "slo|slos|sli",
                "error rate*",
                "lag",
                "p95|p99",
            ],
            named: &[],
            what: "it will run in production, and nothing says how anybody sees whether it works",
            add: "name the numbers that show it works (rate, errors, latency, backlog), the log lines, and where one looks at them",
        }),
    },
];

const DEPLOYED_OR_SCHEDULED: &[&str] = &[
    "deploy*",
    "in|to|into|on production",
    "launch*",
    "roll* out",
    "rollout",
    "go live",
    "every night",
    "nightly|hourly|daily job*|run*|load*|import*|sync*|batch*|report*|export*",
    "job* nightly|hourly|daily",
    "every # *",
    "cron*",
    "airflow",
    "pipeline*",
    "switch* .. dns|traffic|over",
    "cut over",
    "migrat* .. services|service",
    "shut down",
    "on call",
    "workers",
    "minutes",
];

/// Retries that are mentioned and nowhere bounded.
fn retries(plan: &Plan) -> Option<Hit> {
    let retried = relevant(
        plan,
        &[
            "retry|retries|retried|retrying",
            "try|tries|tried again",
            "reattempt*",
            "redeliver*",
        ],
    );
    let (first, _) = retried.first()?;
    let bound = Pattern::new(
        "#|max*|limit*|once|twice|backoff|deadline|budget|never|jitter|bounded|dead|gives|next",
    );
    // A bound may stand in the next sentence of the same paragraph, or in another cell of the row.
    let bounded = |sentence: &Sentence| {
        let at = plan
            .sentences
            .iter()
            .position(|other| std::ptr::eq(other, sentence));
        let near = plan
            .sentences
            .iter()
            .skip(at.unwrap_or(0))
            .take_while(|other| other.block == sentence.block);
        let row = sentence
            .block
            .is_some_and(|block| plan.outline.blocks[block].kind == BlockKind::Row);
        near.take(if row { 8 } else { 2 })
            .any(|other| bound.find(&other.words).is_some())
    };
    let elsewhere = answers(
        plan,
        &["retry|retries|retried|retrying", "tried again", "attempts"],
    );
    let denied = patterns(&["no|not|never|without .. retry|retries|retried|retrying"]);
    if retried
        .iter()
        .take(16)
        .any(|(sentence, _)| bounded(sentence))
        || elsewhere
            .iter()
            .any(|sentence| bound.find(&sentence.words).is_some())
        || pattern::any(&denied, &first.words)
    {
        return None;
    }
    let quotes = quotes(plan, &retried);
    Some(Hit {
        severity: Severity::High,
        line: quotes.first()?.line,
        what: "failures are retried, and nothing says how often, how far apart, or what comes after the last attempt".to_owned(),
        add: "give the number of attempts, the backoff with jitter, which errors are worth it, and where what still fails goes",
        quotes,
    })
}
