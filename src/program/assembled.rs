//! A program of a machine: what `claudex-build` generated, and what the program adds to it.

use std::fmt;

use camino::Utf8PathBuf;
use clap::{ArgMatches, Subcommand};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::next_action::NextAction;
use super::plugin::PluginInfo;
use super::settings::Settings;
use super::start::{StartFields, StartRequest};
use super::stop::Surroundings;
use super::verb_args::LoopArgs;
use crate::behaviours::ask::{self, Asked};
use crate::behaviours::{Step, verify, words};
use crate::hooks::{HookOutput, Input};
use crate::machine::Beginning;
use crate::machine::LoopHandle;
use crate::machine::fields::FieldError;
use crate::machine::import::ImportError;
use crate::machine::raw::OpenError;
use crate::machine::{Actor, Held, Machine, Refusal, Refused};
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

/// Makes the arguments of a command of the program's own. It is asked for them only where arguments are read: a hook is called at every
/// stop, and does without.
type MakeCommand = Box<dyn Fn() -> clap::Command>;

/// A subcommand of the program's own.
pub(super) struct OwnCommand {
    pub(super) command: MakeCommand,
    pub(super) run: RunCommand,
}

/// Does the work of a subcommand of the program's own.
pub type RunCommand = fn(&'static ProgramInfo, &ArgMatches) -> Result<Exit, Failure>;

/// What a command of every program's does where a flag of the program's own is given.
pub(super) struct OwnFlag {
    pub(super) command: &'static str,
    pub(super) flag: &'static str,
    pub(super) run: RunCommand,
}

/// A verb of the program's own.
pub(super) struct OwnVerb<A> {
    pub(super) command: MakeCommand,
    pub(super) run: RunVerb<A>,
}

/// The argument of a verb that names its loop.
pub(super) const LOOP: &str = "the loop";

/// Does the work of a verb of the program's own: changes a loop, which knows who acts, with what was given.
pub type RunVerb<A> = fn(A, &ArgMatches) -> Result<A, NotTaken<A>>;

/// Why a verb of the program's own changed nothing.
#[derive(Debug)]
pub enum NotTaken<A> {
    /// A transition was refused.
    Refused(Refused<A>),
    /// Something else is wrong.
    Failed(Failure),
}

impl<A, L: Into<A>> From<Refused<L>> for NotTaken<A> {
    fn from(refused: Refused<L>) -> Self {
        Self::Refused(refused.map(Into::into))
    }
}

impl<A> From<Failure> for NotTaken<A> {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl<A> From<FieldError> for NotTaken<A> {
    fn from(error: FieldError) -> Self {
        Self::Failed(Failure::new(Exit::Usage, Refusal::Field(error)))
    }
}

/// The program of a machine: made by the `program` of its generated module, run by [`Program::main`].
///
/// Without more it has everything that follows from the machine file. The other methods add what only this program has; each
/// can be called once, but for [`Program::command`], [`Program::flag`], [`Program::verb`] and [`Program::reviewer`].
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
    pub(super) arguments: fn(clap::Command) -> clap::Command,
    pub(super) start: fn(StartRequest<'_>) -> Result<StartFields, Failure>,
    pub(super) context: fn(&M::Any, &Settings, Timestamp) -> Map<String, Json>,
    pub(super) earlier: fn(&M::Any) -> Vec<Utf8PathBuf>,
    pub(super) entered: fn(&M::Any, &Settings) -> Result<Vec<String>, String>,
    pub(super) reviewed: fn(&M::Any) -> Vec<String>,
    pub(super) taking: fn(&mut M::Any, &M::Verb) -> Result<(), Failure>,
    pub(super) answered: fn(&Input, &Surroundings) -> Option<HookOutput>,
    pub(super) refused: fn(&M::Any, &str) -> Option<String>,
    pub(super) instead: fn(&M::Any, &M::Verb) -> Option<Vec<String>>,
    pub(super) caveats: fn(&M::Any, &Settings) -> Vec<String>,
    pub(super) shows: fn(&M::Any) -> Vec<(&'static str, String)>,
    pub(super) next_action: fn(&M::Any) -> Option<NextAction>,
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
            arguments: |command| command,
            start: |_| Ok(StartFields::default()),
            context: |_, _, _| Map::new(),
            earlier: |_| Vec::new(),
            entered: |_, _| Ok(Vec::new()),
            reviewed: |_| Vec::new(),
            taking: |_, _| Ok(()),
            answered: |_, _| None,
            refused: |_, _| None,
            instead: |_, _| None,
            caveats: |_, _| Vec::new(),
            shows: |_| Vec::new(),
            next_action: |_| None,
        }
    }

    /// Says what a person is asked where the machine file leaves that to Rust: what `program` of the generated module does with
    /// the methods of `OnStop`.
    #[must_use]
    pub fn asks(
        mut self,
        asks: impl Fn(&M::Any) -> Result<Option<Asked>, String> + 'static,
    ) -> Self {
        self.asks = Box::new(asks);
        self
    }

    /// Says which commands verify the work where the machine file leaves that to Rust: what `program` of the generated module does with
    /// the method `OnStop::verifies`. Each is the name of a `[commands.NAME]` of the person's configuration, or a line for `sh -c`.
    #[must_use]
    pub fn verifies(
        mut self,
        commands: impl Fn(&M::Any) -> Result<Vec<String>, String> + 'static,
    ) -> Self {
        self.verifies = Box::new(commands);
        self
    }

    /// Says what is reviewed where the machine file leaves that to Rust: what `program` of the generated module does with the method
    /// `OnStop::subjects`.
    #[must_use]
    pub fn subjects(
        mut self,
        subjects: impl Fn(&M::Any) -> Result<Vec<Subject>, String> + 'static,
    ) -> Self {
        self.subjects = Box::new(subjects);
        self
    }

    /// Tells a loop what the person's configuration permits it, which commands of the program's verify the work, and what it has reviewed.
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
        (self.taking)(&mut held, &verb)?;
        Ok(M::take(verb, held)?)
    }

    /// Returns the question of the phase that a loop is in, whoever says it.
    pub(super) fn question(&self, held: &M::Any) -> Result<Option<Asked>, String> {
        match (self.asks)(held)? {
            Some(asked) => ask::checked(held.raw(), asked).map(Some),
            None => ask::asked(held.raw()),
        }
    }

    /// Returns what the machine's templates can use besides what every machine's can.
    pub(super) fn words(
        &self,
        held: &M::Any,
        settings: &Settings,
        now: Timestamp,
    ) -> Result<Map<String, Json>, String> {
        let mut own = (self.context)(held, settings, now);
        if let Some(asked) = self.question(held)? {
            own.insert("question".to_owned(), words::question(held.raw(), &asked));
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

    /// Has a command that every program has do this where an argument is given, which [`Program::arguments`] adds to it.
    #[must_use]
    pub fn flag(mut self, command: &'static str, flag: &'static str, run: RunCommand) -> Self {
        self.flags.push(OwnFlag { command, flag, run });
        self
    }

    /// Adds a verb of the program's own, which changes the loop that its `--id` names, else the active one. Unlike the verbs of
    /// transitions it decides in Rust which it takes, also of those that have `own` in the machine file and so no other verb, and may set
    /// the data of fields with them. It acts in the name of who calls it. One called `report` prints what that of every program does where a `--format` is
    /// given.
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

    /// Changes the arguments: flags that `start` has besides the fields, or how far an argument of a verb may go.
    #[must_use]
    pub fn arguments(mut self, arguments: fn(clap::Command) -> clap::Command) -> Self {
        self.arguments = arguments;
        self
    }

    /// Says what a start puts into the fields besides what was given for them, from flags of its own or from what it finds in
    /// the project.
    #[must_use]
    pub fn start(mut self, fields: fn(StartRequest<'_>) -> Result<StartFields, Failure>) -> Self {
        self.start = fields;
        self
    }

    /// Gives variables that the machine's messages and prompts can use besides those of every machine. Their names stand in
    /// `context` of the machine file, so that the build knows them.
    #[must_use]
    pub fn context(
        mut self,
        context: fn(&M::Any, &Settings, Timestamp) -> Map<String, Json>,
    ) -> Self {
        self.context = context;
        self
    }

    /// Gives findings files of other loops that a reviewer is shown before those of this one's rounds, oldest first.
    #[must_use]
    pub fn earlier(mut self, findings: fn(&M::Any) -> Vec<Utf8PathBuf>) -> Self {
        self.earlier = findings;
        self
    }

    /// Does what has to be done once a phase was entered, or entered again: files to write, and sentences for the person when
    /// the loop is over.
    #[must_use]
    pub fn entered(mut self, done: fn(&M::Any, &Settings) -> Result<Vec<String>, String>) -> Self {
        self.entered = done;
        self
    }

    /// Does what has to be done after a review with a verdict, and gives the lines that are printed below its findings.
    #[must_use]
    pub fn reviewed(mut self, done: fn(&M::Any) -> Vec<String>) -> Self {
        self.reviewed = done;
        self
    }

    /// Has each verb of a transition set the data of fields with it, or refuse it, whether it was typed or is an answer to a question.
    #[must_use]
    pub fn taking(mut self, prepare: fn(&mut M::Any, &M::Verb) -> Result<(), Failure>) -> Self {
        self.taking = prepare;
        self
    }

    /// Takes answers of a person to questions that are not a phase's own; `None`: they are for the phase.
    #[must_use]
    pub fn answered(mut self, take: fn(&Input, &Surroundings) -> Option<HookOutput>) -> Self {
        self.answered = take;
        self
    }

    /// Says what a person or agent does instead where a transition of this name was refused, or an `answer` where nothing is asked.
    #[must_use]
    pub fn refused(mut self, help: fn(&M::Any, &str) -> Option<String>) -> Self {
        self.refused = help;
        self
    }

    /// Names the mode and the arguments of the start that a verb of a user is instead, such as further rounds of a loop that is over.
    #[must_use]
    pub fn instead(mut self, start: fn(&M::Any, &M::Verb) -> Option<Vec<String>>) -> Self {
        self.instead = start;
        self
    }

    /// Gives what `status` and `report` have to admit of a loop, each a sentence: how it came out before anything else.
    #[must_use]
    pub fn caveats(mut self, caveats: fn(&M::Any, &Settings) -> Vec<String>) -> Self {
        self.caveats = caveats;
        self
    }

    /// Gives lines that `status` shows of a loop besides its fields, each with a name.
    #[must_use]
    pub fn status(mut self, shows: fn(&M::Any) -> Vec<(&'static str, String)>) -> Self {
        self.shows = shows;
        self
    }

    /// Says what a loop waits for and what is done next, where the machine file leaves that to Rust; `None`: what every machine's
    /// program says. It stands in `status`, in the notes of a stop and of a session's start.
    #[must_use]
    pub fn next_action(mut self, says: fn(&M::Any) -> Option<NextAction>) -> Self {
        self.next_action = says;
        self
    }

    /// Adds a reviewer of the program's own, which a review names as it names `lint`.
    ///
    /// # Panics
    /// Every program has one of this name already, or the name means something else: `auto`.
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

    /// Names the command of the program's own by which a person takes up a document that another program wrote, where that is not
    /// `import` with the document's path.
    #[must_use]
    pub fn takes_up(mut self, command: &'static str) -> Self {
        // As for a reviewer: it lives as long as the program.
        self.info = Box::leak(Box::new(ProgramInfo {
            take_up: Some(command),
            ..*self.info
        }));
        self
    }

    /// Names the command of the program's own, and of its plugin, by which a loop begins. The help has it instead of `start`.
    #[must_use]
    pub fn begins_with(mut self, command: &'static str) -> Self {
        self.info = Box::leak(Box::new(ProgramInfo {
            begin: Some(command),
            ..*self.info
        }));
        self
    }
}
