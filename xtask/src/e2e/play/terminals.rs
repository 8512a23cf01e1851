//! The steps of a scenario that need a screen: the interactive client in a terminal.

use std::time::Duration;

use miette::{IntoDiagnostic as _, miette};

use super::scene::Play;
use crate::e2e::home::API_KEY;
use crate::e2e::interactive;
use crate::e2e::scenario::{Open, Pattern, See, Type};
use crate::e2e::screen::Kept;
use crate::e2e::terminal::Terminal;

/// How long the client may take to start, on a machine that does much else.
const START: Duration = Duration::from_secs(60);
/// How many lines a picture has.
const PICTURED: usize = 44;

impl Play<'_> {
    pub(super) fn open(&mut self, open: &Open) -> miette::Result<()> {
        let words = self.words()?;
        self.cast(&open.session, open.agent.as_deref())?;
        let mut launch = self.home.client(
            &self.server.url(&open.session),
            &words.render(&open.folder)?,
        );
        for (name, value) in &open.env {
            launch.env.push((name.into(), words.render(value)?.into()));
        }
        launch.arguments = vec!["--permission-mode".into(), open.mode.clone().into()];
        for argument in &open.arguments {
            launch.arguments.push(words.render(argument)?.into());
        }
        interactive::prepare(&self.home.claude(), &launch.folder, API_KEY)?;
        let session = self.sessions.entry(open.session.clone()).or_default();
        if session.terminal.is_some() {
            return Err(miette!(
                "the terminal of the session `{}` is still open",
                open.session
            ));
        }
        let terminal = session.terminal.insert(Terminal::open(&launch, open.size)?);
        interactive::ready(terminal, START)?;
        Ok(())
    }

    pub(super) fn r#type(&self, keys: &Type) -> miette::Result<()> {
        let terminal = self.terminal(&keys.session)?;
        let words = self.words()?;
        let strokes: Vec<String> = keys
            .keys
            .iter()
            .map(|key| words.render(key))
            .collect::<miette::Result<_>>()?;
        // A dialog lets its first moments pass without taking a choice, lest it be one that was meant for something else.
        let chooses = |key: &String| key.chars().all(|it| it.is_ascii_digit());
        if keys.text.is_empty() && strokes.first().is_some_and(chooses) {
            terminal.at_rest()?;
        }
        terminal.type_text(&words.render(&keys.text)?)?;
        Ok(terminal.keys(&strokes)?)
    }

    pub(super) fn see(&self, see: &See) -> miette::Result<()> {
        let words = self.words()?;
        let rendered = |patterns: &[Pattern]| -> miette::Result<Vec<Pattern>> {
            patterns
                .iter()
                .map(|it| it.rendered(|text| words.render(text)))
                .collect()
        };
        let within = Duration::from_secs(see.within);
        let terminal = self.terminal(&see.session)?;
        if see.ended {
            terminal.wait_for_end(within)?;
        }
        terminal.wait_for(&rendered(&see.has)?, &rendered(&see.lacks)?, within)?;
        see.screen
            .as_ref()
            .map_or(Ok(()), |name| self.is_the_kept(terminal, name, within))
    }

    /// Waits until the screen is the kept one; or writes it anew, where that was asked for.
    fn is_the_kept(&self, terminal: &Terminal, name: &str, within: Duration) -> miette::Result<()> {
        let path = Kept::place(
            &self.stage.suite().join("screens"),
            name,
            &self.age.to_string(),
        );
        let folder = |path: &std::path::Path| path.to_string_lossy().into_owned();
        let places = [
            (folder(&self.home.project), "[project]"),
            (folder(&self.home.home), "[home]"),
            (folder(&self.home.folder), "[folder]"),
            (folder(&self.stage.root), "[repository]"),
        ];
        let places: Vec<_> = places
            .iter()
            .map(|(path, word)| (path.as_str(), *word))
            .collect();
        if self.stage.overwrite_screens {
            Kept::overwrite(&path, &terminal.at_rest()?.text, &places)?;
            return Ok(());
        }
        let kept = Kept::read(&path)?;
        terminal.wait_until(within, |screen| kept.fits(&screen.text, &places))?;
        if let Some(folder) = &self.stage.pictures {
            let shown = places
                .iter()
                .fold(terminal.in_colours()?, |text, (path, word)| {
                    text.replace(path, word)
                });
            let mut lines: Vec<&str> = shown.trim_end().lines().collect();
            // Where the client leaves room, one blank line is enough.
            lines.dedup_by(|next, before| next.trim().is_empty() && before.trim().is_empty());
            let end = &lines[lines.len().saturating_sub(PICTURED)..];
            let picture = anstyle_svg::Term::new().render_svg(&end.join("\n"));
            fs_err::write(folder.join(format!("{name}.svg")), picture).into_diagnostic()?;
        }
        Ok(())
    }

    pub(super) fn close(&mut self, name: &str) -> miette::Result<()> {
        self.session(name)?.terminal = None;
        Ok(())
    }

    fn terminal(&self, name: &str) -> miette::Result<&Terminal> {
        self.sessions
            .get(name)
            .and_then(|session| session.terminal.as_ref())
            .ok_or_else(|| miette!("the session `{name}` has no terminal that is open"))
    }
}
