//! The program of a machine, from its generated module and its crate.

use std::fmt;

use clap::ArgMatches;
use jiff::Timestamp;

use super::app::{App, HeldLoop, into_typed, into_untyped};
use super::arguments::LOOP;
use super::extension::{
    Extension, NotTaken, OwnCommand, OwnFlag, OwnVerb, RunCommand, RunVerb, Variables,
};
use super::info::ProgramInfo;
use super::plugin::info::PluginInfo;
use super::settings::Settings;
use crate::behaviours::ask::{self, Asked};
use crate::behaviours::{Step, loop_message, verify};
use crate::machine::table::Message;
use crate::machine::{Actor, LoopFacts as _, LoopHandle, Refused};
use crate::review::reviewer::Reviewer;
use crate::review::subject;

/// The protocol of plugin and program. A plugin's launcher asks for it.
pub(super) const PROTOCOL: &str = "1";

/// The program of a machine: made by the `program` of its generated module, run by [`Program::main`].
///
/// Most of it follows from the machine file. An [`Extension`] and the methods here add the rest.
pub struct Program {
    /// The names of the program.
    pub(super) info: &'static ProgramInfo,
    /// The package's version.
    pub(super) version: &'static str,
    /// The fields that a start must be given.
    pub(super) required: &'static [&'static str],
    pub(super) plugin: Option<PluginInfo>,
    pub(super) app: Box<dyn App>,
    pub(super) extension: Box<dyn Extension>,
    pub(super) commands: Vec<OwnCommand>,
    pub(super) flags: Vec<OwnFlag>,
    pub(super) verbs: Vec<OwnVerb>,
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({})", self.info.program)
    }
}

impl Program {
    /// Makes the program of a machine. Generated code calls it.
    pub fn new(
        info: &'static ProgramInfo,
        version: &'static str,
        required: &'static [&'static str],
        plugin: Option<PluginInfo>,
        app: impl App + 'static,
        extension: impl Extension + 'static,
    ) -> Self {
        Self {
            info,
            version,
            required,
            plugin,
            app: Box::new(app),
            extension: Box::new(extension),
            commands: Vec::new(),
            flags: Vec::new(),
            verbs: Vec::new(),
        }
    }

    /// Returns the answer to `--protocol` after the program's name: `protocol 1 (0.1.0)`.
    pub(super) fn protocol(&self) -> String {
        format!("protocol {PROTOCOL} ({})", self.version)
    }

    /// Sets the facts of a loop that the program knows: permissions, commands that verify the work, subjects of the review.
    pub(super) fn prepare(&self, held: &dyn LoopHandle, settings: &Settings, actor: Actor) {
        let raw = held.raw();
        let _ = raw
            .program_facts()
            .permissions
            .set(settings.permissions(actor));
        verify::tell(raw, || self.app.verifies(held));
        subject::tell(raw, || self.app.subjects(held));
    }

    /// Stops a loop, as the Stop hook does.
    ///
    /// # Errors
    /// Returns an error if a transition is refused.
    pub fn step<A: LoopHandle>(&self, held: A, settings: &Settings) -> Result<Step<A>, Refused<A>> {
        self.prepare(&held, settings, Actor::Hook);
        let stopped = self.app.stop(into_untyped(held));
        stopped
            .map(|step| step.map(into_typed))
            .map_err(|refused| refused.map(into_typed))
    }

    /// Returns the question of the phase that a loop is in, from the program or from the machine file.
    pub(super) fn question(&self, held: &dyn LoopHandle) -> Result<Option<Asked>, String> {
        match self.app.asks(held)? {
            Some(asked) => ask::checked(held.raw(), asked).map(Some),
            None => ask::asked(held.raw()),
        }
    }

    /// Renders a message about a loop, with the variables that only this program has and `more`.
    ///
    /// # Errors
    /// Returns an error if the template does not render, or the loop's question cannot be put.
    pub fn render(
        &self,
        held: &dyn LoopHandle,
        message: Option<Message>,
        settings: &Settings,
        more: Variables,
    ) -> Result<Option<String>, String> {
        let raw = held.raw();
        let mut variables = self.extension.context(held, settings, Timestamp::now());
        if let Some(asked) = self.question(held)? {
            let question = loop_message::question(raw, &asked);
            variables.insert("question".to_owned(), question);
        }
        variables.extend(more);
        loop_message::render(raw, message, variables).map_err(|error| error.to_string())
    }

    /// Adds a subcommand, which help and completions list like the others.
    #[must_use]
    pub fn command(
        mut self,
        command: impl Fn() -> clap::Command + 'static,
        run: RunCommand,
    ) -> Self {
        let command = Box::new(command);
        self.commands.push(OwnCommand { command, run });
        self
    }

    /// Replaces a command that every program has, if this flag is given. [`Extension::arguments`] adds the flag.
    #[must_use]
    pub fn flag(mut self, command: &'static str, flag: &'static str, run: RunCommand) -> Self {
        self.flags.push(OwnFlag { command, flag, run });
        self
    }

    /// Adds the program's own verb. It changes the loop that its `--id` names, or else the active one, on behalf of its caller.
    ///
    /// The verb chooses its transitions in Rust, also those with `own` in the machine file. With `--format`, a verb called `report` prints
    /// the report that every program has.
    #[must_use]
    pub fn verb<A: LoopHandle>(
        mut self,
        command: impl Fn() -> clap::Command + 'static,
        run: RunVerb<A>,
    ) -> Self {
        let id = || {
            clap::Arg::new(LOOP)
                .long("id")
                .value_name("LOOP")
                .help("The loop [default: the active one]")
        };
        let run =
            move |held: HeldLoop, arguments: &ArgMatches| match run(into_typed(held), arguments) {
                Ok(held) => Ok(into_untyped(held)),
                Err(NotTaken::Refused(refused)) => Err(refused.map(into_untyped).into()),
                Err(NotTaken::Failed(failure)) => Err(failure.into()),
            };
        self.verbs.push(OwnVerb {
            command: Box::new(move || command().arg(id())),
            run: Box::new(run),
        });
        self
    }

    /// Adds the program's own reviewer. A review names it as it names `lint`.
    ///
    /// # Panics
    /// Panics if the name has a meaning already, such as `lint` or `auto`.
    #[must_use]
    pub fn reviewer(self, make: fn() -> Box<dyn Reviewer>) -> Self {
        let name = make().name().to_owned();
        let taken = Settings::usual(self.info).reviewer_names(self.info);
        assert!(!taken.contains(&name), "{name} means another reviewer");
        let reviewers = [self.info.reviewers, &[make]].concat();
        self.with_info(|info| info.reviewers = reviewers.leak())
    }

    /// Sets the command of the program that imports a document of another program. The default is `import`.
    #[must_use]
    pub fn takes_up(self, command: &'static str) -> Self {
        self.with_info(|info| info.take_up = Some(command))
    }

    /// Sets the command of the program that starts a loop. The help has it instead of `start`.
    #[must_use]
    pub fn begins_with(self, command: &'static str) -> Self {
        self.with_info(|info| info.begin = Some(command))
    }

    /// Changes the names, which live as long as the program.
    fn with_info(mut self, change: impl FnOnce(&mut ProgramInfo)) -> Self {
        let mut info = *self.info;
        change(&mut info);
        self.info = Box::leak(Box::new(info));
        self
    }
}
