//! What must be true: of the loop on disk, of what the model was sent, of what the client printed, of files. The loop is asked
//! for through the program itself, as a person would.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use miette::{IntoDiagnostic as _, miette};
use serde_json::Value;

use super::conversation::Conversation;
use super::home::{Home, SOON};
use super::scenario::{Check, FileCheck, Pattern};
use super::words::Words;

/// Where a check looks.
pub(super) struct Place<'a> {
    pub(super) home: &'a Home,
    /// Where its loops and files are, relative to the project's folder.
    pub(super) folder: &'a str,
    pub(super) conversation: &'a Conversation,
    /// What the clients have printed so far, of the session that the check names or of all.
    pub(super) printed: String,
}

/// A loop of the project, as `list --json` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loop {
    pub(super) id: String,
    path: PathBuf,
}

impl Place<'_> {
    /// Looks once.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub(super) fn holds(&self, check: &Check, words: &Words) -> miette::Result<()> {
        if let Some(count) = check.loops {
            let there = self.home.loops(&check.program, self.folder)?;
            expect(there.len() == count, || {
                format!(
                    "{} loops, where {count} were expected: {there:?}",
                    there.len()
                )
            })?;
        }
        self.loop_is(check, words)?;
        self.model_was_sent(check, words)?;
        for pattern in rendered(&check.printed, words)? {
            expect(pattern.is_in(&self.printed), || {
                format!("the client did not print \"{pattern}\"")
            })?;
        }
        for pattern in rendered(&check.not_printed, words)? {
            expect(!pattern.is_in(&self.printed), || {
                format!("the client printed \"{pattern}\"")
            })?;
        }
        self.client_ran(check, words)?;
        check
            .files
            .iter()
            .try_for_each(|file| self.file(file, words))
    }

    /// Returns what the client's events say of its Stop hooks and of the ends of its turns.
    fn client_ran(&self, check: &Check, words: &Words) -> miette::Result<()> {
        let events = || {
            let lines = self.printed.lines();
            lines.filter_map(|line| serde_json::from_str::<Value>(line).ok())
        };
        if let Some(wanted) = &check.stops {
            let decided: Vec<_> = events().filter_map(|event| decision(&event)).collect();
            expect(decided == *wanted, || {
                format!("the Stop hooks decided {decided:?}, where {wanted:?} was expected")
            })?;
        }
        let results = events().filter(|event| event["type"] == "result");
        let said: Vec<_> = results
            .filter_map(|event| event["result"].as_str().map(str::to_owned))
            .collect();
        let said = said.join("\n");
        let mut after = 0;
        for pattern in rendered(&check.said, words)? {
            let Some(end) = pattern.end_in(&said[after..]) else {
                return Err(miette!(
                    "no turn ended with {pattern:?}, but with:\n{}",
                    &said[after..]
                ));
            };
            after += end;
        }
        Ok(())
    }

    fn loop_is(&self, check: &Check, words: &Words) -> miette::Result<()> {
        let asks = check.phase.is_some()
            || check.transitions.is_some()
            || !(check.fields.is_empty()
                && check.journal.is_empty()
                && check.journal_lacks.is_empty());
        if !asks {
            return Ok(());
        }
        let wanted = check
            .r#loop
            .as_ref()
            .map(|id| words.render(id))
            .transpose()?;
        let asked = |arguments: &[&str]| self.home.asked(&check.program, self.folder, arguments);
        let loops = self.home.loops(&check.program, self.folder)?;
        let Some(it) = loops
            .iter()
            .rfind(|it| wanted.as_ref().is_none_or(|id| it.id == *id))
        else {
            return Err(miette!(
                "the project has no loop {}",
                wanted.unwrap_or_default()
            ));
        };
        let phase = check.phase.iter().map(|phase| ("phase", phase));
        let fields = check
            .fields
            .iter()
            .map(|(name, value)| (name.as_str(), value));
        for (name, value) in phase.chain(fields) {
            let value = words.render(value)?;
            let mut found = asked(&["state", "get", &it.path.to_string_lossy(), name])?;
            if found.ends_with('\n') {
                found.pop();
            }
            expect(found == value, || {
                format!(
                    "`{name}` of loop {} is {found:?}, where {value:?} was expected",
                    it.id
                )
            })?;
        }
        if let Some(transitions) = &check.transitions {
            let rendered: Vec<_> = transitions
                .iter()
                .map(|it| words.render(it))
                .collect::<miette::Result<_>>()?;
            let transitions: Vec<_> = rendered
                .iter()
                .flat_map(|it| it.split_whitespace())
                .collect();
            let taken = transitions_of(&asked(&["journal", &it.id, "--json"])?);
            expect(taken == transitions, || {
                format!(
                    "loop {} took {taken:?}, where {transitions:?} was expected",
                    it.id
                )
            })?;
        }
        let journal = asked(&["journal", &it.id])?;
        for pattern in rendered(&check.journal, words)? {
            expect(pattern.is_in(&journal), || {
                format!("the journal has no \"{pattern}\":\n{journal}")
            })?;
        }
        for pattern in rendered(&check.journal_lacks, words)? {
            expect(!pattern.is_in(&journal), || {
                format!("the journal has \"{pattern}\":\n{journal}")
            })?;
        }
        Ok(())
    }

    fn model_was_sent(&self, check: &Check, words: &Words) -> miette::Result<()> {
        let exchanges = self.conversation.of(check.session.as_deref());
        if let Some(count) = check.requests {
            let turns = exchanges.iter().filter(|exchange| exchange.turn).count();
            expect(turns == count, || {
                format!("the model got {turns} requests, where {count} were expected")
            })?;
        }
        let heard: Vec<_> = exchanges
            .iter()
            .map(|exchange| exchange.heard.newest.as_str())
            .collect();
        let heard = heard.join("\n");
        let mut after = 0;
        for pattern in rendered(&check.sent, words)? {
            let Some(end) = pattern.end_in(&heard[after..]) else {
                return Err(miette!(
                    "the model was not sent \"{pattern}\"{}",
                    if pattern.is_in(&heard) {
                        " after what the check names before it"
                    } else {
                        ""
                    }
                ));
            };
            after += end;
        }
        for pattern in rendered(&check.not_sent, words)? {
            expect(!pattern.is_in(&heard), || {
                format!("the model was sent \"{pattern}\"")
            })?;
        }
        Ok(())
    }

    fn file(&self, check: &FileCheck, words: &Words) -> miette::Result<()> {
        let path = self
            .home
            .project
            .join(self.folder)
            .join(words.render(&check.path)?);
        if !check.there {
            return expect(fs_err::symlink_metadata(&path).is_err(), || {
                format!("{} is there", path.display())
            });
        }
        let text = String::from_utf8_lossy(&fs_err::read(&path).into_diagnostic()?).into_owned();
        for pattern in rendered(&check.has, words)? {
            expect(pattern.is_in(&text), || {
                format!("{} has no \"{pattern}\":\n{text}", path.display())
            })?;
        }
        for pattern in rendered(&check.lacks, words)? {
            expect(!pattern.is_in(&text), || {
                format!("{} has \"{pattern}\":\n{text}", path.display())
            })?;
        }
        match &check.is {
            Some(whole) => {
                let whole = words.render(whole)?;
                expect(text == whole, || {
                    format!(
                        "{} is {text:?}, where {whole:?} was expected",
                        path.display()
                    )
                })
            }
            None => Ok(()),
        }
    }
}

/// Returns what one of our Stop hooks decided, where the event tells of one.
fn decision(event: &Value) -> Option<String> {
    if event["subtype"] != "hook_response" || event["hook_event"] != "Stop" {
        return None;
    }
    let output = event["stdout"].as_str()?;
    let output: Value = serde_json::from_str(output).ok()?;
    Some(output["decision"].as_str()?.to_owned())
}

impl Home {
    /// Returns the loops of a program that a folder of the project sees, the newest last.
    ///
    /// # Errors
    /// The program cannot be run, or prints no list.
    pub(super) fn loops(&self, program: &str, folder: &str) -> miette::Result<Vec<Loop>> {
        let list: Value =
            serde_json::from_str(&self.asked(program, folder, &["list", "--json"])?)
                .into_diagnostic()?;
        let mut loops: Vec<_> = list
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|it| {
                Some(Loop {
                    id: it["id"].as_str()?.to_owned(),
                    path: it["state"].as_str()?.into(),
                })
            })
            .collect();
        loops.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(loops)
    }

    /// Returns what one of our programs prints for a person in that folder of the project.
    fn asked(&self, program: &str, folder: &str, arguments: &[&str]) -> miette::Result<String> {
        let mut launch = self.launch(Path::new(program), folder);
        launch.arguments = arguments.iter().map(OsString::from).collect();
        let (status, out, err) = launch.run("", SOON)?;
        if !status.success() {
            return Err(miette!(
                "{program} {arguments:?} ended with {status}: {err}"
            ));
        }
        Ok(out)
    }
}

/// Returns the transitions of a journal, the loop's start apart.
fn transitions_of(journal: &str) -> Vec<String> {
    journal
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|line| line["from"].is_string())
        .filter_map(|line| Some(line["what"].as_str()?.to_owned()))
        .collect()
}

/// Tries `look` until it succeeds or the time is over; then its last error.
///
/// # Errors
/// That of the last look.
pub(super) fn until<T>(
    within: Duration,
    mut look: impl FnMut() -> miette::Result<T>,
) -> miette::Result<T> {
    let deadline = Instant::now() + within;
    loop {
        match look() {
            Err(_) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(100)),
            result => return result,
        }
    }
}

fn rendered(patterns: &[Pattern], words: &Words) -> miette::Result<Vec<Pattern>> {
    patterns
        .iter()
        .map(|pattern| pattern.rendered(|text| words.render(text)))
        .collect()
}

fn expect(holds: bool, otherwise: impl FnOnce() -> String) -> miette::Result<()> {
    if holds {
        Ok(())
    } else {
        Err(miette!("{}", otherwise()))
    }
}
