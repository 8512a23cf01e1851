//! Evaluation of guards over values. The check tries values with it, and tests compare compiled guards with it.

use std::cmp::Ordering;

use crate::model::{Constant, Guard, Operand, Sign};

impl Guard {
    /// Returns whether the guard holds. `value` returns the value of a field (`round`) or an argument (`args.score`).
    pub fn holds(&self, value: &dyn Fn(&str) -> Constant) -> bool {
        self.decide(&|name| Some(value(name))) == Some(true)
    }

    /// Returns whether the guard holds, or `None` if that depends on a value that `value` does not know.
    pub(super) fn decide(&self, value: &dyn Fn(&str) -> Option<Constant>) -> Option<bool> {
        let (parts, decisive) = match self {
            Guard::All(parts) => (parts, false),
            Guard::Any(parts) => (parts, true),
            Guard::Compare { left, sign, right } => return compare(left, *sign, right, value),
        };
        let mut result = Some(!decisive);
        for part in parts {
            match part.decide(value) {
                Some(holds) if holds == decisive => return Some(decisive),
                Some(_) => {}
                None => result = None,
            }
        }
        result
    }
}

fn compare(
    left: &Operand,
    sign: Sign,
    right: &Operand,
    value: &dyn Fn(&str) -> Option<Constant>,
) -> Option<bool> {
    let side = |operand: &Operand| match operand {
        Operand::Constant(constant) => Some((constant.clone(), 0)),
        Operand::Read(read) => Some((value(&read.key())?, read.offset)),
    };
    let sides = [side(left)?, side(right)?];
    let order = match &sides {
        [
            (Constant::Count(left), plus_left),
            (Constant::Count(right), plus_right),
        ] => {
            let left = i128::from(*left) + i128::from(*plus_left);
            left.cmp(&(i128::from(*right) + i128::from(*plus_right)))
        }
        // Only `==` and `!=` compare texts and flags.
        [(left, _), (right, _)] if left == right => Ordering::Equal,
        _ => Ordering::Less,
    };
    Some(match sign {
        Sign::Equal => order.is_eq(),
        Sign::NotEqual => order.is_ne(),
        Sign::Less => order.is_lt(),
        Sign::LessOrEqual => order.is_le(),
        Sign::Greater => order.is_gt(),
        Sign::GreaterOrEqual => order.is_ge(),
    })
}
