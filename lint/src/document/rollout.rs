//! The check of rollouts to several places, which one answer about stages does not settle: in which order.

use super::operations::DEPLOYED;
use super::question::Question;
use super::{Check, PointOfView, Rule, Severity};

pub(super) const CHECKS: &[Check] = &[Check {
    id: "OPS-REGIONS",
    focus: &[PointOfView::Operations],
    severity: Severity::Medium,
    run: Rule::Question(Question {
        relevant: &[
            "all|both|every|each|two|three|four|five|six|seven|eight|nine|ten|#|other|remaining|several region|regions|tenant|tenants|datacenter*|sites|site|stores|branches|branch|shops|plants|countries|country|offices|hospitals|warehouses|depots|schools|locations|clinics|wards|franchises|zones",
            "all|both|every|each|two|three|four|five|#|other|remaining of|our|the|data region|regions|tenants|datacenters|centers|centres|sites|stores|branches|shops|plants|countries|offices|hospitals|warehouses|depots|schools|locations|clinics",
            "multi region",
            "eu and|or us",
            "us and|or eu",
        ],
        also: DEPLOYED,
        answered: &[
            "one|two|three|# .. at a time",
            "one|single|first|second|third|last|next|pilot|smallest|largest|quietest|two|three region|regions|tenant|tenants|datacenter|site|sites|store|stores|branch|branches|shop|shops|plant|country|countries|office|hospital|warehouse|depot|school|location|clinic|ward|cell|zone",
            "region|tenant|site|store|branch|shop|plant|country|office|hospital|warehouse|depot|school|location|clinic by",
            "wave|waves|cohort*|batch|batches|ring|rings",
            "then .. all|rest|other*|remaining|everybody|everyone|next",
            "first .. then",
            "starts|start|begin*|beginning with|in|at",
            "pilot*",
            "canar*",
            "# percent|of the",
            "next .. after|only|when|once",
            "follow|follows|followed after|by|#|a|one|two|in",
            "days|weeks|week|day apart|later",
            "in .. order",
            "same|one|single .. everywhere",
        ],
        what: "it goes to several places, and nothing says in which order",
        add: "say which place is first and why, what must hold there and for how long before the next, and whether old and new can run side by side",
    }),
}];
