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

impl Operand {
    fn evaluate(&self, value: &dyn Fn(&str) -> Option<Constant>) -> Option<(Constant, i64)> {
        if let Operand::Constant(constant) = self {
            return Some((constant.clone(), 0));
        }
        let (name, offset) = self.reads()?;
        Some((value(&name)?, offset))
    }
}

fn compare(
    left: &Operand,
    sign: Sign,
    right: &Operand,
    value: &dyn Fn(&str) -> Option<Constant>,
) -> Option<bool> {
    let sides = [left.evaluate(value)?, right.evaluate(value)?];
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

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = include_str!("../../../machine.toml");

    /// Returns whether a guard in the place of one of the plan's holds.
    fn holds(guard: &str, round: u64, args: u64) -> bool {
        let written = "by   = [\"agent\"]\nargs = { more = \"count\" }\n";
        let source = format!(
            "{SOURCE}\n[[transitions.extra]]\nfrom = \"drafting\"\nto = \"same\"\n{written}when = '{guard}'\n"
        );
        let machine = crate::model::parse(&source).expect("the machine is parsed");
        let entry = machine.transitions.last();
        let guard = entry.and_then(|entry| entry.when.as_ref());
        let guard = guard.expect("there is a guard");
        guard.holds(&|name| match name {
            "round" => Constant::Count(round),
            "max_rounds" => Constant::Count(3),
            "args.more" => Constant::Count(args),
            _ => Constant::Text("x".to_owned()),
        })
    }

    #[test]
    fn guard_compares_numbers_with_offsets() {
        assert!(holds("round - 2 < args.more", 1, 0));
        assert!(!holds("round - 2 < args.more", 2, 0));
        assert!(holds("round + 1 == max_rounds", 2, 0));
        assert!(holds("max_rounds < round + 2", 2, 0));
        assert!(holds("round >= 9223372036854775807", u64::MAX, 0));
    }

    #[test]
    fn guard_joins_comparisons() {
        assert!(holds(
            "round == 1 and (args.more == 1 or args.more == 2)",
            1,
            2
        ));
        assert!(!holds(
            "round == 1 and (args.more == 1 or args.more == 2)",
            1,
            3
        ));
        assert!(holds("round == 9 or topic == \"x\"", 1, 0));
        assert!(!holds("topic != \"x\"", 1, 0));
    }
}
