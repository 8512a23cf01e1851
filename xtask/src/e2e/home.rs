//! A scenario's own world on disk: home, project, programs and plugins, outside of any repository.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use miette::IntoDiagnostic as _;
use serde_json::Value;

use super::scenario::Scenario;
use super::words::Words;
use super::{leftovers, process};

/// Our own programs. The first one is asked about loops if a check names no other.
pub(super) const PROGRAMS: [&str; 4] = ["claudex-loop", "release-train", "taskie", "stages"];

/// The limit for a program that does one thing and ends, also on a busy machine.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(180);

/// The clients' key for the scripted service.
pub(super) const API_KEY: &str = "sk-ant-scripted-0000000000000000";

/// The programs that a scenario is played with.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    pub(super) claude: PathBuf,
    pub(super) codex: Option<PathBuf>,
    pub(super) ours: PathBuf,
    /// A release archive, if the scenario needs one.
    pub(super) archive: PathBuf,
}

/// The folders of one scenario.
#[derive(Debug)]
pub(super) struct Home {
    /// The folder with all others.
    pub(super) folder: PathBuf,
    pub(super) home: PathBuf,
    marketplace: PathBuf,
    pub(super) project: PathBuf,
    pub(super) words: Words,
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
    ) -> miette::Result<Self> {
        let home = folder.join("home");
        let project = folder.join(&scenario.project.folder);
        let marketplace = folder.join(scenario.marketplace.as_deref().unwrap_or("market place"));
        let bin = folder.join("bin");
        let tmp = folder.join("tmp");
        let claude = home.join(".claude");
        let config = home.join(".config/claudex-loop");
        for made in [&project, &bin, &tmp, &claude, &config, &marketplace] {
            fs_err::create_dir_all(made).into_diagnostic()?;
        }
        let link = |program: &Path, name| symlink(program, bin.join(name)).into_diagnostic();
        link(&programs.claude, "claude")?;
        for name in PROGRAMS {
            link(&programs.ours.join(name), name)?;
        }
        if let Some(codex) = &programs.codex {
            link(codex, "codex")?;
        }
        let mut copy = Command::new("cp");
        copy.args(["-R", "--parents", ".claude-plugin", "plugin"])
            .args(["examples/release-train/plugin", "taskie/plugin"])
            .arg("stages/plugin")
            .arg(&marketplace)
            .current_dir(repository);
        crate::output(&mut copy)?;

        let paths = [
            ("repository", repository),
            ("project", &project),
            ("home", &home),
            ("folder", &folder),
            ("marketplace", &marketplace),
            ("archive", &programs.archive),
        ];
        let paths = paths.map(|(name, path)| (name.to_owned(), path.display().to_string()));
        let words = Words::default().with(paths);
        let setup = words.render(scenario)?;
        let config_text = setup.config.as_deref().unwrap_or("reviewer = \"lint\"\n");
        fs_err::write(config.join("config.toml"), config_text).into_diagnostic()?;
        if let Some(settings) = setup.settings {
            fs_err::write(claude.join("settings.json"), settings).into_diagnostic()?;
        }
        for (path, text) in setup.project.files {
            write_file(&project.join(path), &text)?;
        }

        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
        let env = [
            ("PATH", &*path),
            ("LANG", "C.UTF-8"),
            ("TZ", "UTC"),
            ("HOME", &home.to_string_lossy()),
            ("CLAUDE_CONFIG_DIR", &claude.to_string_lossy()),
            ("TMPDIR", &tmp.to_string_lossy()),
            ("CLAUDE_CODE_TMPDIR", &tmp.to_string_lossy()),
            ("SCRIPTED_KEY", API_KEY),
            (leftovers::MARK, &folder.to_string_lossy()),
            ("GIT_CONFIG_NOSYSTEM", "1"),
        ];
        let env = env.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut home = Self {
            env: env.to_vec(),
            ours: programs.ours.clone(),
            folder,
            home,
            marketplace,
            project,
            words,
        };
        let commit = "git init -q -b main && git config user.name 'A User' &&
            git config user.email user@example.org && git add -A &&
            git commit -q --allow-empty -m First";
        output(home.command("/bin/sh").args(["-c", commit]))?;
        home.env.extend(setup.env);
        Ok(home)
    }

    /// Prepares a program to run in the project. It does not inherit our environment.
    pub(super) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .env_clear()
            .envs(self.env.iter().cloned())
            .current_dir(&self.project);
        command
    }

    pub(super) fn client(&self, url: &str) -> Command {
        let mut command = self.command(self.folder.join("bin/claude"));
        command.envs([
            ("ANTHROPIC_BASE_URL", url),
            ("ANTHROPIC_API_KEY", API_KEY),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("CLAUDE_CODE_MAX_RETRIES", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            // Allows bypassPermissions as root.
            ("IS_SANDBOX", "1"),
        ]);
        command
    }

    /// Installs plugins from the copied marketplace as a user does.
    pub(super) fn install_plugins(&self, scenario: &Scenario) -> miette::Result<()> {
        // The address of the service is not used.
        let plugin = |arguments: &[&str]| {
            let mut client = self.client("http://127.0.0.1:9");
            output(client.arg("plugin").args(arguments))
        };
        let usual = ["claudex".to_owned()];
        let names = scenario.plugins.as_deref().unwrap_or(&usual);
        if !names.is_empty() {
            plugin(&["marketplace", "add", &self.marketplace.to_string_lossy()])?;
        }
        for name in names {
            plugin(&["install", &format!("{name}@claudex-engine")])?;
        }
        Ok(())
    }

    /// Configures Codex, with the service at `url` as its only model.
    pub(super) fn configure_codex(&self, url: &str) -> miette::Result<()> {
        let text = format!(
            "model = \"scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\n\
             name = \"scripted\"\nbase_url = \"{url}/v1\"\nwire_api = \"responses\"\n\
             env_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n"
        );
        write_file(&self.home.join(".codex/config.toml"), &text)
    }

    pub(super) fn ask(&self, program: &str, arguments: &[&str]) -> miette::Result<String> {
        output(self.command(self.ours.join(program)).args(arguments))
    }

    /// Returns a program's loops, the newest last: the id and the state document of each.
    pub(super) fn loops(&self, program: &str) -> miette::Result<Vec<[String; 2]>> {
        let list = self.ask(program, &["list", "--json"])?;
        let list: Vec<Value> = serde_json::from_str(&list).into_diagnostic()?;
        let keys =
            |it: &Value| ["id", "state"].map(|key| it[key].as_str().unwrap_or_default().to_owned());
        let mut loops: Vec<_> = list.iter().map(keys).collect();
        loops.sort();
        Ok(loops)
    }
}

pub(super) fn write_file(path: &Path, text: &str) -> miette::Result<()> {
    fs_err::create_dir_all(path.with_file_name("")).into_diagnostic()?;
    fs_err::write(path, text).into_diagnostic()
}

fn output(command: &mut Command) -> miette::Result<String> {
    process::output(command, COMMAND_TIMEOUT)
}
