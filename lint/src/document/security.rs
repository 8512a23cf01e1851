//! Security and data-integrity checks: who may do what, what comes from outside, secrets, stored data, concurrent writers.

use super::check::Question;
use super::check::{Check, Hit, Rule, Subject};
use super::pattern::{any, patterns};
use super::plan::Plan;
use super::question::{self, answered, relevant};
use crate::{PointOfView, Severity};

const VIEWS: &[PointOfView] = &[PointOfView::Security];

/// Something that takes requests from outside the program.
const ENTRY: &[&str] = &[
    "add*|build*|create*|expose*|implement*|introduce*|make*|new|offer*|provide*|publish*|serve*|write* .. endpoint*|api",
    "accept*|expose*|handle*|implement*|process*|receive*|register*|take* .. webhook*|upload*|callback*",
    "add*|build*|create*|new .. upload*",
    "add*|build*|create*|expose*|implement*|introduce*|new|offer*|provide*|serve*|receive*|accept* .. http",
    "post|get|put|patch|delete api|users|login|register|profile|webhooks|admin|orders",
    "people|user*|customer*|member*|visitor*|teacher*|student* .. log in|upload*|login",
    "client|clients|app|apps|browser|browsers|device|devices post|posts|put|puts",
    "portal",
    "admin page|panel|interface|dashboard|tool|console|area",
    "internal tool|dashboard",
];

/// Ways to log in: whoever names one has said how callers are known, and that passwords are somebody's business.
const LOGINS: &[&str] = &[
    "oauth*|oidc|openid|saml*|sso|mtls|jwt|jwts|paseto|kerberos|ldap|ldaps|scram|webauthn|fido2|passkey*",
    "single sign on",
    "active|entra directory|id",
    "keycloak|auth0|cognito|okta|firebase|supabase|clerk",
];

/// Ways to keep a password, or to have somebody else keep it.
const HASHES: &[&str] = &[
    "argon2*|bcrypt|scrypt|yescrypt|pbkdf2*|scram|sha512crypt|hash|hashes|hashed|hashing|salted",
    "oauth*|oidc|openid|saml*|sso|kerberos|ldap|ldaps|webauthn|fido2|passkey*",
    "single sign on",
    "magic link|links",
    "identity provider*",
    "active|entra directory|id",
    "keycloak|auth0|cognito|okta|firebase|supabase|clerk",
    "vault|keychain|keyring",
];

pub(super) const CHECKS: &[Check] = &[
    Check {
        id: "SEC-AUTHN",
        subject: Subject::Callers,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Question(Question {
            relevant: ENTRY,
            also: &[],
            answered: &[
                "authenticat*",
                "authn",
                "bearer|access|session|id|refresh|service|api token*",
                "token .. check*|verif*|valid*|required",
                "token",
                "signature*",
                "hmac",
                "signed",
                "session*",
                "api key*",
                "oauth*",
                "oidc",
                "sso",
                "mtls",
                "jwt",
                "401",
                "logged in",
                "password",
                "passkey*",
                "anonymous*",
                "check*|require*|need*|only .. admin*|owner*|role*|scope*|permission*",
                "public by design",
                "client certificate*",
            ],
            named: LOGINS,
            what: "requests come in, and nothing says how their sender is authenticated",
            add: "say by what the caller is known (session, token, signature, certificate), where it is checked, and what a wrong one gets",
        }),
    },
    Check {
        id: "SEC-AUTHZ",
        subject: Subject::Rights,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Question(Question {
            relevant: &[
                "endpoint* .. user*|customer*|account*|profile|tenant*|member*|patient*|order*|subscription*",
                "get|put|patch|delete profile|users|orders|accounts|customers",
                "user|customer|account|tenant id",
                "admin page|panel|interface|endpoint*|tool*|dashboard|console|area",
                "internal dashboard|tool",
                "log|sign in as",
                "view|edit|search|export|find users|customers|members|employees|patients|profile|profiles",
                "view and edit",
                "portal",
                "customer*|user*|member* .. endpoint*|configure*|register their|own",
                "multi tenant*",
            ],
            also: &[],
            answered: &[
                "authori*",
                "permission*",
                "role|roles",
                "rbac|acl|abac",
                "only .. own|can|may|their|admin*|owner*",
                "own orders|data|account*|records|invoices|profile",
                "grant*",
                "scope|scopes|scoped",
                "403|forbidden|404",
                "access control*|rules",
                "belong* to",
                "sharing rules",
                "least privilege",
                "viewer*|editor*|approver*|maintainer*",
                "member|members of .. team|group",
                "row level",
                "tenant isolation",
                "may see|read|write|use|change",
            ],
            named: &[],
            what: "people's data can be reached, and nothing says who may see or change whose",
            add: "say for each new entry whose data it may touch, where that is checked, and test it with somebody else's id",
        }),
    },
    Check {
        id: "SEC-INPUT",
        subject: Subject::Input,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Question(Question {
            relevant: &[
                "add*|build*|create*|expose*|implement*|introduce*|new|offer*|provide*|serve*|write* .. endpoint*|upload*",
                "expose*|implement*|register* .. webhook*|callback*",
                "accept*|handle*|process*|receive*|take* .. webhook*|upload*|payload*",
                "add*|build*|create*|expose*|implement*|introduce*|new|offer*|provide*|serve*|receive*|accept* .. http post|put|patch",
                "client|clients|app|apps|browser|browsers|device|devices post|posts|put|puts",
                "user input",
                "sql queries|query",
                "upload button|page",
                "request body",
                "untrusted",
                "input .. from .. user*|outside|network|internet",
                "form submi*|field*|data",
                "web|login|signup|contact|order|upload|refund|registration form*",
                "import* .. csv|xml",
            ],
            also: &[],
            answered: &[
                "validat*",
                "schema",
                "sanitis*|sanitiz*",
                "malformed",
                "invalid",
                "escap*",
                "parameteri*",
                "checked against|before|for",
                "allow list*|allowlist*|whitelist*",
                "fuzz*",
                "400|413|422",
                "refuse*|reject*",
                "limited|limit to|of #",
                "body .. limit*|most|max*",
                "hostile",
                "broken json",
                "kb|mb|mib|kib",
                "well formed",
                "in the app alone",
            ],
            named: &[],
            what: "input comes from outside, and nothing says how it is validated",
            add: "say what shape and size is accepted, where it is checked, and what the sender of anything else gets",
        }),
    },
    Check {
        id: "SEC-SECRET-IN-CONFIG",
        subject: Subject::Secrets,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Own(secret_in_config),
    },
    Check {
        id: "SEC-SECRETS",
        subject: Subject::Secrets,
        views: VIEWS,
        severity: Severity::Medium,
        run: Rule::Own(secrets),
    },
    Check {
        id: "SEC-PASSWORDS",
        subject: Subject::Secrets,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Question(Question {
            relevant: &[
                "password* .. column|columns|table",
                "store*|save*|keep*|write*|insert* .. password*",
                "table|tables .. password|passwords",
                "register*|signup|sign up with|by .. password*",
                "password* .. stored|saved|kept|written",
            ],
            also: &[],
            answered: &[
                "hash*",
                "identity provider",
                "salted|salt|salts",
                "never stored|sees|see",
            ],
            named: HASHES,
            what: "users have passwords, and nothing says how they are stored",
            add: "use a password hash made for it (argon2id, bcrypt) with its parameters, or leave passwords to an identity provider",
        }),
    },
    Check {
        id: "SEC-DATA-LOSS",
        subject: Subject::StoredData,
        views: VIEWS,
        severity: Severity::High,
        run: Rule::Question(Question {
            relevant: &[
                "delete*|drop*|purge*|truncat*|overwrit*|wipe* .. table*|column*|data|rows|database*|index|indexes|indices|bucket*|records|history|volume*|dataset*|archive*",
                "move*|migrat*|switch*|replac*|moving|migration .. database*|postgres*|mysql|data|records|bucket*|storage|volume*",
                "shut|shutdown|decommission*|retire*|turn .. vm*|server*|database*|cluster*|wiki|host*",
                "statefulset*",
                "cancel* .. old hosting|server*|account|contract|subscription",
                "remove* .. table*|column*|data|rows|database*|records|history",
            ],
            also: &[],
            answered: &[
                "backup*|backed|backs",
                "snapshot*",
                "restor*",
                "dump*",
                "archiv*",
                "point in time",
                "copy of .. data*|table*|production",
                "is a cache",
                "recover*",
                "soft delete*",
                "export* .. before|bucket|archive*",
                "keep|keeps|kept|keeping",
                "delete* after # *",
                "retention",
                "reversible",
                "checksum*",
                "row counts",
                "undelete*",
                "no|without .. data .. lost|loss",
                "can be repeated|rebuilt|regenerated|recreated",
            ],
            named: &[],
            what: "stored data is moved, overwritten or deleted, and nothing says how it is brought back",
            add: "say what is backed up before the step, that the restore was tried, and how long the old copy is kept",
        }),
    },
    Check {
        id: "SEC-MIGRATION",
        subject: Subject::StoredData,
        views: VIEWS,
        severity: Severity::Medium,
        run: Rule::Own(migration),
    },
    Check {
        id: "SEC-CONCURRENCY",
        subject: Subject::Concurrency,
        views: VIEWS,
        severity: Severity::Medium,
        run: Rule::Question(Question {
            relevant: &[
                "workers",
                "pool of",
                "queue*",
                "consumer*",
                "concurren*",
                "in parallel",
                "parallel .. jobs|runs|workers|requests",
                "webhook* .. update*|database|table|invoice*|event*",
                "events .. twice|again|retry|retries|retried|retrying",
                "event* .. table|database|invoice*",
                "sync* .. background|periodic*",
                "update .. invoice*|balance*|stock|inventory|counter*",
                "replicas|instances",
            ],
            also: &[],
            answered: &[
                "idempoten*",
                "lock|locks|locked|locking",
                "mutex",
                "transaction*",
                "unique",
                "upsert*",
                "on conflict",
                "exactly|most once",
                "once and only once",
                "dedup*",
                "one at a time",
                "at a time",
                "max active runs",
                "serial*",
                "atomic*",
                "compare and swap",
                "merge",
                "twice",
                "duplicate*",
                "optimistic*",
                "single writer|worker|consumer|instance",
                "no shared",
                "race|races",
                "version column",
                "in order",
            ],
            named: &[],
            what: "several writers can meet the same data, and nothing says what keeps it right when one comes twice or two come at once",
            add: "name the key that makes an operation idempotent, the lock or transaction that orders writers, and test both",
        }),
    },
];

const MIGRATION: Question = Question {
    relevant: &[
        "alter*|rename*|change* .. column*|table|tables|schema",
        "drop*|remove* .. column*",
        "add|adds|adding|new .. column|columns",
        "schema migration*|change*",
        "database migration*",
        "migration .. table*|column*|schema",
    ],
    also: &[
        "database*",
        "table*",
        "postgres*|mysql|sqlite|oracle|sql",
        "warehouse",
        "column*",
    ],
    answered: &[
        "backfill*|backfilled",
        "additive",
        "existing .. rows|data|records|payments|users|entries",
        "nullable|null",
        "default .. value*|false|true|null|#",
        "new rows|ones only",
        "down migration*|script*",
        "reversible",
        "drop* .. both|back|again|anew|it",
        "take* it back",
        "roll* back",
        "rollback",
        "revert*",
        "expand and contract",
        "old code|version*|schema|image*|app",
        "both schema*|version*|layout*",
        "migration test*",
        "row counts",
        "dual write*",
        "dry run",
        "history .. load*|month",
        "load .. history",
        "copy of production",
        "migration* .. tested|tried|rehears*|timed",
        "round trip",
        "version # file",
    ],
    named: &[],
    what: "the schema of stored data changes, and nothing says what becomes of existing rows or how it is undone",
    add: "say what existing rows get (backfill, default, nothing and why), that old code runs on the new schema, and how to go back",
};

/// Finds rows that a change of a table leaves without an answer. A new table has no rows yet, nor have the columns that are
/// listed for it.
fn migration(plan: &Plan) -> Option<Hit> {
    let creates = patterns(&["create*|new|introduce* .. table|tables|schema|database"]);
    let is_new = plan
        .sentences
        .iter()
        .any(|sentence| any(&creates, &sentence.words));
    let changes = patterns(&[
        "alter*|rename*|change*|drop*|remove*",
        "column|columns .. to|of the|our|each|every",
        "existing",
    ]);
    let mut found = relevant(plan, MIGRATION.relevant);
    found.retain(|(sentence, _)| {
        !any(&creates, &sentence.words) && (!is_new || any(&changes, &sentence.words))
    });
    question::ask(&MIGRATION, Severity::Medium, plan, found)
}

const SECRETS: Question = Question {
    relevant: &[
        "signing secret*|key*",
        "api key* for|to|from|into|goes",
        "client|shared secret*",
        "private key*",
        "database|db password*",
        "sign* images|image|builds|packages|artifacts",
    ],
    also: &[],
    answered: &[
        "vault",
        "secret* store|manager|storage",
        "secretsmanager|kms|hsm|keychain|keystore|sops",
        "rotat*",
        "environment variable*",
        "bank safe",
        "sealed secret*",
        "workload identity",
        "key management",
        "encrypted .. secret*|key*|credential*",
        "revok*",
        "hardware token*",
    ],
    named: &[],
    what: "there are secrets, and nothing says where they are kept and how they are replaced",
    add: "name the store, who and what can read it, and how a secret is rotated when it leaks",
};

/// Asks where secrets are kept, unless one is kept in the open: that has been said.
fn secrets(plan: &Plan) -> Option<Hit> {
    match secret_in_config(plan) {
        Some(_) => None,
        None => question::run(&SECRETS, Severity::Medium, plan),
    }
}

fn secret_in_config(plan: &Plan) -> Option<Hit> {
    let found = relevant(
        plan,
        &[
            "secret*|password*|credential*|key|keys|token|tokens .. in|into|to|inside .. config*|yaml|yml|json|repo|repository|git|code|source|env|properties|toml",
            "hardcod* .. secret*|password*|credential*|key*|token*",
            "hard coded .. secret*|password*|credential*|key*|token*",
            "commit* .. secret*|password*|credential*|token*",
            "login|password*|credential* .. put|kept|stored|shared|posted|pasted|saved|pinned .. wiki|confluence|notion|spreadsheet|readme|channel|slack|chat",
            "password*|credential* is|are in|on .. wiki|confluence|notion|spreadsheet|readme|channel|slack|chat",
        ],
    );
    let secret = [
        "secret",
        "password",
        "credential",
        "token",
        "admin login",
        "shared login",
        "signing key",
        "api key",
        "jwt",
        "private key",
    ];
    // A type that is called a secret, and code that masks one, keep secrets out.
    let masks = patterns(&[
        "type|class|struct|newtype|wrapper secret*|password*|credential*|token*",
        "secret*|password*|credential*|token* type|class|struct|newtype|wrapper",
        "mask*|redact*|scrub*",
        "check|checks|verify|ignore*|gitignore*|example",
    ]);
    let (first, word) = found.iter().find(|(sentence, _)| {
        let text = sentence.words.join(" ");
        !any(&masks, &sentence.words) && secret.iter().any(|word| text.contains(word))
    })?;
    (!answered(
        plan,
        &[
            "encrypted .. config*|repo*|yaml",
            "sops",
            "sealed",
            "age encrypted",
        ],
    ))
    .then(|| {
        let quote = first.quote(&plan.outline, *word);
        Hit {
            severity: Severity::High,
            line: quote.line,
            what: "a secret is to be kept in configuration, code or a shared page, where everybody who reads it has it"
                .to_owned(),
            add: "keep it in a secret store, hand it to the process at run time, and say how it is rotated",
            quotes: vec![quote],
        }
    })
}
