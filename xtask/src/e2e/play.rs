//! Plays one scenario: its steps in order.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use miette::{Context as _, IntoDiagnostic as _, miette};

use super::agent::Agent;
use super::check;
use super::conversation::Conversation;
use super::home::{self, API_KEY, Home, PROGRAMS};
use super::pattern::compare_screen;
use super::scenario::{self, Check, MAIN, OBEDIENT, Say, Scenario, See, Step, Type};
use super::server::Server;
use super::session::Session;
use super::terminal::{self, Terminal};
use super::words::Words;
use super::{Row, leftovers, process};

const SCENARIO_TIMEOUT: Duration = Duration::from_secs(300);

/// The longest time that processes may outlive their client.
const LEFTOVERS_TIMEOUT: Duration = Duration::from_secs(30);

const PICTURE_LINES: usize = 44;

/// The session of Codex's model.
const CODEX: &str = "codex";

/// The parts that all scenarios of a run share.
#[derive(Debug)]
pub(super) struct Stage {
    pub(super) root: PathBuf,
    /// The parent of the scenarios' folders.
    pub(super) folder: PathBuf,
    pub(super) keep: bool,
    /// The folder for pictures of the kept screens.
    pub(super) pictures: Option<PathBuf>,
}

#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) took: Duration,
    pub(super) result: miette::Result<()>,
    pub(super) conversation: Arc<Conversation>,
    pub(super) folder: PathBuf,
}

struct Play<'a> {
    stage: &'a Stage,
    scenario: &'a Scenario,
    home: Home,
    server: Server,
    conversation: Arc<Conversation>,
    deadline: Instant,
    sessions: BTreeMap<String, Session>,
    terminal: Option<Terminal>,
}

impl Stage {
    pub(super) fn play(&self, row: &Row<'_>) -> Outcome {
        let began = Instant::now();
        let folder = self.folder.join(&row.label);
        let conversation = Arc::new(Conversation::default());
        let play = Play::begin(self, row, folder.clone(), &conversation);
        let result = play.and_then(|mut play| play.run_steps().and(play.end()));
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
        row: &Row<'a>,
        folder: PathBuf,
        conversation: &Arc<Conversation>,
    ) -> miette::Result<Self> {
        let scenario = row.scenario;
        let home = Home::create(scenario, folder, &stage.root, &row.programs)?;
        let server = Server::start(Arc::clone(conversation))?;
        if row.programs.codex.is_some() {
            home.configure_codex(&server.url(CODEX))?;
            let agent = Agent::new(scenario.codex.clone(), home.words.clone());
            server.cast(CODEX, agent);
        }
        home.install_plugins(scenario)?;
        Ok(Self {
            stage,
            scenario,
            home,
            server,
            conversation: Arc::clone(conversation),
            deadline: Instant::now() + SCENARIO_TIMEOUT,
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
        // The loop that a check names may begin while it waits.
        if let Step::Check(check) = step {
            return self.check(check);
        }
        match self.words()?.render(step)? {
            Step::Say(say) => self.say(say),
            Step::Wait { session } => self.wait(&session),
            Step::Kill { session } => self.session(&session)?.kill(),
            Step::Person(person) => {
                let line = format!("exec 2>&1\n{}", person.run);
                let mut shell = self.home.command("/bin/sh");
                let text = process::output(shell.args(["-c", &line]), self.time_left())?;
                check::contains(&person.run, &text, &person.has, &person.lacks)
            }
            Step::Write { path, text } => home::write_file(&self.home.project.join(path), &text),
            Step::Open => self.open(),
            Step::Type(keys) => self.type_keys(&keys),
            Step::See(see) => self.see(&see),
            Step::Check(check) => self.check(&check),
        }
    }

    fn say(&mut self, say: Say) -> miette::Result<()> {
        self.cast(&say.session, say.agent.as_deref())?;
        let name = say.session.clone();
        let is_background = say.background;
        let mut client = self.home.client(&self.server.url(&name));
        if let Some(folder) = &say.folder {
            client.current_dir(self.home.project.join(folder));
        }
        let session = self.sessions.entry(name.clone()).or_default();
        session.start(client, say, &self.home.folder)?;
        if is_background {
            return Ok(());
        }
        self.wait(&name)
    }

    fn wait(&mut self, session: &str) -> miette::Result<()> {
        let left = self.time_left();
        self.session(session)?.finish(left)
    }

    fn session(&mut self, name: &str) -> miette::Result<&mut Session> {
        let session = self.sessions.get_mut(name);
        session.ok_or_else(|| miette!("no session `{name}` was started"))
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    fn open(&mut self) -> miette::Result<()> {
        self.cast(MAIN, None)?;
        self.sessions.entry(MAIN.to_owned()).or_default();
        let mut client = self.home.client(&self.server.url(MAIN));
        client.args(["--permission-mode", "default"]);
        let config = self.home.home.join(".claude/.claude.json");
        terminal::prepare(&config, &self.home.project, API_KEY)?;
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
        terminal.type_text(&keys.text)?;
        terminal.press(&keys.keys)
    }

    fn see(&self, see: &See) -> miette::Result<()> {
        let terminal = self.terminal()?;
        terminal.wait_for(&see.has, &see.lacks)?;
        let Some(name) = &see.screen else {
            return Ok(());
        };
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
        check::until(Duration::from_secs(check.within), || {
            let check = self.words()?.render(check)?;
            let is_named = |name: &String| check.session.as_ref().is_none_or(|it| it == name);
            let sessions = self.sessions.iter().filter(|(name, _)| is_named(name));
            let printed: String = sessions.map(|(_, session)| session.text()).collect();
            check::check_all(&check, &self.home, &self.conversation, &printed)
        })
    }

    /// Ends all running processes, and looks for ones that outlive their client.
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
        let agent = agent.or(self.scenario.agent.as_deref());
        rules.extend(scenario::agent(&agents, agent.unwrap_or(OBEDIENT))?);
        self.server
            .cast(session, Agent::new(rules, self.home.words.clone()));
        Ok(())
    }

    fn terminal(&self) -> miette::Result<&Terminal> {
        let terminal = self.terminal.as_ref();
        terminal.ok_or_else(|| miette!("no terminal is open"))
    }

    /// Returns the words for templates: `id` is the newest loop, `session_NAME` a session's id.
    fn words(&self) -> miette::Result<Words> {
        let newest = self.home.loops(PROGRAMS[0])?.pop();
        let id = newest.map(|[id, _]| ("id".to_owned(), id));
        let sessions = self
            .sessions
            .iter()
            .filter_map(|(name, session)| Some((format!("session_{name}"), session.id()?)));
        Ok(self.home.words.with(id.into_iter().chain(sessions)))
    }
}
