//! Plays one scenario: its steps in order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};

use super::agent::Agent;
use super::check::{self, Place};
use super::conversation::Conversation;
use super::headless::Headless;
use super::home::{API_KEY, Home, Programs};
use super::leftovers;
use super::pattern::compare_screen;
use super::scenario::{self, Check, Person, Say, Scenario, See, Step, Type};
use super::server::Server;
use super::terminal::{self, Terminal};
use super::words::Words;

/// The limit for a whole scenario.
const SCENARIO_TIMEOUT: Duration = Duration::from_secs(300);

/// The longest time that processes may outlive their client.
const LEFTOVERS_TIMEOUT: Duration = Duration::from_secs(30);

/// The number of lines of a picture.
const PICTURE_LINES: usize = 44;

/// The session of Codex's model.
const CODEX: &str = "codex";

/// The session that steps mean if they name none.
const MAIN: &str = "main";

/// The parts that all scenarios of a run share.
#[derive(Debug)]
pub(super) struct Stage {
    /// The repository.
    pub(super) root: PathBuf,
    /// The parent of the scenarios' folders.
    pub(super) folder: PathBuf,
    pub(super) keep: bool,
    /// The folder for pictures of the kept screens.
    pub(super) pictures: Option<PathBuf>,
}

/// The result of one scenario.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) took: Duration,
    pub(super) result: miette::Result<()>,
    pub(super) conversation: Arc<Conversation>,
    pub(super) folder: PathBuf,
}

/// A scenario that is being played.
struct Play<'a> {
    stage: &'a Stage,
    scenario: &'a Scenario,
    home: Home,
    server: Server,
    conversation: Arc<Conversation>,
    deadline: Instant,
    words: Words,
    sessions: BTreeMap<String, Session>,
    terminal: Option<Terminal>,
}

/// One conversation with the client.
#[derive(Default)]
struct Session {
    /// The client's id.
    id: Option<String>,
    /// The clients that were started, the newest last.
    clients: Vec<Headless>,
    is_running: bool,
}

impl Stage {
    /// Plays a scenario in a folder with the name `label`.
    pub(super) fn play(&self, scenario: &Scenario, programs: &Programs, label: &str) -> Outcome {
        let began = Instant::now();
        let folder = self.folder.join(label);
        let conversation = Arc::new(Conversation::default());
        let play = Play::begin(self, scenario, programs, &folder, &conversation);
        let result = play.and_then(|mut play| {
            let played = play.run_steps();
            played.and(play.end())
        });
        if result.is_ok() && !self.keep {
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
        folder: &Path,
        conversation: &Arc<Conversation>,
    ) -> miette::Result<Self> {
        let mut words = Words::new(stage.root.clone());
        words.set("repository", stage.root.display().to_string());
        if let Some(archive) = &programs.archive {
            words.set("archive", archive.display().to_string());
        }
        let home = Home::create(scenario, folder.to_owned(), &stage.root, programs, &words)?;
        let words = home.words(&words);
        let server = Server::start(Arc::clone(conversation))?;
        if programs.codex.is_some() {
            home.configure_codex(&server.url(CODEX))?;
            server.cast(CODEX, Agent::new(scenario.codex.clone(), words.clone()));
        }
        home.install_plugins(&scenario.plugins)?;
        Ok(Self {
            stage,
            scenario,
            home,
            server,
            conversation: Arc::clone(conversation),
            deadline: Instant::now() + SCENARIO_TIMEOUT,
            words,
            sessions: BTreeMap::new(),
            terminal: None,
        })
    }

    fn run_steps(&mut self) -> miette::Result<()> {
        for (index, step) in self.scenario.step.iter().enumerate() {
            self.run_step(step)
                .wrap_err_with(|| format!("step {}", index + 1))?;
            if let Some(failure) = self.conversation.failure() {
                return Err(miette!("the scripted model failed: {failure}"));
            }
        }
        Ok(())
    }

    fn run_step(&mut self, step: &Step) -> miette::Result<()> {
        match step {
            Step::Say(say) => self.say(say),
            Step::Wait { session } => self.wait(session.as_deref().unwrap_or(MAIN)),
            Step::Kill { session } => {
                self.end_turn(session.as_deref().unwrap_or(MAIN), Headless::kill)
            }
            Step::Person(person) => self.person(person),
            Step::Write { path, text } => {
                let words = self.words_in("")?;
                let path = self.home.project.join(words.render(path)?);
                fs_err::create_dir_all(path.parent().unwrap_or(&path)).into_diagnostic()?;
                fs_err::write(path, words.render(text)?).into_diagnostic()
            }
            Step::Open => self.open(),
            Step::Type(keys) => self.type_keys(keys),
            Step::See(see) => self.see(see),
            Step::Check(check) => self.check(check),
        }
    }

    fn say(&mut self, say: &Say) -> miette::Result<()> {
        let words = self.words_in("")?;
        let name = say.session.as_deref().unwrap_or(MAIN);
        self.cast(name, say.agent.as_deref())?;
        let url = self.server.url(name);
        let client = self.home.client(&url, &words.render(&say.folder)?);
        let session = self.sessions.entry(name.to_owned()).or_default();
        if session.is_running {
            return Err(miette!("the session `{name}` is still running"));
        }
        let log = format!("{name}-{}", session.clients.len() + 1);
        let log = self.home.folder.join(log);
        let text = words.render(&say.text)?;
        let client = Headless::start(client, say, &text, session.id.as_deref(), &log)?;
        session.clients.push(client);
        session.is_running = true;
        if say.background {
            return Ok(());
        }
        self.wait(name)
    }

    fn wait(&mut self, name: &str) -> miette::Result<()> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.end_turn(name, |client| client.finish(left))
    }

    fn end_turn(
        &mut self,
        name: &str,
        end: impl FnOnce(&mut Headless) -> miette::Result<()>,
    ) -> miette::Result<()> {
        let session = self
            .sessions
            .get_mut(name)
            .filter(|it| it.is_running)
            .ok_or_else(|| miette!("no client of `{name}` is running"))?;
        session.is_running = false;
        let client = session
            .clients
            .last_mut()
            .ok_or_else(|| miette!("`{name}` has no client"))?;
        let ended = end(client);
        let id = client.session();
        session.id = session.id.take().or(id);
        ended
    }

    fn person(&self, person: &Person) -> miette::Result<()> {
        let words = self.words_in("")?;
        let line = words.render(&person.run)?;
        let launch = self.home.launch("/bin/sh", &words.render(&person.folder)?);
        let left = self.deadline.saturating_duration_since(Instant::now());
        let (status, out, err) = launch.with(["-c", &line]).run(left)?;
        let text = format!("{out}{err}");
        if status.code() != Some(person.exit) {
            let expected = person.exit;
            return Err(miette!("`{line}`: {status}, expected {expected}\n{text}"));
        }
        check::contains(&line, &text, &person.has, &person.lacks, &words)
    }

    fn open(&mut self) -> miette::Result<()> {
        self.cast(MAIN, None)?;
        self.sessions.entry(MAIN.to_owned()).or_default();
        let client = self
            .home
            .client(&self.server.url(MAIN), "")
            .with(["--permission-mode", "default"]);
        terminal::prepare(&self.home.claude(), &client.folder, API_KEY)?;
        self.terminal = Some(Terminal::open(&client)?);
        Ok(())
    }

    fn type_keys(&self, keys: &Type) -> miette::Result<()> {
        let terminal = self.terminal()?;
        // A dialog ignores a choice in its first moments.
        let chooses = |key: &String| key.chars().all(|it| it.is_ascii_digit());
        if keys.text.is_empty() && keys.keys.first().is_some_and(chooses) {
            terminal.rest()?;
        }
        terminal.type_text(&self.words_in("")?.render(&keys.text)?)?;
        terminal.press(&keys.keys)
    }

    fn see(&self, see: &See) -> miette::Result<()> {
        let words = self.words_in("")?;
        let has = check::rendered(&see.has, &words)?;
        let lacks = check::rendered(&see.lacks, &words)?;
        let terminal = self.terminal()?;
        terminal.wait_for(&has, &lacks)?;
        match &see.screen {
            Some(name) => self.compare_screen(terminal, name),
            None => Ok(()),
        }
    }

    fn compare_screen(&self, terminal: &Terminal, name: &str) -> miette::Result<()> {
        let screens = self.stage.root.join("tests/e2e/screens");
        let path = screens.join(format!("{name}.txt"));
        terminal.wait_until(|seen| compare_screen(&path, &seen.text))?;
        match &self.stage.pictures {
            Some(folder) => self.draw_screen(terminal, &folder.join(format!("{name}.svg"))),
            None => Ok(()),
        }
    }

    /// Draws the end of the screen, without the paths of this run.
    fn draw_screen(&self, terminal: &Terminal, picture: &Path) -> miette::Result<()> {
        let mut screen = terminal.look_in_colours()?;
        for (path, word) in [
            (&self.home.project, "[project]"),
            (&self.home.home, "[home]"),
            (&self.home.folder, "[folder]"),
            (&self.stage.root, "[repository]"),
        ] {
            screen = screen.replace(&*path.to_string_lossy(), word);
        }
        let mut lines: Vec<&str> = screen.trim_end().lines().collect();
        lines.dedup_by(|next, before| next.trim().is_empty() && before.trim().is_empty());
        let end = &lines[lines.len().saturating_sub(PICTURE_LINES)..];
        let svg = anstyle_svg::Term::new().render_svg(&end.join("\n"));
        fs_err::write(picture, svg).into_diagnostic()
    }

    fn check(&self, check: &Check) -> miette::Result<()> {
        let folder = self.words_in("")?.render(&check.folder)?;
        check::until(Duration::from_secs(check.within), || {
            let place = Place {
                home: &self.home,
                folder: &folder,
                conversation: &self.conversation,
                printed: self.client_texts(check.session.as_deref()),
                words: self.words_in(&folder)?,
            };
            place.holds(check)
        })
    }

    /// Ends what is running, and looks for processes that outlive their client.
    fn end(&mut self) -> miette::Result<()> {
        self.sessions.clear();
        self.terminal = None;
        let mark = self.home.folder.as_os_str();
        let left = check::until(LEFTOVERS_TIMEOUT, || match leftovers::command_lines(mark) {
            left if left.is_empty() => Ok(()),
            left => Err(miette!("processes are left behind: {left:#?}")),
        });
        leftovers::end(mark);
        left
    }

    /// Sets the model of a session: the scenario's rules, then those of the agent.
    fn cast(&mut self, session: &str, agent: Option<&str>) -> miette::Result<()> {
        if agent.is_none() && self.sessions.contains_key(session) {
            return Ok(());
        }
        let agents = self.stage.root.join("tests/e2e/agents");
        let mut rules = self.scenario.rule.clone();
        let agent = agent.unwrap_or(&self.scenario.agent);
        rules.extend(scenario::agent(&agents, agent)?);
        self.server
            .cast(session, Agent::new(rules, self.words.clone()));
        Ok(())
    }

    fn terminal(&self) -> miette::Result<&Terminal> {
        let terminal = self.terminal.as_ref();
        terminal.ok_or_else(|| miette!("no terminal is open"))
    }

    fn client_texts(&self, session: Option<&str>) -> String {
        let sessions = self
            .sessions
            .iter()
            .filter(|(name, _)| session.is_none_or(|it| it == *name));
        let clients = sessions.flat_map(|(_, session)| &session.clients);
        clients.map(|client| client.text()).collect()
    }

    /// Returns the words for templates: `id` is the newest loop of that folder, `session_NAME` the
    /// client's id of a session.
    fn words_in(&self, folder: &str) -> miette::Result<Words> {
        let mut words = self.words.clone();
        let newest = self.home.loops("claudex-loop", folder)?.pop();
        if let Some([id, _]) = newest {
            words.set("id", id);
        }
        for (name, session) in &self.sessions {
            if let Some(id) = &session.id {
                words.set(&format!("session_{name}"), id.clone());
            }
        }
        Ok(words)
    }
}
