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
        let place = command.get_display_order();
        let mut groups = Self::ALL.into_iter().rev();
        groups
            .find(|group| group.place() <= place)
            .unwrap_or(Self::Loops)
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

    fn has_names_alone(self) -> bool {
        matches!(self, Self::Client | Self::SetUp)
    }
}

/// Lists the commands in groups. Adds to the help of the user's commands that they are the user's.
pub(super) fn grouped(mut command: Command) -> Command {
    let styles = command.get_styles();
    let header = styles.get_header();
    let literal = styles.get_literal();
    let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
    let mut shown: Vec<&Command> = visible.collect();
    shown.sort_by_key(|one| one.get_display_order().max(PLACES));
    let described = shown.iter().filter(|one| !Group::of(one).has_names_alone());
    let width = described.map(|one| one.get_name().len()).max();

    let mut text = String::new();
    for group in Group::ALL {
        let of_group = shown.iter().filter(|one| Group::of(one) == group);
        let of_group: Vec<&&Command> = of_group.collect();
        if of_group.is_empty() {
            continue;
        }
        text += &format!("{header}{}:{header:#}", group.heading());
        if group.has_names_alone() {
            let names: Vec<&str> = of_group.iter().map(|one| one.get_name()).collect();
            text += &format!(" {}\n\n", names.join(", "));
            continue;
        }
        for one in of_group {
            let name = one.get_name();
            let padding = " ".repeat(width.unwrap_or_default() - name.len());
            let about = one.get_about().unwrap_or_default();
            text += &format!("\n  {literal}{name}{literal:#}{padding}  {about}");
        }
        text += "\n\n";
    }

    let is_undocumented =
        |one: &&&Command| Group::of(one) == Group::Person && one.get_after_help().is_none();
    let of_person = shown.iter().filter(is_undocumented);
    let names: Vec<String> = of_person.map(|one| one.get_name().to_owned()).collect();
    for name in names {
        command = command.mut_subcommand(name, |one| {
            one.after_help("A person decides this: an agent’s call is refused.")
        });
    }
    command.before_help(StyledStr::from(text.trim_end().to_owned())).help_template(
        "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}",
    )
}
