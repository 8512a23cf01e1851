//! Operations checks: going back, retries and timeouts, failure of what runs, watching it, who is told, how it is deployed.

use super::outline::BlockKind;
use super::pattern::{self, Pattern, patterns};
use super::plan::{Plan, Sentence};
use super::question::{Question, answers, relevant};
use super::{Check, Hit, PointOfView, Rule, Severity};

const FOCUS: &[PointOfView] = &[PointOfView::Operations];

/// Something is put in front of its users.
pub(super) const DEPLOYED: &[&str] = &[
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
        focus: FOCUS,
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
            what: "something is released, and nothing says how it is taken back",
            add: "say who takes it back on what sign, with which command, how long that takes, and what happens to data written meanwhile",
        }),
    },
    Check {
        id: "OPS-DEPLOY",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: DEPLOYED,
            also: &[],
            answered: &[
                "flag*",
                "canar*",
                "percent",
                "staging",
                "stages|staged",
                "window",
                "maintenance",
                "behind",
                "release candidate*",
                "rc",
                "pilot*",
                "trial*",
                "blue green",
                "terraform .. plan|apply|create*|instance",
                "from main",
                "one .. at a time",
                "at # *",
                "# days|weeks apart",
                "for|after a|one|two|three|# week|weeks",
                "week|weeks .. then|later|before|apart|all",
                "tag",
                "rehears*",
                "then .. all",
                "first .. then",
                "for # days|weeks",
                "dark launch*",
                "shadow*",
                "parallel .. days|weeks|run*",
                "run both",
            ],
            what: "something goes to production in one step, and nothing says how",
            add: "give the order (migration, code, switch), the first small audience, how long it is watched, and what must hold before the next",
        }),
    },
    Check {
        id: "OPS-RETRY",
        focus: FOCUS,
        severity: Severity::High,
        run: Rule::Own(retries),
    },
    Check {
        id: "OPS-TIMEOUT",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: &[
                "call* .. api|service|server|provider|endpoint*",
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
            what: "something else is called, and nothing says how long one waits for it",
            add: "give a timeout and the number of attempts for each call, and what the caller does when they are used up",
        }),
    },
    Check {
        id: "OPS-FAILURE",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: RUNNING,
            also: &[],
            answered: &[
                "if|when|whenever|after|where|what .. fail*|down|unreachable|unavailable|crash*|dies|error*|hang*|breaks|lost|slow|late",
                "fail* .. is|are|leave*|loud*|again|ends",
                "retry|retries|retried|retrying .. # ",
                "retry|retries|retried|retrying .. #",
                "runbook*",
                "fall* back",
                "fallback",
                "degrad*",
                "crash .. leave*",
                "outage*",
                "503|500",
                "dead letter",
                "standby|failover|multi az|redundan*",
                "watchdog",
                "not .. green",
                "stops|stop by itself",
                "crash*|dies .. again|anywhere|any point",
            ],
            what: "it will run by itself, and nothing says what happens when it, or what it needs, fails",
            add: "list what can be down (its database, the network, the other side), what users see then, and how it comes back",
        }),
    },
    Check {
        id: "OPS-OBSERVABILITY",
        focus: FOCUS,
        severity: Severity::High,
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
            what: "it will run in production, and nothing says how anybody sees whether it works",
            add: "name the numbers that show it works (rate, errors, latency, backlog), the log lines, and where one looks at them",
        }),
    },
    Check {
        id: "OPS-ALERT",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: RUNNING,
            also: DEPLOYED_OR_SCHEDULED,
            answered: &[
                "alert*|alarm*",
                "phone|phones .. ring*|when|if",
                "duty phone|officer|engineer",
                "page|pages the|a|us|somebody|someone|on",
                "paged|pager*",
                "on call|oncall",
                "notif*",
                "ticket*",
                "mail* .. to|the|when",
                "email* .. when|if|fails",
                "gets .. mail|email|message|alert*",
                "message .. when|if",
                "is told|informed|called",
                "incident*",
                "escalat*",
                "slack .. when|if|fails",
                "watch* .. by|daily",
                "team .. gets|told",
            ],
            what: "it can fail in production, and nothing says who is told",
            add: "give for each sign of failure the threshold, who is told and how (page, ticket, mail), and what they do first",
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
    let first = retried.first()?;
    let bound =
        Pattern::new("#|max*|limit*|once|twice|backoff|deadline|budget|never|jitter|bounded|dead|gives|next");
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
    if retried.iter().take(16).any(|sentence| bounded(sentence))
        || elsewhere
            .iter()
            .any(|sentence| bound.find(&sentence.words).is_some())
    {
        return None;
    }
    let denied = pattern::any(
        &patterns(&["no|not|never|without .. retry|retries|retried|retrying"]),
        &first.words,
    );
    (!denied).then(|| Hit {
        severity: Severity::High,
        line: first.line,
        what: "failures are retried, and nothing says how often, how far apart, or what comes after the last attempt".to_owned(),
        add: "give the number of attempts, the backoff with jitter, which errors are worth it, and where what still fails goes",
        quotes: retried.iter().take(3).map(|sentence| (sentence.line, sentence.text.clone())).collect(),
    })
}
