//! All checks, in the order of `docs/lint.md`. A check that is not listed here does not run.

use super::{Check, contradiction, engineering, operations, security, shape, wording};

pub(super) fn all() -> impl Iterator<Item = &'static Check> {
    [
        shape::CHECKS,
        engineering::CHECKS,
        wording::CHECKS,
        contradiction::CHECKS,
        security::CHECKS,
        operations::CHECKS,
    ]
    .into_iter()
    .flatten()
}
