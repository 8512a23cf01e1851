//! The checks that a plan's own words make relevant.

use crate::markdown::{Document, Sentence};
use crate::pattern::matches_any;
use crate::plan::{finding, with_quotes};
use crate::{Finding, PointOfView, Severity};

/// Returns the findings of the questions of a point of view.
pub(crate) fn ask_all(document: &Document, view: PointOfView) -> Vec<Finding> {
    let questions = QUESTIONS.iter().filter(|question| question.view == view);
    questions
        .filter_map(|question| question.ask(document))
        .collect()
}

/// A check that asks for an answer to a step of the plan.
struct Question {
    view: PointOfView,
    check: &'static str,
    severity: Severity,
    /// Patterns for sentences about work to do.
    relevant: &'static str,
    /// Patterns for answers, in any place: a subject that is named is not certainly missing.
    answers: &'static str,
    what: &'static str,
    advice: &'static str,
}

impl Question {
    /// Returns a finding if something is relevant and nothing answers.
    fn ask(&self, document: &Document) -> Option<Finding> {
        let is_relevant =
            |sentence: &&Sentence| sentence.is_work && matches_any(self.relevant, &sentence.words);
        let relevant: Vec<&Sentence> = document.sentences.iter().filter(is_relevant).collect();
        let line = relevant.first()?.line;
        if matches_any(self.answers, &document.all_words) {
            return None;
        }
        let finding = finding(self.check, self.severity, line, self.what, self.advice);
        Some(with_quotes(finding, &relevant))
    }
}

const QUESTIONS: &[Question] = &[
    Question {
        view: PointOfView::Engineering,
        check: "ENG-TESTS",
        severity: Severity::Medium,
        relevant: "
            add|build|change|create|extract|implement|introduce|migrate|refactor|remove|rename
            replace|rewrite|split
        ",
        answers: "
            test*|spec|specs|verif*|fuzz*|benchmark*|check*|qa|measure*|assert*|rehears*|compar*
            fixture*|pass|passes|prove*|expect*
            done|finished if|once|when
            dry run
        ",
        what: "no tests for the change",
        advice: "name the tests next to the steps: their input and the expected result",
    },
    Question {
        view: PointOfView::Security,
        check: "SEC-ACCESS",
        severity: Severity::Medium,
        relevant: "
            add|build|create|expose|implement|introduce|offer|provide|serve|write .. endpoint|endpoints|portal|route|routes|upload|uploads|webhook|webhooks
            admin page|panel|area|console
        ",
        answers: "
            access|anonymous|auth*|credential*|hmac|jwt|localhost|login|loopback|mtls|oauth*
            password*|permission*|public|rbac|role|roles|saml|session*|signature*|signed|sso
            token|tokens|unauthenticated
            api key*
        ",
        what: "a new entry point without access control",
        advice: "write how callers are authenticated, what each may do, and where that is checked",
    },
    Question {
        view: PointOfView::Security,
        check: "SEC-INPUT",
        severity: Severity::Medium,
        relevant: "
            accept|handle|import|parse|process|receive .. csv|payload|payloads|upload|uploads|webhook|webhooks|xml
            add|build|create|expose|implement .. endpoint|endpoints|form|upload|webhook
            user input
        ",
        answers: "
            400|413|422|allowlist*|escap*|fuzz*|hostile|invalid|limit|limited|limits|malformed
            parameteri*|refuse*|reject*|sanitis*|sanitiz*|schema*|trust*|untrusted|validat*
        ",
        what: "input from outside without validation",
        advice: "write which shape and size is accepted, where it is checked, and what happens to any other input",
    },
    Question {
        view: PointOfView::Security,
        check: "SEC-SECRETS",
        severity: Severity::High,
        relevant: "
            credential|credentials|password|passwords|secret|secrets go|goes|live|lives .. in|into|to .. config|repo|repository|source|wiki
            key|keys|token|tokens go|goes .. in|into|to .. config|repo|repository|source|wiki
            commit|hardcode|keep|put|save|store .. credential|credentials|password|passwords|secret|secrets in|into .. config|repo|repository|source|wiki
            commit|hardcode|keep|put|save|store .. access|api|private|signing key|keys in|into .. config|repo|repository|source|wiki
        ",
        answers: "
            encrypt*|gitignore*|kms|keychain|redact*|sealed|sops|vault
            secret|secrets manager|store
            environment variable*
        ",
        what: "a secret is stored where others can read it",
        advice: "keep it in a secret store, and write who can read it and how it is rotated",
    },
    Question {
        view: PointOfView::Security,
        check: "SEC-DATA",
        severity: Severity::Medium,
        relevant: "
            delete|drop|overwrite|purge|truncate|wipe .. bucket|buckets|column|columns|data|database|databases|records|rows|table|tables|volume|volumes
            alter|change|migrate|rename .. column|columns|database|databases|schema|table|tables
        ",
        answers: "
            archiv*|backfill*|backup*|copy|copies|dump*|kept|nullable|recover*
            restor*|retention|revert*|reversible|rollback*|snapshot*|undo*
            back up|out
            down migration
            export* .. before|first
            roll* back
        ",
        what: "stored data is changed or deleted without a backup",
        advice: "write what is backed up before the step, and how a restore was tested",
    },
    Question {
        view: PointOfView::Operations,
        check: "OPS-ROLLBACK",
        severity: Severity::High,
        relevant: "
            deploy|release|ship .. to .. customers|everyone|prod|production|users
            go live
            roll out .. to
        ",
        answers: "
            canary|disable*|fallback|flag|flags|restor*|revert*|rollback*|toggle*|undo*
            back out|to
            fall* back
            go|going|way back
            old|previous image|path|release|version
            roll* .. back
            switch*|turn* back|off
            take* .. back|down|out
        ",
        what: "a production release without a rollback",
        advice: "write who rolls back, on which signal, how, and how long it takes",
    },
    Question {
        view: PointOfView::Operations,
        check: "OPS-RETRY",
        severity: Severity::Medium,
        relevant: "
            retry|retries failed|failures|if|when
            retry|retries .. call|calls|delivery|deliveries|job|jobs|request|requests
            with retries
        ",
        answers: "
            attempt*|backoff|exponential*|jitter
            # retries|times|tries
            limit*|max*|most .. retries|retry|times|tries
            retr* .. once|twice
        ",
        what: "retries without a limit",
        advice: "write the number of attempts, the wait between them, and what happens after the last one",
    },
    Question {
        view: PointOfView::Operations,
        check: "OPS-MONITORING",
        severity: Severity::Medium,
        relevant: "
            add|build|create|deploy|introduce|run .. cron|cronjob|daemon|microservice|worker|workers
            deploy|release|ship .. to .. customers|everyone|prod|production|users
            roll out .. to
        ",
        answers: "
            alert*|dashboard*|grafana|health*|log|logged|logging|logs|metric*|monitor*|observ*
            prometheus|sentry|telemetry|trace|traces|tracing|watch*
        ",
        what: "a production service without monitoring",
        advice: "name the metrics or logs that show it works, and who is alerted if it fails",
    },
];
