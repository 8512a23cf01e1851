//! A scenario's own world on disk: a home, a project, the installed program and plugin, outside of any other repository.
//! What a client is started with comes from here.

use std::ffi::OsString;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use miette::{IntoDiagnostic as _, miette};

use super::launch::Launch;
use super::leftovers;
use super::scenario::Scenario;
use super::words::Words;

/// Our own programs.
pub(super) const OURS: [&str; 4] = ["claudex-loop", "release-train", "taskie", "stages"];

/// Programs that scenarios are played with.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    pub(super) claude: PathBuf,
    pub(super) codex: Option<PathBuf>,
    /// The folder with our own, as they were built for this run.
    pub(super) ours: PathBuf,
    /// The release's archive with them, where the scenario has one.
    pub(super) archive: Option<PathBuf>,
}

/// The folders of one scenario.
#[derive(Debug)]
pub(super) struct Home {
    /// All else lies below it.
    pub(super) folder: PathBuf,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    /// The folder of the marketplace that the plugin is installed from.
    pub(super) marketplace: PathBuf,
    bin: PathBuf,
    env: Vec<(String, String)>,
}

impl Home {
    /// Makes all of it below `folder`, which must not be there yet.
    pub(super) fn make(
        scenario: &Scenario,
        folder: PathBuf,
        repository: &Path,
        programs: &Programs,
        words: &Words,
    ) -> miette::Result<Self> {
        let mut it = Self {
            home: folder.join("home"),
            project: folder.join(words.render(&scenario.project.folder)?),
            marketplace: scenario
                .plugin
                .folder
                .as_ref()
                .map_or_else(|| repository.to_owned(), |name| folder.join(name)),
            bin: folder.join("bin"),
            env: Vec::new(),
            folder,
        };
        for made in [&it.home, &it.project, &it.bin, &it.tmp(), &it.claude()] {
            fs_err::create_dir_all(made).into_diagnostic()?;
        }
        let words = it.words(words);
        it.env = scenario
            .env
            .iter()
            .map(|(name, value)| Ok((name.clone(), words.render(value)?)))
            .collect::<miette::Result<_>>()?;
        it.install(programs)?;
        it.configure(scenario, &words)?;
        if scenario.plugin.folder.is_some() {
            it.copy_marketplace(repository)?;
        }
        it.fill_project(scenario, &words)?;
        Ok(it)
    }

    /// These words, and those for the folders.
    pub(super) fn words(&self, words: &Words) -> Words {
        let folders = [
            ("project", &self.project),
            ("home", &self.home),
            ("folder", &self.folder),
            ("marketplace", &self.marketplace),
        ];
        words.with(folders.map(|(name, path)| (name.to_owned(), path.display().to_string())))
    }

    /// Returns the client's configuration folder.
    pub(super) fn claude(&self) -> PathBuf {
        self.home.join(".claude")
    }

    fn tmp(&self) -> PathBuf {
        self.folder.join("tmp")
    }

    /// Starts a program of this world, run in a folder of the project. Ours is found whatever the scenario says that PATH is.
    pub(super) fn launch(&self, program: &Path, folder: &str) -> Launch {
        let installed = Some(self.bin.join(program)).filter(|file| file.exists());
        Launch {
            program: installed.unwrap_or_else(|| program.to_owned()),
            arguments: Vec::new(),
            env: self.environment(),
            // Not joined with nothing, which would leave a slash at its end: clients know folders by their very text.
            folder: match folder {
                "" => self.project.clone(),
                folder => self.project.join(folder),
            },
        }
    }

    /// Returns the client of this world, which speaks to the service at `url`.
    pub(super) fn client(&self, url: &str, folder: &str) -> Launch {
        let mut launch = self.launch(&self.bin.join("claude"), folder);
        launch.env.extend(pairs([
            ("ANTHROPIC_BASE_URL", url),
            ("ANTHROPIC_API_KEY", API_KEY),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            // Lets the client's bypass of permissions run as root, where a scenario asks for it.
            ("IS_SANDBOX", "1"),
        ]));
        launch
    }

    /// Adds the marketplace and installs its plugins of these names, as a user does.
    pub(super) fn install_plugins(&self, names: &[String]) -> miette::Result<()> {
        let marketplace = self.marketplace.to_string_lossy().into_owned();
        let names: Vec<_> = names
            .iter()
            .map(|name| format!("{name}@claudex-engine"))
            .collect();
        let add = vec!["plugin", "marketplace", "add", &marketplace];
        let install = names.iter().map(|name| vec!["plugin", "install", name]);
        for arguments in std::iter::once(add).chain(install) {
            // No service is asked for this; the address leads nowhere.
            let mut launch = self.client("http://127.0.0.1:9", "");
            launch.arguments = arguments.iter().map(OsString::from).collect();
            let (status, out, err) = launch.run("", SOON)?;
            if !status.success() {
                return Err(miette!(
                    "`claude {}` ended with {status}:\n{out}{err}",
                    arguments.join(" ")
                ));
            }
        }
        Ok(())
    }

    /// Returns the real Codex as a program of this world, with the service at `url` as its only model.
    pub(super) fn configure_codex(&self, url: &str, more: &str) -> miette::Result<()> {
        let folder = self.home.join(".codex");
        fs_err::create_dir_all(&folder).into_diagnostic()?;
        let text = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
             base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 0\n\
             stream_max_retries = 0\n\n{more}"
        );
        fs_err::write(folder.join("config.toml"), text).into_diagnostic()
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.bin.display());
        let mut env: Vec<_> = pairs([
            ("PATH", path.as_str()),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("HOME", &self.home.to_string_lossy()),
            ("CLAUDE_CONFIG_DIR", &self.claude().to_string_lossy()),
            ("TMPDIR", &self.tmp().to_string_lossy()),
            ("CLAUDE_CODE_TMPDIR", &self.tmp().to_string_lossy()),
            ("SCRIPTED_KEY", API_KEY),
            (leftovers::MARK, &self.folder.to_string_lossy()),
            // No file of the machine's own decides what git does here.
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ])
        .collect();
        env.extend(pairs(
            self.env
                .iter()
                .map(|(name, value)| (name.as_str(), value.as_str())),
        ));
        env
    }

    fn install(&self, programs: &Programs) -> miette::Result<()> {
        let link = |program: &Path, name| symlink(program, self.bin.join(name)).into_diagnostic();
        link(&programs.claude, "claude")?;
        for name in OURS {
            link(&programs.ours.join(name), name)?;
        }
        programs
            .codex
            .as_ref()
            .map_or(Ok(()), |codex| link(codex, "codex"))
    }

    fn configure(&self, scenario: &Scenario, words: &Words) -> miette::Result<()> {
        let folder = self.home.join(".config/claudex-loop");
        fs_err::create_dir_all(&folder).into_diagnostic()?;
        let config = scenario
            .config
            .as_deref()
            .unwrap_or("reviewer = \"lint\"\n");
        fs_err::write(folder.join("config.toml"), words.render(config)?).into_diagnostic()?;
        if let Some(settings) = &scenario.settings {
            fs_err::write(self.claude().join("settings.json"), words.render(settings)?)
                .into_diagnostic()?;
        }
        Ok(())
    }

    /// Returns what a user's clone has of the marketplace: its list, and the plugins.
    fn copy_marketplace(&self, repository: &Path) -> miette::Result<()> {
        fs_err::create_dir_all(&self.marketplace).into_diagnostic()?;
        for (part, into) in [
            (".claude-plugin", ""),
            ("plugin", ""),
            ("examples/release-train/plugin", "examples/release-train"),
            ("taskie/plugin", "taskie"),
            ("stages/plugin", "stages"),
        ] {
            fs_err::create_dir_all(self.marketplace.join(into)).into_diagnostic()?;
            let status = Command::new("cp")
                .arg("-R")
                .arg(repository.join(part))
                .arg(self.marketplace.join(into))
                .status()
                .into_diagnostic()?;
            if !status.success() {
                return Err(miette!(
                    "cannot copy {part} to {}",
                    self.marketplace.display()
                ));
            }
        }
        Ok(())
    }

    fn fill_project(&self, scenario: &Scenario, words: &Words) -> miette::Result<()> {
        for (path, text) in &scenario.project.files {
            let path = self.project.join(path);
            fs_err::create_dir_all(path.parent().unwrap_or(&self.project)).into_diagnostic()?;
            fs_err::write(path, words.render(text)?).into_diagnostic()?;
        }
        if !scenario.project.git {
            return Ok(());
        }
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "A Person"],
            &["config", "user.email", "person@example.org"],
            &["add", "-A"],
            &["commit", "-q", "--allow-empty", "-m", "As it was"],
        ] {
            let mut launch = self.launch(Path::new("git"), "");
            launch.arguments = arguments.iter().map(OsString::from).collect();
            let (status, _, err) = launch.run("", SOON)?;
            if !status.success() {
                return Err(miette!("git {arguments:?}: {err}"));
            }
        }
        Ok(())
    }
}

/// How long a program may take that does one thing and ends, also on a machine that has much else to do.
pub(super) const SOON: Duration = Duration::from_secs(180);

/// The key that the clients have for the scripted services. It opens nothing.
pub(super) const API_KEY: &str = "sk-ant-scripted-0000000000000000";

fn pairs<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> impl Iterator<Item = (OsString, OsString)> {
    pairs
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect::<Vec<_>>()
        .into_iter()
}
