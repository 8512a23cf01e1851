//! The names that a plan's directory has, and the groups that its reviews are in.

use claudex_loop::store::MAX_COUNT;
use derive_more::Display;

/// The name of a file of a plan's directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display)]
pub enum Name {
    /// `state.json`
    #[display("state.json")]
    State,
    /// `plan.md`
    #[display("plan.md")]
    Plan,
    /// `design.md`
    #[display("design.md")]
    Design,
    /// `tasks.md`
    #[display("tasks.md")]
    Tasks,
    /// `task-K.md`
    #[display("task-{_0}.md")]
    Task(u64),
    /// `plan-review-N.md` and so on
    #[display("{_0}-review-{_1}.md")]
    Review(Group, u64),
    /// `plan-post-review-N.md` and so on: the answer to the review of this number
    #[display("{_0}-post-review-{_1}.md")]
    PostReview(Group, u64),
}

/// The subject of a review. The reviews of a group are numbered one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Display)]
pub enum Group {
    /// The plan.
    #[display("plan")]
    Plan,
    /// The design.
    #[display("design")]
    Design,
    /// The tasks.
    #[display("tasks")]
    Tasks,
    /// One task's file.
    #[display("task-{_0}")]
    Task(u64),
    /// One task's code.
    #[display("task-{_0}-code")]
    TaskCode(u64),
    /// All code.
    #[display("all-code")]
    AllCode,
}

impl Name {
    /// Reads a name, or returns `None` if a plan has no such file. Numbers have no leading zeros.
    pub fn parse(name: &str) -> Option<Self> {
        let mut fixed = [Self::State, Self::Plan, Self::Design, Self::Tasks].into_iter();
        if let Some(fixed) = fixed.find(|fixed| fixed.to_string() == name) {
            return Some(fixed);
        }
        let (of, number) = name.strip_suffix(".md")?.rsplit_once('-')?;
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

impl Group {
    fn parse(text: &str) -> Option<Self> {
        let mut fixed = [Self::Plan, Self::Design, Self::Tasks, Self::AllCode].into_iter();
        if let Some(fixed) = fixed.find(|fixed| fixed.to_string() == text) {
            return Some(fixed);
        }
        let task = text.strip_prefix("task-")?;
        match task.strip_suffix("-code") {
            Some(task) => parse_number(task).map(Self::TaskCode),
            None => parse_number(task).map(Self::Task),
        }
    }

    /// Returns the file that a review of the group needs.
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

/// Reads a number as names, tables and headings have it.
pub(super) fn parse_number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    let number = text.parse().ok().filter(|_| is_plain)?;
    (number <= MAX_COUNT).then_some(number)
}
