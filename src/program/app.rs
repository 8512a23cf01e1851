//! The program of a machine: the trait that `claudex-build` implements, and the program's `main`.

use std::fmt;
use std::process::ExitCode;

use camino::Utf8PathBuf;
use clap::Subcommand;
use jiff::Timestamp;

use super::exit;
use super::extension::{
    Extension, LOOP, NotTaken, OwnCommand, OwnFlag, OwnVerb, Plain, RunCommand, RunVerb, Variables,
};
use super::info::ProgramInfo;
use super::plugin::PluginInfo;
use super::settings::Settings;
use super::verb_args::LoopArgs;
use super::{color, command_line, dispatch};
use crate::behaviours::ask::{self, Asked};
use crate::behaviours::{Step, loop_message, verify};
use crate::machine::Beginning;
use crate::machine::LoopHandle;
use crate::machine::import::ImportError;
use crate::machine::raw::OpenError;
use crate::machine::{Actor, Held, Machine, Refused};
use crate::review::reviewer::Reviewer;
use crate::review::{Subject, subject};
use crate::store::{LoopId, Store};

/// A machine with a command line. `claudex-build` writes the implementation.
pub trait App: Machine {
    /// A loop in any phase.
    type Any: LoopHandle;
    /// The transitions that an agent or a person may take, as subcommands.
    type Verb: Subcommand + fmt::Debug;
    /// The package's version.
    const VERSION: &'static str;
    /// The fields that a start must be given.
    const REQUIRED: &'static [&'static str];
    /// The plugin, if the machine names one.
    const PLUGIN: Option<PluginInfo>;
    /// The program as the machine file names it.
    const INFO: &'static ProgramInfo = &ProgramInfo::of(Self::TABLE);

    /// Returns a loop with the type of its phase.
    fn wrap(held: Held<Self>) -> Self::Any;

    /// Returns the transition that a verb takes, and the arguments that name its loop.
    fn parts(verb: &Self::Verb) -> (&'static str, &LoopArgs);

    /// Returns the verb of a transition that takes nothing but the loop: no evidence, no arguments.
    fn plain(transition: &str, loop_args: LoopArgs) -> Option<Self::Verb>;

    /// Takes a verb's transition by the method of the loop's type.
    ///
    /// # Errors
    /// Returns the loop and the reason if the phase has no such transition, the evidence is missing, or the loop refuses.
    fn take(verb: Self::Verb, held: Self::Any) -> Result<Self::Any, Refused<Self::Any>>;

    /// Returns the transition that a verb takes.
    fn transition(verb: &Self::Verb) -> &'static str {
        Self::parts(verb).0
    }

    /// Opens a loop.
    ///
    /// # Errors
    /// See [`OpenError`].
    fn open(store: &Store, id: &LoopId, actor: Actor) -> Result<Self::Any, OpenError> {
        Held::open(store, id, actor).map(Self::wrap)
    }

    /// Starts a loop from a document that the engine did not write, at the phase that it names.
    ///
    /// # Errors
    /// See [`ImportError`].
    fn import(
        store: &Store,
        bytes: &[u8],
        file: Utf8PathBuf,
        how: Beginning,
        actor: Actor,
    ) -> Result<Self::Any, ImportError> {
        Held::import(store, bytes, file, how, actor).map(Self::wrap)
    }
}

type Stopped<A> = Result<Step<A>, Refused<A>>;
type Asks<A> = dyn Fn(&A) -> Result<Option<Asked>, String>;
type Verifies<A> = dyn Fn(&A) -> Result<Vec<String>, String>;
type Subjects<A> = dyn Fn(&A) -> Result<Vec<Subject>, String>;

/// The program of a machine: made by the `program` of its generated module, run by [`Program::main`].
///
/// It has everything that follows from the machine file. An [`Extension`] and the other methods add what only this program has.
pub struct Program<M: App> {
    /// The name of the program in its messages.
    pub(super) info: &'static ProgramInfo,
    pub(super) on_stop: Box<dyn Fn(M::Any) -> Stopped<M::Any>>,
    asks: Box<Asks<M::Any>>,
    verifies: Box<Verifies<M::Any>>,
    subjects: Box<Subjects<M::Any>>,
    pub(super) commands: Vec<OwnCommand>,
    pub(super) flags: Vec<OwnFlag>,
    pub(super) verbs: Vec<OwnVerb<M::Any>>,
    pub(super) extension: Box<dyn Extension<M>>,
}

impl<M: App> fmt::Debug for Program<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({})", self.info.program)
    }
}

impl<M: App> Program<M> {
    /// Makes a program whose stops do this.
    pub fn new(on_stop: impl Fn(M::Any) -> Stopped<M::Any> + 'static) -> Self {
        Self {
            info: M::INFO,
            on_stop: Box::new(on_stop),
            asks: Box::new(|_| Ok(None)),
            verifies: Box::new(|_| Ok(Vec::new())),
            subjects: Box::new(|_| Ok(Vec::new())),
            commands: Vec::new(),
            flags: Vec::new(),
            verbs: Vec::new(),
            extension: Box::new(Plain),
        }
    }

    /// Runs the program: reads its arguments, does what they say, prints what went wrong.
    pub fn main(self) -> ExitCode {
        if let Some((asked, call)) = dispatch::frequent() {
            let ended = asked.and_then(|wanted| dispatch::speak::<M>(&wanted));
            let exit = ended.unwrap_or_else(|| dispatch::answer_client(&self, &call));
            // The process ends here, so freeing memory would be wasted time.
            std::mem::forget(self);
            return exit.into();
        }
        color::disable_inside_client();
        let matches = match command_line::read(&self) {
            Ok(matches) => matches,
            Err(error) => return exit::bad_usage(&error).into(),
        };
        color::apply(&matches);
        match dispatch::dispatch(&self, &matches) {
            Ok(exit) => exit.into(),
            Err(failure) => {
                failure.print(self.info);
                failure.exit.into()
            }
        }
    }

    /// Sets the extension, which replaces the one before it.
    #[must_use]
    pub fn extend(mut self, extension: impl Extension<M> + 'static) -> Self {
        self.extension = Box::new(extension);
        self
    }

    /// Sets the questions that the machine file leaves to Rust: the `_asks` methods of `OnStop`.
    #[must_use]
    pub fn asks(
        mut self,
        asks: impl Fn(&M::Any) -> Result<Option<Asked>, String> + 'static,
    ) -> Self {
        self.asks = Box::new(asks);
        self
    }

    /// Sets the commands that verify the work, if the machine file leaves them to Rust: the method `OnStop::verifies`.
    ///
    /// Each is the name of a `[commands.NAME]` of the user's configuration, or a line for `sh -c`.
    #[must_use]
    pub fn verifies(
        mut self,
        commands: impl Fn(&M::Any) -> Result<Vec<String>, String> + 'static,
    ) -> Self {
        self.verifies = Box::new(commands);
        self
    }

    /// Sets the subjects of a review, if the machine file leaves them to Rust: the method `OnStop::subjects`.
    #[must_use]
    pub fn subjects(
        mut self,
        subjects: impl Fn(&M::Any) -> Result<Vec<Subject>, String> + 'static,
    ) -> Self {
        self.subjects = Box::new(subjects);
        self
    }

    /// Tells a loop which commands the user's configuration permits, which commands verify the work, and what is reviewed.
    pub(super) fn prepare(&self, held: &M::Any, settings: &Settings, actor: Actor) {
        let _ = held
            .raw()
            .told()
            .permissions
            .set(settings.permissions(actor));
        verify::tell(held.raw(), || (self.verifies)(held));
        subject::tell(held.raw(), || (self.subjects)(held));
    }

    /// Stops a loop, as the Stop hook does.
    ///
    /// # Errors
    /// Returns an error if a transition is refused.
    pub fn step(&self, held: M::Any, settings: &Settings) -> Stopped<M::Any> {
        self.prepare(&held, settings, Actor::Hook);
        (self.on_stop)(held)
    }

    /// Takes a verb's transition, with the data that the program sets with it.
    pub(super) fn run(&self, verb: M::Verb, mut held: M::Any) -> Result<M::Any, NotTaken<M::Any>> {
        self.extension.before_take(&mut held, &verb)?;
        Ok(M::take(verb, held)?)
    }

    /// Returns the question of the phase that a loop is in, from the program or from the machine file.
    pub(super) fn question(&self, held: &M::Any) -> Result<Option<Asked>, String> {
        match (self.asks)(held)? {
            Some(asked) => ask::checked(held.raw(), asked).map(Some),
            None => ask::asked(held.raw()),
        }
    }

    /// Returns the template variables that only this program has.
    pub(super) fn words(
        &self,
        held: &M::Any,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<Variables, String> {
        let mut own = self.extension.context(held, settings, now);
        if let Some(asked) = self.question(held)? {
            own.insert(
                "question".to_owned(),
                loop_message::question(held.raw(), &asked),
            );
        }
        Ok(own)
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

    /// Adds a verb of the program's own. It changes the loop that its `--id` names, or else the active one, on behalf of its caller.
    ///
    /// It chooses its transitions in Rust, also those with `own` in the machine file. With `--format`, a verb called `report` prints
    /// the report that every program has.
    #[must_use]
    pub fn verb(
        mut self,
        command: impl Fn() -> clap::Command + 'static,
        run: RunVerb<M::Any>,
    ) -> Self {
        let id = || {
            clap::Arg::new(LOOP)
                .long("id")
                .value_name("LOOP")
                .help("The loop [default: the active one]")
        };
        let command = Box::new(move || command().arg(id()));
        self.verbs.push(OwnVerb { command, run });
        self
    }

    /// Adds a reviewer of the program's own. A review names it as it names `lint`.
    ///
    /// # Panics
    /// Panics if the name has a meaning already, such as `lint` or `auto`.
    #[must_use]
    pub fn reviewer(mut self, make: fn() -> Box<dyn Reviewer>) -> Self {
        let name = make().name().to_owned();
        let taken = Settings::usual(self.info).reviewer_names(self.info);
        assert!(!taken.contains(&name), "{name} means another reviewer");
        // It lives as long as the program.
        self.info = Box::leak(Box::new(ProgramInfo {
            reviewers: Box::leak([self.info.reviewers, &[make]].concat().into_boxed_slice()),
            ..*self.info
        }));
        self
    }

    /// Names the program's own command that takes up a document of another program. The default is `import`.
    #[must_use]
    pub fn takes_up(mut self, command: &'static str) -> Self {
        // As for a reviewer: it lives as long as the program.
        self.info = Box::leak(Box::new(ProgramInfo {
            take_up: Some(command),
            ..*self.info
        }));
        self
    }

    /// Names the program's own command that begins a loop. The help has it instead of `start`.
    #[must_use]
    pub fn begins_with(mut self, command: &'static str) -> Self {
        self.info = Box::leak(Box::new(ProgramInfo {
            begin: Some(command),
            ..*self.info
        }));
        self
    }
}
