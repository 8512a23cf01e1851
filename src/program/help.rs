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
    const ALL: [(Self, &str); 5] = [
        (Self::Loops, "Loops"),
        (Self::Person, "A person decides"),
        (Self::Look, "Look"),
        (Self::SetUp, "Set up"),
        (Self::Client, "In Claude Code"),
    ];

    /// Returns the first place of the group, for `Command::display_order`.
    pub const fn place(self) -> usize {
        PLACES * (self as usize + 1)
    }

    fn has(self, command: &Command) -> bool {
        command.get_display_order().max(PLACES) / PLACES == self.place() / PLACES
    }
}

/// Groups the commands. Adds to the help of the user's commands that they are the user's.
pub(super) fn grouped(command: Command) -> Command {
    let styles = command.get_styles();
    let header = styles.get_header();
    let literal = styles.get_literal();
    let visible = command.get_subcommands().filter(|one| !one.is_hide_set());
    let mut shown: Vec<&Command> = visible.collect();
    shown.sort_by_key(|one| one.get_display_order().max(PLACES));
    let is_described = |one: &Command| !Group::SetUp.has(one) && !Group::Client.has(one);
    let described = shown.iter().filter(|one| is_described(one));
    let width = described.map(|one| one.get_name().len()).max();
    let width = width.unwrap_or_default();

    let mut text = String::new();
    for (group, heading) in Group::ALL {
        let commands: Vec<_> = shown.iter().filter(|one| group.has(one)).collect();
        if commands.is_empty() {
            continue;
        }
        text += &format!("{header}{heading}:{header:#}");
        for one in commands {
            let name = one.get_name();
            let about = one.get_about().unwrap_or_default();
            text += &if is_described(one) {
                format!("\n  {literal}{name:<width$}{literal:#}  {about}")
            } else {
                format!(" {name},")
            };
        }
        text = text.trim_end_matches(',').to_owned() + "\n\n";
    }

    let text = StyledStr::from(text.trim_end().to_owned());
    let template = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}{after-help}";
    command
        .mut_subcommands(|one| {
            if Group::Person.has(&one) && one.get_after_help().is_none() {
                one.after_help("A person decides this: an agent’s call is refused.")
            } else {
                one
            }
        })
        .before_help(text)
        .help_template(template)
}
