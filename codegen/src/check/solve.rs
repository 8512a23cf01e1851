//! A small solver: field values under which some guards hold and others do not, or the knowledge that there are none.
//!
//! Counts are whole numbers from 0 without an upper end, compared up to constants; that is a system of differences,
//! which shortest paths decide exactly. Words, flags and texts are tried out; of texts as many fresh ones as there are fields. Arguments are like fields: whoever takes the edge may give any value. The search for branches has a budget of steps.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;

use super::types::kind_of;
use crate::model::{Argument, Constant, Field, FieldKind, Guard, Operand, Sign};

/// What a search ended with.
pub(super) enum Answer {
    /// No values do it.
    Never,
    /// These do: `round = 0`, in the order of names.
    Example(Vec<String>),
    /// The budget ran out.
    GaveUp,
}

/// Steps that one question may take.
const STEPS: u64 = 100_000;

/// Fields by name, and the steps left for all questions together.
pub(super) struct Solver<'m, 'i> {
    pub(super) fields: &'i HashMap<&'m str, &'m Field>,
    pub(super) left: u64,
}

/// What has a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name<'g> {
    /// A field.
    Field(&'g str),
    /// An argument of the transition.
    Argument(&'g str),
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Name::Field(name) => f.write_str(name),
            Name::Argument(name) => write!(f, "args.{name}"),
        }
    }
}

/// One difference: `high - low <= bound`, by index of a variable; 0 is the number 0.
#[derive(Clone, Copy)]
struct Difference {
    high: usize,
    low: usize,
    bound: i128,
}

/// What has a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Variable<'g> {
    /// The number 0.
    Zero,
    /// A count.
    Of(Name<'g>),
}

#[derive(Clone)]
struct Equation<'g> {
    left: Name<'g>,
    right: Term<'g>,
    equal: bool,
}

#[derive(Clone)]
enum Term<'g> {
    Of(Name<'g>),
    Word(String),
}

/// Reads guards into a search.
struct Search<'g, 'f> {
    fields: &'f HashMap<&'g str, &'g Field>,
    /// What the arguments are.
    arguments: BTreeMap<&'g str, FieldKind>,
    /// What has a number; the first one is 0 itself.
    counts: Vec<Variable<'g>>,
    /// What a field of words, texts or flags may hold.
    domains: BTreeMap<Name<'g>, Vec<String>>,
    steps: u64,
}

/// What is known on a branch.
#[derive(Clone, Default)]
struct Branch<'g> {
    differences: Vec<Difference>,
    equations: Vec<Equation<'g>>,
}

impl<'m> Solver<'m, '_> {
    /// Values under which each guard is as wanted. All are of transitions with these arguments.
    pub(super) fn solve(
        &mut self,
        arguments: &'m [Argument],
        wanted: &[(&'m Guard, bool)],
    ) -> Answer {
        let arguments = arguments.iter();
        let mut search = Search {
            fields: self.fields,
            arguments: arguments
                .map(|argument| (argument.name.as_str(), kind_of(argument)))
                .collect(),
            counts: vec![Variable::Zero],
            domains: BTreeMap::new(),
            steps: STEPS.min(self.left),
        };
        let mut texts = BTreeSet::new();
        wanted
            .iter()
            .for_each(|(guard, _)| search.learn(guard, &mut texts));
        search.fill_domains(texts);
        let before = search.steps;
        let result = search.run(wanted.to_vec(), Vec::new(), Branch::default());
        self.left -= before - search.steps;
        match result {
            Some(Some(example)) => Answer::Example(example),
            Some(None) => Answer::Never,
            None => Answer::GaveUp,
        }
    }
}

fn word(constant: &Constant) -> String {
    match constant {
        Constant::Count(number) => number.to_string(),
        Constant::Text(text) => text.clone(),
        Constant::Flag(flag) => flag.to_string(),
    }
}

impl<'g> Search<'g, '_> {
    /// Notes the fields of a guard and the texts that it compares with.
    fn learn(&mut self, guard: &'g Guard, texts: &mut BTreeSet<String>) {
        match guard {
            Guard::All(parts) | Guard::Any(parts) => {
                parts.iter().for_each(|part| self.learn(part, texts))
            }
            Guard::Compare { left, right, .. } => {
                for operand in [left, right] {
                    match operand {
                        Operand::Constant(Constant::Text(text)) => drop(texts.insert(text.clone())),
                        Operand::Constant(_) => {}
                        _ => match variable(operand) {
                            (Variable::Of(name), _) if !self.is_number(name) => {
                                self.domains.entry(name).or_default();
                            }
                            (variable, _) => {
                                if !self.counts.contains(&variable) {
                                    self.counts.push(variable);
                                }
                            }
                        },
                    }
                }
            }
        }
    }

    fn kind(&self, name: Name<'g>) -> Option<&FieldKind> {
        match name {
            Name::Field(name) => self.fields.get(name).map(|field| &field.kind),
            Name::Argument(name) => self.arguments.get(name),
        }
    }

    fn is_number(&self, name: Name<'g>) -> bool {
        matches!(self.kind(name), Some(FieldKind::Count))
    }

    fn fill_domains(&mut self, texts: BTreeSet<String>) {
        // As many as there are fields, whatever texts the guards name: `t == "text 1"` leaves other texts open.
        let several = self.domains.len();
        let fresh = (1..)
            .map(|at| format!("text {at}"))
            .filter(|text| !texts.contains(text))
            .take(several);
        let texts: Vec<String> = texts.iter().cloned().chain(fresh).collect();
        let mut domains = std::mem::take(&mut self.domains);
        for (name, domain) in &mut domains {
            *domain = match self.kind(*name) {
                Some(FieldKind::OneOf(words)) => {
                    words.iter().map(|word| word.value.to_string()).collect()
                }
                Some(FieldKind::Flag) => vec!["false".to_owned(), "true".to_owned()],
                _ => texts.clone(),
            };
        }
        self.domains = domains;
    }

    /// None: out of steps. Some(None): no values.
    fn run(
        &mut self,
        mut open: Vec<(&'g Guard, bool)>,
        mut choices: Vec<(&'g [Guard], bool)>,
        mut branch: Branch<'g>,
    ) -> Option<Option<Vec<String>>> {
        while let Some((guard, wanted)) = open.pop() {
            match (guard, wanted) {
                (Guard::All(parts), true) | (Guard::Any(parts), false) => {
                    open.extend(parts.iter().map(|part| (part, wanted)));
                }
                (Guard::All(parts), false) | (Guard::Any(parts), true) => {
                    choices.push((parts, wanted))
                }
                (Guard::Compare { left, sign, right }, _) => {
                    let sign = if wanted { *sign } else { negated(*sign) };
                    let Some((left, offset)) = self
                        .count_of(left)
                        .zip(self.count_of(right))
                        .map(|(l, r)| ((l.0, r.0), r.1 - l.1))
                    else {
                        branch.equations.extend(equation(left, sign, right));
                        continue;
                    };
                    if sign == Sign::NotEqual {
                        return self.unequal(left, offset, open, choices, branch);
                    }
                    branch.differences.extend(differences(left, sign, offset));
                }
            }
        }
        // What a branch holds only grows, so this also bounds how deep branches lie in branches.
        let size = (branch.differences.len() + branch.equations.len()) as u64;
        self.spend(1 + size * (1 + self.counts.len() as u64 / 8))?;
        let Some(counts) = self.smallest(&branch.differences) else {
            return Some(None);
        };
        let Some((parts, wanted)) = choices.pop() else {
            return self.finish(counts, &branch);
        };
        for part in parts {
            if let Some(example) =
                self.run(vec![(part, wanted)], choices.clone(), branch.clone())?
            {
                return Some(Some(example));
            }
        }
        Some(None)
    }

    /// `!=` between counts is `<` or `>`.
    fn unequal(
        &mut self,
        pair: (usize, usize),
        offset: i128,
        open: Vec<(&'g Guard, bool)>,
        choices: Vec<(&'g [Guard], bool)>,
        branch: Branch<'g>,
    ) -> Option<Option<Vec<String>>> {
        for sign in [Sign::Less, Sign::Greater] {
            let mut branch = branch.clone();
            branch.differences.extend(differences(pair, sign, offset));
            self.spend(1)?;
            if self.smallest(&branch.differences).is_none() {
                continue;
            }
            if let Some(example) = self.run(open.clone(), choices.clone(), branch)? {
                return Some(Some(example));
            }
        }
        Some(None)
    }

    fn spend(&mut self, steps: u64) -> Option<()> {
        let left = self.steps.checked_sub(steps);
        self.steps = left.unwrap_or(0);
        left.map(drop)
    }

    /// The variable and what is added to it, if this is a number.
    fn count_of(&self, operand: &Operand) -> Option<(usize, i128)> {
        match operand {
            Operand::Constant(Constant::Count(number)) => Some((0, i128::from(*number))),
            Operand::Constant(_) => None,
            _ => {
                let (variable, offset) = variable(operand);
                let at = self.counts.iter().position(|known| *known == variable)?;
                Some((at, offset))
            }
        }
    }

    /// The smallest counts that keep every difference, or None.
    fn smallest(&self, differences: &[Difference]) -> Option<Vec<i128>> {
        // A path to a count is minus a lower bound of it; every count is at least 0.
        let mut paths = vec![0_i128; self.counts.len()];
        for _ in 0..=self.counts.len() {
            let mut shorter = false;
            for Difference { high, low, bound } in differences {
                if paths[*high] + bound < paths[*low] {
                    paths[*low] = paths[*high] + bound;
                    shorter = true;
                }
            }
            if paths[0] < 0 {
                return None;
            }
            if !shorter {
                return Some(paths.into_iter().map(|path| -path).collect());
            }
        }
        None
    }

    fn finish(&mut self, counts: Vec<i128>, branch: &Branch<'g>) -> Option<Option<Vec<String>>> {
        let names: Vec<Name<'g>> = self.domains.keys().copied().collect();
        let mut chosen = BTreeMap::new();
        if !self.assign(&names, &branch.equations, &mut chosen)? {
            return Some(None);
        }
        let counts = self
            .counts
            .iter()
            .zip(counts)
            .skip(1)
            .filter_map(|(variable, value)| match variable {
                Variable::Of(name) => Some(format!("{name} = {value}")),
                Variable::Zero => None,
            });
        let words = chosen.iter().map(|(name, word)| match self.kind(*name) {
            Some(FieldKind::Flag) => format!("{name} = {word}"),
            _ => format!("{name} = {word:?}"),
        });
        let mut example: Vec<String> = counts.chain(words).collect();
        example.sort();
        Some(Some(example))
    }

    fn assign(
        &mut self,
        names: &[Name<'g>],
        equations: &[Equation<'g>],
        chosen: &mut BTreeMap<Name<'g>, String>,
    ) -> Option<bool> {
        let Some((name, rest)) = names.split_first() else {
            return Some(true);
        };
        for word in self.domains[name].clone() {
            self.spend(1 + equations.len() as u64)?;
            chosen.insert(*name, word);
            let fits = equations.iter().all(|equation| {
                let right = match &equation.right {
                    Term::Word(word) => Some(word),
                    Term::Of(name) => chosen.get(name),
                };
                let both = chosen.get(&equation.left).zip(right);
                both.is_none_or(|(left, right)| (left == right) == equation.equal)
            });
            if fits && self.assign(rest, equations, chosen)? {
                return Some(true);
            }
            chosen.remove(name);
        }
        Some(false)
    }
}

/// What an operand that is no constant has its number from, and what is added.
fn variable(operand: &Operand) -> (Variable<'_>, i128) {
    match operand {
        Operand::Field { name, offset } => {
            (Variable::Of(Name::Field(&name.value)), i128::from(*offset))
        }
        Operand::Argument { name, offset } => (
            Variable::Of(Name::Argument(&name.value)),
            i128::from(*offset),
        ),
        Operand::Constant(_) => (Variable::Zero, 0),
    }
}

fn negated(sign: Sign) -> Sign {
    match sign {
        Sign::Equal => Sign::NotEqual,
        Sign::NotEqual => Sign::Equal,
        Sign::Less => Sign::GreaterOrEqual,
        Sign::LessOrEqual => Sign::Greater,
        Sign::Greater => Sign::LessOrEqual,
        Sign::GreaterOrEqual => Sign::Less,
    }
}

/// `left SIGN right + offset` as differences.
fn differences((left, right): (usize, usize), sign: Sign, offset: i128) -> Vec<Difference> {
    let below = |bound| Difference {
        high: left,
        low: right,
        bound,
    };
    let above = |bound| Difference {
        high: right,
        low: left,
        bound,
    };
    match sign {
        Sign::Less => vec![below(offset - 1)],
        Sign::LessOrEqual => vec![below(offset)],
        Sign::Greater => vec![above(-offset - 1)],
        Sign::GreaterOrEqual => vec![above(-offset)],
        Sign::Equal | Sign::NotEqual => vec![below(offset), above(-offset)],
    }
}

fn equation<'g>(left: &'g Operand, sign: Sign, right: &'g Operand) -> Option<Equation<'g>> {
    let equal = sign == Sign::Equal;
    let name = |operand: &'g Operand| match variable(operand) {
        (Variable::Of(name), _) => Some(name),
        _ => None,
    };
    let (left, right) = match ((name(left), left), (name(right), right)) {
        ((Some(left), _), (Some(right), _)) => (left, Term::Of(right)),
        ((Some(name), _), (None, Operand::Constant(constant)))
        | ((None, Operand::Constant(constant)), (Some(name), _)) => {
            (name, Term::Word(word(constant)))
        }
        _ => return None,
    };
    Some(Equation { left, right, equal })
}

#[cfg(test)]
mod tests;
