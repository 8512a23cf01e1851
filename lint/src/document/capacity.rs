//! Checks of size: how much traffic and data there will be, and what is paid for it.

use super::operations::DEPLOYED;
use super::plan::{Plan, Sentence, Topic};
use super::question::{self, Question, answered, relevant};
use super::{Check, Hit, PointOfView, Rule, Severity};

const FOCUS: &[PointOfView] = &[PointOfView::Operations];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "OPS-CAPACITY",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: &[
                "endpoint*",
                "webhook*",
                "public|rest|http|graphql|new|our api",
                "service to|for|that|is|as",
                "new|our|this|a service",
                "traffic",
                "requests from|per|to|are",
                "events per",
                "queue|queues",
                "workers",
                "stream*",
                "ingest*",
                "upload*",
                "import|imports|importing",
                "pipeline|pipelines",
                "nightly|hourly|daily|every night .. job*|run*|load*|import*|sync*|batch*|export*",
                "index|indexes|indexing .. documents|articles|products|pages|search",
                "migrat* .. users|customers|rows|records|data|database|services",
                "users|customers can|will",
                "portal|kiosk",
            ],
            // Something that nobody uses has no load.
            also: DEPLOYED,
            answered: &[
                "# .. per|a|an second|minute|hour|day|night|week|month",
                "# * s|sec|min|h",
                "rps|qps|tps|iops",
                "load|stress|soak|performance test*",
                "peak*",
                "throughput",
                "headroom",
                "autoscal*|scales|scaled",
                "capacity",
                "# gb|tb|mb|gib|tib|mib|kb|million|billion",
                "million|millions|billion|thousand|hundred",
                "# requests|events|messages|rows|records|users|customers|orders|invoices|documents|files|images|articles|products|devices|sensors|sessions|connections|calls|jobs|members|tenants|patients|students|tickets|emails|mails|accounts|employees|people|pages|transactions|bookings|visits|visitors|subscribers|stores|shops|sites|items",
                "# * requests|events|messages|rows|records|users|customers|orders|invoices|documents|files|images|articles|products|devices|sensors|sessions|connections|calls|jobs|members|tenants|patients|students|tickets|emails|accounts|employees|people|pages|transactions|bookings|visits|visitors|subscribers|stores|shops|sites|items",
                "# worker*|replica*|instance*|node*|vcpu*|core*|broker*|machine*|pod*|server*|thread*",
                "rate limit*",
                "backpressure|back pressure",
                "p95|p99|p50",
                "benchmark*",
                "volume .. #",
                "# times .. today*|load|volume|traffic",
            ],
            what: "it gets traffic or volume, and nothing says how much, or how much it can bear",
            add: "give today's and the expected numbers (per second at peak, rows, bytes), what one instance bears in a test, and what happens above that",
        }),
    },
    Check {
        id: "OPS-COST",
        focus: FOCUS,
        severity: Severity::Medium,
        run: Rule::Own(cost),
    },
];

/// Somebody sends a bill for this.
const PAID: &[&str] = &[
    "gpu|gpus|a100|h100|tpu instance*|machine*|node*|hour*|server*|box*|cluster|capacity|quota|job*",
    "on|more|new|our|rent|buy|two|four|eight|# gpu|gpus|a100|h100|tpu",
    "openai|anthropic|gpt|gpt4|chatgpt|claude|gemini|bedrock|llm|llms",
    "language model|models",
    "twilio|sendgrid|mailgun|postmark|algolia|mapbox|datadog|snowflake|databricks|redshift|auth0",
    "google maps|vision|places",
    "sms|text messages",
    "text message*",
    "maps|geocoding|translation|ocr|vision|speech|transcription api",
    "provision*|rent|rents|buy|buys|purchase*|order|orders .. cluster|clusters|vm|vms|machines|servers|instances|licen*|database|databases",
    "set|spin|create|add|launch up|a|an|the|new|another|two|three|managed cluster|vm|vms|machine|machines|servers|instance|instances|database",
    "set|spin up a|an|the|new|another|two|three|our cluster|vm|vms|machine|machines|servers|instance|instances|database",
    "bigger|larger|more|additional instance|instances|servers|machines",
    "move|moves|moving|migrat* .. cloud|aws|azure|gcp|kubernetes|s3|saas",
    "provision*|create|add|introduce eks|gke|aks|rds|aurora|lambda|lambdas|cloudfront|dynamodb|bigquery|ec2|opensearch|elasticache",
    "managed kubernetes|postgres|postgresql|database|service|redis|kafka",
    "licen* for|per|from|key|keys|seats|fee|fees|server",
    "seats|seat",
    "hubspot|webflow|vercel|netlify|heroku|contentful|shopify|salesforce|zendesk",
    "resiz*|upsiz*|scale|scaled .. warehouse|cluster|instance*|machine*|server*",
    "new|another|switch*|integrat* .. provider|vendor",
    "saas",
    "per call|request|seat|token|message pricing|price*",
    "paid plan|tier|api|service",
    "commercial|enterprise licen*|edition|product|plan|tier",
    "in|to|into the cloud",
    "cdn",
    "buy|buys|purchase|purchases|rent|rents",
];

const COUNTED: &[&str] = &[
    "cost|costs|costing|price*|pricing|spend*|spent|budget*|run rate .. #|nothing|no|none|zero|same|less|more|unchanged|approved|agreed|covered|paid|included|free|cap|capped|limit*|alert*|ceiling|doubles|halves",
    "#|no|nothing|same|less|approved|agreed|zero|extra .. cost|costs|costing|price*|pricing|spend*|spent|budget*",
    "euro|euros|eur|usd|dollar|dollars|gbp|pounds|chf|kr|sek|nok|dkk|jpy|yen|rupees|inr|pln|czk",
    "# cents",
    "free tier|plan|of charge",
    "bill|billed|billing .. alert*|month*|#",
    "cheap*|expensive",
    "finance|procurement|approved by",
    "paid by|for|from|already",
    "no .. extra|additional|new .. hardware|machines|money",
    "existing .. cluster|machines|hardware|contract|licen*|account|subscription",
    "contract covers|includes",
    "covered by",
    "included in",
    "spot instance*",
];

fn cost(plan: &Plan) -> Option<Hit> {
    let found = relevant(plan, PAID);
    let first = found.first()?;
    // An amount of money says it without a word, also in a short cell of a table.
    let named = plan
        .sentences
        .iter()
        .any(|sentence| sentence.topic != Topic::Alternatives && question::says(sentence) && money(sentence));
    (!named && !answered(plan, COUNTED)).then(|| Hit {
        severity: Severity::Medium,
        line: first.line,
        what: "it uses what somebody sends a bill for, and nothing says how much that will be".to_owned(),
        add: "give the price and the volume it was reckoned with, who pays, and the limit or alert that stops a surprise",
        quotes: found
            .iter()
            .take(3)
            .map(|sentence| (sentence.line, sentence.text.clone()))
            .collect(),
    })
}

/// A sign of money beside a digit.
fn money(sentence: &Sentence) -> bool {
    let mut before = ' ';
    let mut sign = false;
    for c in sentence.text.chars().filter(|c| !c.is_whitespace()) {
        let is_sign = matches!(c, '\u{20ac}' | '$' | '\u{a3}');
        if sign && c.is_ascii_digit() || is_sign && before.is_ascii_digit() {
            return true;
        }
        sign = is_sign;
        before = c;
    }
    false
}
