//! Texts of a machine file that are times because of what they are given to or compared with.

use crate::model::time::seconds;
use crate::model::{Constant, Field, FieldKind, Guard, Operand};

/// A text becomes a time where the field wants one and it is one. What is none stays a text, which `check` refuses.
pub(super) fn for_field(kind: Option<&FieldKind>, constant: Constant) -> Constant {
    match (kind, &constant) {
        (Some(FieldKind::Time), Constant::Text(text)) => {
            seconds(text).map_or(constant, Constant::Time)
        }
        _ => constant,
    }
}

/// The same for the constants that a guard compares with times.
pub(super) fn in_guard(guard: &mut Guard, fields: &[Field]) {
    let (left, right) = match guard {
        Guard::All(parts) | Guard::Any(parts) => {
            parts.iter_mut().for_each(|part| in_guard(part, fields));
            return;
        }
        Guard::Compare { left, right, .. } => (left, right),
    };
    let is_time = |operand: &Operand| match operand {
        Operand::Now { .. } => true,
        Operand::Field { name, .. } => fields
            .iter()
            .any(|field| field.name.value == name.value && field.kind == FieldKind::Time),
        Operand::Argument { .. } | Operand::Length { .. } | Operand::Constant(_) => false,
    };
    let (left_is, right_is) = (is_time(left), is_time(right));
    for (operand, wanted) in [(left, right_is), (right, left_is)] {
        if let Operand::Constant(Constant::Text(text)) = operand
            && wanted
            && let Some(seconds) = seconds(text)
        {
            *operand = Operand::Constant(Constant::Time(seconds));
        }
    }
}
