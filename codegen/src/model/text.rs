//! Guards and updates as text, as `machine.toml` writes them.

use super::{Constant, Guard, Operand, Update};

/// Returns a guard as `machine.toml` would write it.
pub fn guard_text(guard: &Guard) -> String {
    let part = |inner: &Guard| match inner {
        Guard::Compare { .. } => guard_text(inner),
        _ => format!("({})", guard_text(inner)),
    };
    match guard {
        Guard::All(parts) => parts.iter().map(part).collect::<Vec<_>>().join(" and "),
        Guard::Any(parts) => parts.iter().map(part).collect::<Vec<_>>().join(" or "),
        Guard::Compare { left, sign, right } => {
            let sign = sign.word();
            format!("{} {sign} {}", operand_text(left), operand_text(right))
        }
    }
}

/// Returns an operand as `machine.toml` would write it.
pub(super) fn operand_text(operand: &Operand) -> String {
    match operand {
        Operand::Field { name, offset } => with_offset(&name.value, *offset),
        Operand::Argument { name, offset } => with_offset(&format!("args.{}", name.value), *offset),
        Operand::Constant(value) => constant_text(value),
    }
}

fn with_offset(name: &str, offset: i64) -> String {
    match offset {
        0 => name.to_owned(),
        1.. => format!("{name} + {offset}"),
        _ => format!("{name} - {}", offset.unsigned_abs()),
    }
}

/// Returns a constant as `machine.toml` would write it.
pub(crate) fn constant_text(constant: &Constant) -> String {
    match constant {
        Constant::Count(count) => count.to_string(),
        Constant::Text(text) => format!("{text:?}"),
        Constant::Flag(flag) => flag.to_string(),
    }
}

/// Returns an update as `machine.toml` would write it.
pub fn update_text(update: &Update) -> String {
    match update {
        Update::Constant(value) => constant_text(value),
        Update::Field { name, offset } => with_offset(name, *offset),
        Update::Next(name) => format!("next({name})"),
        Update::Argument(name) => format!("args.{name}"),
        Update::Plus { name, argument } => format!("{name} + args.{argument}"),
    }
}
