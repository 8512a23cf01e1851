//! All checks, in the order of `docs/lint.md`. A check that is not listed here does not run.

use super::check::Check;
use super::{accessibility, engineering, operations, privacy, security, substance, wording};

pub(super) fn all() -> impl Iterator<Item = &'static Check> {
    [
        substance::CHECKS,
        engineering::CHECKS,
        wording::CHECKS,
        accessibility::CHECKS,
        security::CHECKS,
        privacy::CHECKS,
        operations::CHECKS,
    ]
    .into_iter()
    .flatten()
}
