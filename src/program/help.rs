//! The program's `--help`: its commands in groups. A command says where it is defined which one is its own, by its place in the help
//! ([`Group::place`]); those that say nothing are about loops.

use clap::Command;
use clap::builder::StyledStr;

/// Says what people look for a command for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Starting loops and taking them further.
    Loops,
    /// What is a person's decision: an agent is refused.
    Person,
    /// Looking, and changing nothing.
    Look,
    /// Holds what is done once, or seldom: it is named without what it does.
    SetUp,
    /// Names what people type in a client, without what it does: the client’s menu says that.
    Client,
}

/// How many places a group has; clap numbers commands that name none from 0.
const PLACES: usize = 1000;

impl Group {
    const ALL: [Self; 5] = [
        Self::Loops,
        Self::Person,
        Self::Look,
        Self::SetUp,
        Self::Client,
    ];

    /// Returns the first place of the group, for `Command::display_order`.
    pub const fn place(self) -> usize {
        PLACES * (self as usize + 1)
    }

    fn of(command: &Command) -> Self {
        let last = Self::ALL.iter().rev();
        let found = last
            .copied()
            .find(|group| group.place() <= command.get_display_order());
        found.unwrap_or(Self::Loops)
    }

    fn heading(self) -> &'static str {
        match self {
            Self::Loops => "Loops",
            Self::Person => "A person decides",
            Self::Look => "Look",
            Self::SetUp => "Set up",
            Self::Client => "In Claude Code",
        }
    }
}

/// Shows the commands in groups, and says of those that are a person's that they are.
pub(super) fn grouped(mut command: Command) -> Command {
    let styles = command.get_styles();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let mut shown: Vec<&Command> = command
        .get_subcommands()
        .filter(|one| !one.is_hide_set())
        .collect();
    shown.sort_by_key(|one| one.get_display_order().max(PLACES));
    // All has to stand on one screen, so what is done seldom is named alone.
    let is_named = |group| matches!(group, Group::Client | Group::SetUp);
    let described = shown.iter().filter(|one| !is_named(Group::of(one)));
    let names = described.map(|one| one.get_name().len());
    let width = names.max().unwrap_or_default();
    let mut text = String::new();
    for group in Group::ALL {
        let of_group: Vec<&&Command> = shown.iter().filter(|one| Group::of(one) == group).collect();
        if of_group.is_empty() {
            continue;
        }
        let heading = format!("{}:", group.heading());
        let styled = format!("{header}{heading}{header:#}");
        if is_named(group) {
            let names = of_group.iter().map(|one| one.get_name());
            let names = names.collect::<Vec<_>>().join(", ");
            text += &format!("{styled} {names}\n\n");
            continue;
        }
        text += &format!("{styled}\n");
        for one in of_group {
            let (name, about) = (
                one.get_name(),
                one.get_about().unwrap_or_default().to_string(),
            );
            text += &format!(
                "  {literal}{name}{literal:#}{:1$}  {about}\n",
                "",
                width - name.len()
            );
        }
        text.push('\n');
    }
    let of_person =
        |one: &&&Command| Group::of(one) == Group::Person && one.get_after_help().is_none();
    let names = shown
        .iter()
        .filter(of_person)
        .map(|one| one.get_name().to_owned());
    for name in names.collect::<Vec<_>>() {
        command = command.mut_subcommand(name, |one| {
            one.after_help("A person decides this: an agent’s call is refused.")
        });
    }
    command.before_help(StyledStr::from(text.trim_end().to_owned())).help_template(
        "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}",
    )
}
