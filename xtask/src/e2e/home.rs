//! A scenario's own world on disk: home, project, programs and plugins, outside of any repository.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use miette::{IntoDiagnostic as _, miette};
use serde_json::Value;

use super::launch::Launch;
use super::leftovers;
use super::scenario::Scenario;
use super::words::Words;

/// Our own programs. The first one is asked about loops if a check names no other.
pub(super) const PROGRAMS: [&str; 4] = ["claudex-loop", "release-train", "taskie", "stages"];

/// The limit for a program that does one thing and ends, also on a busy machine.
pub(super) const COMMAND_TIMEOUT: Duration = Duration::from_secs(180);

/// The clients' key for the scripted service.
pub(super) const API_KEY: &str = "sk-ant-scripted-0000000000000000";

/// The programs that a scenario is played with.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    pub(super) claude: PathBuf,
    pub(super) codex: Option<PathBuf>,
    /// The folder with our own programs.
    pub(super) ours: PathBuf,
    /// A release archive.
    pub(super) archive: Option<PathBuf>,
}

/// The folders of one scenario.
#[derive(Debug)]
pub(super) struct Home {
    /// The folder with all others.
    pub(super) folder: PathBuf,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    marketplace: PathBuf,
    bin: PathBuf,
    ours: PathBuf,
    env: Vec<(String, String)>,
}

impl Home {
    /// Creates everything below `folder`.
    pub(super) fn create(
        scenario: &Scenario,
        folder: PathBuf,
        repository: &Path,
        programs: &Programs,
        words: &Words,
    ) -> miette::Result<Self> {
        let marketplace = scenario.marketplace.as_ref();
        let mut home = Self {
            home: folder.join("home"),
            project: folder.join(scenario.project.folder.as_deref().unwrap_or("project")),
            marketplace: marketplace.map_or(repository.to_owned(), |name| folder.join(name)),
            bin: folder.join("bin"),
            ours: programs.ours.clone(),
            env: Vec::new(),
            folder,
        };
        let config = home.home.join(".config/claudex-loop");
        for made in [
            &home.project,
            &home.bin,
            &home.tmp(),
            &home.claude(),
            &config,
        ] {
            fs_err::create_dir_all(made).into_diagnostic()?;
        }
        let words = home.words(words);
        let link = |program: &Path, name| symlink(program, home.bin.join(name)).into_diagnostic();
        link(&programs.claude, "claude")?;
        for name in PROGRAMS {
            link(&programs.ours.join(name), name)?;
        }
        if let Some(codex) = &programs.codex {
            link(codex, "codex")?;
        }

        let text = scenario
            .config
            .as_deref()
            .unwrap_or("reviewer = \"lint\"\n");
        fs_err::write(config.join("config.toml"), words.render(text)?).into_diagnostic()?;
        if let Some(settings) = &scenario.settings {
            let path = home.claude().join("settings.json");
            fs_err::write(path, words.render(settings)?).into_diagnostic()?;
        }
        if scenario.marketplace.is_some() {
            home.copy_marketplace(repository)?;
        }
        home.fill_project(scenario, &words)?;
        for (name, value) in &scenario.env {
            home.env.push((name.clone(), words.render(value)?));
        }
        Ok(home)
    }

    /// Adds the words for the folders.
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

    /// Prepares a program to run in a folder of the project.
    pub(super) fn launch(&self, program: impl Into<PathBuf>, folder: &str) -> Launch {
        Launch {
            program: program.into(),
            arguments: Vec::new(),
            env: self.environment(),
            // Joining an empty path would add a slash, and clients compare folders by their text.
            folder: match folder {
                "" => self.project.clone(),
                folder => self.project.join(folder),
            },
        }
    }

    /// Prepares the client, with the service at `url`.
    pub(super) fn client(&self, url: &str, folder: &str) -> Launch {
        let mut launch = self.launch(self.bin.join("claude"), folder);
        launch.env.extend(pairs(&[
            ("ANTHROPIC_BASE_URL", url),
            ("ANTHROPIC_API_KEY", API_KEY),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            // Allows bypassPermissions as root.
            ("IS_SANDBOX", "1"),
        ]));
        launch
    }

    /// Installs plugins from the marketplace as a user does.
    pub(super) fn install_plugins(&self, names: &[String]) -> miette::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        // The address of the service is not used.
        let client = || self.client("http://127.0.0.1:9", "").with(["plugin"]);
        let add = client()
            .with(["marketplace", "add"])
            .with([&self.marketplace]);
        add.output(COMMAND_TIMEOUT)?;
        for name in names {
            let plugin = format!("{name}@claudex-engine");
            client()
                .with(["install", &plugin])
                .output(COMMAND_TIMEOUT)?;
        }
        Ok(())
    }

    /// Configures Codex, with the service at `url` as its only model.
    pub(super) fn configure_codex(&self, url: &str) -> miette::Result<()> {
        let folder = self.home.join(".codex");
        fs_err::create_dir_all(&folder).into_diagnostic()?;
        let text = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
             name = \"scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n"
        );
        fs_err::write(folder.join("config.toml"), text).into_diagnostic()
    }

    /// Runs one of our programs in a folder of the project, and returns its output.
    pub(super) fn ask(
        &self,
        program: &str,
        folder: &str,
        arguments: &[&str],
    ) -> miette::Result<String> {
        let launch = self.launch(self.ours.join(program), folder);
        launch
            .with(arguments.iter().copied())
            .output(COMMAND_TIMEOUT)
    }

    /// Returns a program's loops in a folder of the project, the newest last: the id and the state document of each.
    pub(super) fn loops(&self, program: &str, folder: &str) -> miette::Result<Vec<[String; 2]>> {
        let list = self.ask(program, folder, &["list", "--json"])?;
        let list: Vec<Value> = serde_json::from_str(&list).into_diagnostic()?;
        let keys =
            |it: &Value| ["id", "state"].map(|key| it[key].as_str().unwrap_or_default().to_owned());
        let mut loops: Vec<_> = list.iter().map(keys).collect();
        loops.sort();
        Ok(loops)
    }

    fn environment(&self) -> Vec<(String, String)> {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.bin.display());
        let mut env = pairs(&[
            ("PATH", &path),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("HOME", &self.home.to_string_lossy()),
            ("CLAUDE_CONFIG_DIR", &self.claude().to_string_lossy()),
            ("TMPDIR", &self.tmp().to_string_lossy()),
            ("CLAUDE_CODE_TMPDIR", &self.tmp().to_string_lossy()),
            ("SCRIPTED_KEY", API_KEY),
            (leftovers::MARK, &self.folder.to_string_lossy()),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ]);
        env.extend_from_slice(&self.env);
        env
    }

    /// Copies the list of the marketplace, and its plugins.
    fn copy_marketplace(&self, repository: &Path) -> miette::Result<()> {
        for part in [
            ".claude-plugin",
            "plugin",
            "examples/release-train/plugin",
            "taskie/plugin",
            "stages/plugin",
        ] {
            let copy = self.marketplace.join(part);
            let parent = copy.parent().unwrap_or(&self.marketplace);
            fs_err::create_dir_all(parent).into_diagnostic()?;
            let mut command = Command::new("cp");
            command.arg("-R").arg(repository.join(part)).arg(&copy);
            if !command.status().into_diagnostic()?.success() {
                return Err(miette!("cannot copy {part} to {}", copy.display()));
            }
        }
        Ok(())
    }

    fn fill_project(&self, scenario: &Scenario, words: &Words) -> miette::Result<()> {
        for (path, text) in &scenario.project.files {
            let path = self.project.join(path);
            fs_err::create_dir_all(path.parent().unwrap_or(&path)).into_diagnostic()?;
            fs_err::write(path, words.render(text)?).into_diagnostic()?;
        }
        for arguments in [
            &["init", "-q", "-b", "main"][..],
            &["config", "user.name", "A User"],
            &["config", "user.email", "user@example.org"],
            &["add", "-A"],
            &["commit", "-q", "--allow-empty", "-m", "First"],
        ] {
            let git = self.launch("git", "").with(arguments.iter().copied());
            git.output(COMMAND_TIMEOUT)?;
        }
        Ok(())
    }
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    pairs.iter().map(owned).collect()
}
