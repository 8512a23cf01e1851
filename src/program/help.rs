//! The program's `--help`: its commands in groups. A command names its group by its place in the help ([`Group::place`]);
//! one without a place is about loops.

use clap::Command;
use clap::builder::StyledStr;

/// A group of commands in the help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Commands that start loops and take them further.
    Loops,
    /// Decisions of the user, which are refused to an agent.
    Person,
    /// Commands that show something and change nothing.
    Look,
    /// Commands that are seldom needed. The help has their names alone, so that it fits on one screen.
    SetUp,
    /// Commands that are typed in a client. The help has their names alone, since the client's menu describes them.
    Client,
}

/// The number of places of a group. clap numbers commands without a place from 0.
const GROUP_PLACES: usize = 1000;

impl Group {
    const ALL: [(Self, &str); 5] = [
        (Self::Loops, "Loops"),
        (Self::Person, "Your decisions"),
        (Self::Look, "Look"),
        (Self::SetUp, "Set up"),
        (Self::Client, "In Claude Code"),
    ];

    /// Returns the first place of the group, for `Command::display_order`.
    pub const fn place(self) -> usize {
        GROUP_PLACES * (self as usize + 1)
    }

    fn find(command: &Command) -> Self {
        let group = command.get_display_order() / GROUP_PLACES;
        Self::ALL[group.saturating_sub(1)].0
    }

    fn has_abouts(self) -> bool {
        !matches!(self, Self::SetUp | Self::Client)
    }
}

/// Adds the groups of commands to the help, and to the help of the user's commands that they are the user's.
pub(super) fn add_groups(command: Command) -> Command {
    let header = command.get_styles().get_header();
    let literal = command.get_styles().get_literal();
    let mut visible: Vec<&Command> = command.get_subcommands().collect();
    visible.retain(|one| !one.is_hide_set());
    visible.sort_by_key(|one| one.get_display_order().max(GROUP_PLACES));
    let described = visible.iter().filter(|one| Group::find(one).has_abouts());
    let width = described.map(|one| one.get_name().len()).max().unwrap_or(0);

    let group = |(group, heading)| {
        let commands = visible.iter().filter(|one| Group::find(one) == group);
        let lines = commands.map(|one| match (one.get_name(), one.get_about()) {
            (name, Some(about)) if group.has_abouts() => {
                format!("\n  {literal}{name:<width$}{literal:#}  {about}")
            }
            (name, _) => format!(" {name},"),
        });
        let joined: String = lines.collect();
        let names = joined.trim_end_matches(',');
        (!names.is_empty()).then(|| format!("{header}{heading}:{header:#}{names}"))
    };
    let groups: Vec<String> = Group::ALL.into_iter().filter_map(group).collect();

    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";
    let note = "Only the user may run this: an agent’s call is refused.";
    let is_users =
        |one: &Command| Group::find(one) == Group::Person && one.get_after_help().is_none();
    command
        .before_help(StyledStr::from(groups.join("\n\n")))
        .help_template(template)
        .mut_subcommands(|one| {
            if is_users(&one) {
                one.after_help(note)
            } else {
                one
            }
        })
}
