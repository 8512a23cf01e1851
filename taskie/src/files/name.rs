//! The names that a plan's directory has, and the groups that its reviews are in.

use std::fmt;

use claudex_loop::store::MOST_COUNT;

/// The name of a file of a plan's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// `state.json`
    State,
    /// `plan.md`
    Plan,
    /// `design.md`
    Design,
    /// `tasks.md`
    Tasks,
    /// `task-K.md`
    Task(u64),
    /// `plan-review-N.md` and so on
    Review(Group, u64),
    /// `plan-post-review-N.md` and so on: the answer to the review of this number
    PostReview(Group, u64),
}

/// Names what a review is of. The numbers of a group's reviews count on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The plan.
    Plan,
    /// The design.
    Design,
    /// The tasks.
    Tasks,
    /// One task's file.
    Task(u64),
    /// One task's code.
    TaskCode(u64),
    /// All code.
    AllCode,
}

impl Name {
    /// Reads a name; `None`: a plan has no such file. Numbers are from 1 and have no leading zeros, so that no two names mean the same.
    pub fn parse(name: &str) -> Option<Self> {
        if name == "state.json" {
            return Some(Self::State);
        }
        let stem = name.strip_suffix(".md")?;
        match stem {
            "plan" => return Some(Self::Plan),
            "design" => return Some(Self::Design),
            "tasks" => return Some(Self::Tasks),
            _ => {}
        }
        let (of, number) = stem.rsplit_once('-')?;
        let number = parse_number(number)?;
        if of == "task" {
            return Some(Self::Task(number));
        }
        let of = of.strip_suffix("-review")?;
        match of.strip_suffix("-post") {
            Some(of) => Some(Self::PostReview(Group::parse(of)?, number)),
            None => Some(Self::Review(Group::parse(of)?, number)),
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::State => write!(f, "state.json"),
            Self::Plan => write!(f, "plan.md"),
            Self::Design => write!(f, "design.md"),
            Self::Tasks => write!(f, "tasks.md"),
            Self::Task(task) => write!(f, "task-{task}.md"),
            Self::Review(group, number) => write!(f, "{group}-review-{number}.md"),
            Self::PostReview(group, number) => write!(f, "{group}-post-review-{number}.md"),
        }
    }
}

impl Group {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "plan" => Self::Plan,
            "design" => Self::Design,
            "tasks" => Self::Tasks,
            "all-code" => Self::AllCode,
            _ => {
                let of = text.strip_prefix("task-")?;
                match of.strip_suffix("-code") {
                    Some(task) => Self::TaskCode(parse_number(task)?),
                    None => Self::Task(parse_number(of)?),
                }
            }
        })
    }

    /// Returns the file without which a review of the group has nothing to be about.
    pub fn document(self) -> Option<Name> {
        match self {
            Self::Plan => Some(Name::Plan),
            Self::Design => Some(Name::Design),
            Self::Tasks => Some(Name::Tasks),
            Self::Task(task) | Self::TaskCode(task) => Some(Name::Task(task)),
            Self::AllCode => None,
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan => write!(f, "plan"),
            Self::Design => write!(f, "design"),
            Self::Tasks => write!(f, "tasks"),
            Self::Task(task) => write!(f, "task-{task}"),
            Self::TaskCode(task) => write!(f, "task-{task}-code"),
            Self::AllCode => write!(f, "all-code"),
        }
    }
}

/// Reads a number as it stands in names, tables and headings.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let number = text.parse().ok().filter(|_| is_plain)?;
    (number <= MOST_COUNT).then_some(number)
}
