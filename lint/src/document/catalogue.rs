//! All checks, in the order of `docs/lint.md`. A check that is not listed here does not run.

use super::{
    Check, accessibility, capacity, clocks, contradiction, dependencies, engineering, operations, privacy,
    rollout, security, substance, wording,
};

pub(super) fn all() -> impl Iterator<Item = &'static Check> {
    [
        substance::CHECKS,
        engineering::CHECKS,
        wording::CHECKS,
        contradiction::CHECKS,
        clocks::CHECKS,
        accessibility::CHECKS,
        dependencies::CHECKS,
        security::CHECKS,
        privacy::CHECKS,
        operations::CHECKS,
        rollout::CHECKS,
        capacity::CHECKS,
    ]
    .into_iter()
    .flatten()
}
