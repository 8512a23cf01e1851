//! Plays one scenario: its steps in their order, and at the end what holds for every scenario.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};

use super::agent::Agent;
use super::check::{self, Place};
use super::conversation::Conversation;
use super::headless::Headless;
use super::home::{Home, Programs};
use super::leftovers;
use super::scenario::{Age, Check, Pattern, Person, Say, Scenario, Step, Write};
use super::server::Server;
use super::words::Words;

mod scene;
mod terminals;

use scene::Play;
pub(super) use scene::Stage;

/// The session of Codex's model.
const CODEX: &str = "codex";

/// What came of one scenario with one client.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) took: Duration,
    pub(super) result: miette::Result<()>,
    /// What was said, for the report of a failure.
    pub(super) conversation: Arc<Conversation>,
    /// The scenario's folder, where it is still there.
    pub(super) folder: PathBuf,
}

impl Stage {
    /// Plays `scenario` with these programs in a folder of its own.
    pub(super) fn play(
        &self,
        scenario: &Scenario,
        programs: &Programs,
        age: Age,
        label: &str,
    ) -> Outcome {
        let began = Instant::now();
        let folder = self.folder.join(label);
        let conversation = Arc::new(Conversation::new());
        let result = Play::begin(
            self,
            scenario,
            programs,
            age,
            folder.clone(),
            Arc::clone(&conversation),
        )
        .and_then(|mut play| {
            let played = play.steps();
            let left = play.end();
            played.and(left)
        });
        if result.is_ok() && !self.keep {
            // Nobody needs it any more; what cannot be removed lies in the temporary folder.
            let _ = fs_err::remove_dir_all(&folder);
        }
        Outcome {
            took: began.elapsed(),
            result,
            conversation,
            folder,
        }
    }
}

impl<'a> Play<'a> {
    fn begin(
        stage: &'a Stage,
        scenario: &'a Scenario,
        programs: &Programs,
        age: Age,
        folder: PathBuf,
        conversation: Arc<Conversation>,
    ) -> miette::Result<Self> {
        let mut words = Words::new(stage.root.clone()).with(scenario.words());
        words.set("repository", stage.root.display().to_string());
        if let Some(archive) = &programs.archive {
            words.set("archive", archive.display().to_string());
        }
        let home = Home::make(scenario, folder, &stage.root, programs, &words)?;
        let words = home.words(&words);
        let server = Server::start(Arc::clone(&conversation))?;
        let play = Self {
            stage,
            scenario,
            age,
            home,
            server,
            conversation,
            deadline: Instant::now() + scenario.limit(),
            words,
            sessions: BTreeMap::new(),
        };
        if let Some(codex) = &scenario.codex {
            play.home
                .configure_codex(&play.server.url(CODEX), &play.words.render(&codex.config)?)?;
            play.server
                .cast(CODEX, Agent::new(codex.rule.clone(), play.words.clone()));
        }
        if scenario.plugin.install {
            play.home.install_plugins(&play.scenario.plugin.names)?;
        }
        Ok(play)
    }

    fn steps(&mut self) -> miette::Result<()> {
        for (index, step) in self.scenario.step.iter().enumerate() {
            self.step(step)
                .wrap_err_with(|| format!("step {} ({})", index + 1, step.name()))?;
            if let Some(failure) = self.conversation.failure() {
                return Err(miette!("the scripted model failed: {failure}"));
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &Step) -> miette::Result<()> {
        match step {
            Step::Say(say) => self.say(say),
            Step::Wait { session } => self.wait(session),
            Step::Kill { session } => self.kill(session),
            Step::Person(person) => self.person(person),
            Step::Write(write) => self.write(write),
            Step::Check(check) => self.check(check),
            Step::Open(open) => self.open(open),
            Step::Type(keys) => self.r#type(keys),
            Step::See(see) => self.see(see),
            Step::Close { session } => self.close(session),
        }
    }

    fn say(&mut self, say: &Say) -> miette::Result<()> {
        let words = self.words()?;
        let text = words.render(&say.text)?;
        self.cast(&say.session, say.agent.as_deref())?;
        let mut launch = self
            .home
            .client(&self.server.url(&say.session), &words.render(&say.folder)?);
        for (name, value) in &say.env {
            launch.env.push((name.into(), words.render(value)?.into()));
        }
        let mut say = say.clone();
        for argument in &mut say.arguments {
            *argument = words.render(argument)?;
        }
        let session = self.sessions.entry(say.session.clone()).or_default();
        if session.running.is_some() {
            return Err(miette!("the session `{}` is still running", say.session));
        }
        let log = self
            .home
            .folder
            .join(format!("{}-{}", say.session, session.printed.len() + 1));
        let (name, wait) = (say.session.clone(), say.wait);
        session.running = Some(Headless::start(
            launch,
            say,
            &text,
            session.id.as_deref(),
            &log,
        )?);
        if wait { self.wait(&name) } else { Ok(()) }
    }

    fn wait(&mut self, name: &str) -> miette::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        let session = self.session(name)?;
        let running = session
            .running
            .take()
            .ok_or_else(|| miette!("the session `{name}` has no client that runs"))?;
        session.id = session.id.take().or_else(|| running.printed().session());
        // Printed even where it ended otherwise than expected: checks and the report need it.
        let so_far = running.printed();
        match running.finish(left) {
            Ok(printed) => {
                session.id = session.id.take().or_else(|| printed.session());
                session.printed.push(printed);
                Ok(())
            }
            Err(error) => {
                session.printed.push(so_far);
                Err(error)
            }
        }
    }

    fn kill(&mut self, name: &str) -> miette::Result<()> {
        let session = self.session(name)?;
        let mut running = session
            .running
            .take()
            .ok_or_else(|| miette!("the session `{name}` has no client that runs"))?;
        running.kill()?;
        let printed = running.printed();
        session.id = session.id.take().or_else(|| printed.session());
        session.printed.push(printed);
        Ok(())
    }

    fn person(&self, person: &Person) -> miette::Result<()> {
        let words = self.words()?;
        let mut launch = self
            .home
            .launch(Path::new("/bin/sh"), &words.render(&person.folder)?);
        launch.arguments = vec!["-c".into(), words.render(&person.run)?.into()];
        for (name, value) in &person.env {
            launch.env.push((name.into(), words.render(value)?.into()));
        }
        let left = self.deadline.saturating_duration_since(Instant::now());
        let (status, out, err) = launch.run(&words.render(&person.stdin)?, left)?;
        let text = format!("{out}{err}");
        if status.code() != Some(person.exit) {
            return Err(miette!(
                "`{}` ended with {status}, where {} was expected:\n{text}",
                person.run,
                person.exit
            ));
        }
        let render = |pattern: &Pattern| pattern.rendered(|text| words.render(text));
        for pattern in &person.has {
            let pattern = render(pattern)?;
            if !pattern.is_in(&text) {
                return Err(miette!(
                    "`{}` did not print \"{pattern}\" but:\n{text}",
                    person.run
                ));
            }
        }
        for pattern in &person.lacks {
            let pattern = render(pattern)?;
            if pattern.is_in(&text) {
                return Err(miette!("`{}` printed \"{pattern}\":\n{text}", person.run));
            }
        }
        Ok(())
    }

    fn write(&self, write: &Write) -> miette::Result<()> {
        let words = self.words()?;
        let path = self.home.project.join(words.render(&write.path)?);
        match &write.text {
            Some(text) => {
                fs_err::create_dir_all(path.parent().unwrap_or(&path)).into_diagnostic()?;
                fs_err::write(path, words.render(text)?).into_diagnostic()
            }
            None => fs_err::remove_file(path).into_diagnostic(),
        }
    }

    fn check(&self, check: &Check) -> miette::Result<()> {
        let folder = self.words()?.render(&check.folder)?;
        check::until(Duration::from_secs(check.within), || {
            let place = Place {
                home: &self.home,
                folder: &folder,
                conversation: &self.conversation,
                printed: self.printed(check.session.as_deref()),
            };
            place.holds(check, &self.words_in(&folder)?)
        })
    }

    /// Ends what still runs, and looks for what a scenario must not leave: processes that outlive their client.
    fn end(&mut self) -> miette::Result<()> {
        for session in self.sessions.values_mut() {
            session.running = None;
            session.terminal = None;
        }
        let mark = self.home.folder.as_os_str();
        let left = check::until(Duration::from_secs(30), || match leftovers::told(mark) {
            left if left.is_empty() => Ok(()),
            left => Err(miette!("processes are left behind: {left:#?}")),
        });
        leftovers::end(mark);
        left
    }
}
