//! The PreToolUse hook: allows tool calls that the session's loop requests, without a dialog, and
//! refuses edits of state documents. The client decides about every other call.
//!
//! The plugin's slash commands allow the same calls for one turn ([`loop_rules`]).

use std::env;
use std::path::PathBuf;

use camino::Utf8Path;

use super::app::Program;
use super::info::ProgramInfo;
use super::locate::{self, FoundLoop, StateFolders};
use super::plugin::commands::loop_rules;
use crate::hooks::{HookOutput, Input, Permission};

pub(super) fn answer(program: &Program, input: &Input) -> Option<HookOutput> {
    let permission = Some(decide(program, input)?);
    Some(HookOutput {
        permission,
        ..HookOutput::default()
    })
}

/// Decides a tool call. Returns `None` if the client is to decide.
fn decide(program: &Program, input: &Input) -> Option<Permission> {
    let argument = |name: &str| input.tool_input.as_ref()?.get(name)?.as_str();
    // A finished loop counts: the agent asks once more for the next step.
    let folders = StateFolders::find_for_hook(program.info.state, input);
    let mut loops = folders.list(|store| store.list().collect());
    loops.retain(|one| one.is_usable() && one.session.is_some() && one.session == input.session_id);
    if loops.is_empty() {
        return None;
    }

    let rules = || loop_rules(program);
    let is_allowed = match input.tool_name.as_deref()? {
        "Bash" => {
            let words = simple_command(argument("command")?)?;
            is_this_program(program.info, words.first()?)
                && rules().iter().any(|rule| allows_command(rule, &words))
        }
        "Write" | "Edit" => {
            let path = locate::real_path(argument("file_path")?.into())?;
            let is_state =
                |one: &FoundLoop| path == one.path || path.starts_with(one.store.folder());
            if loops.iter().any(is_state) {
                let why = "An agent may not edit the state of a loop. If it has to change, ask the user to.";
                return Some(Permission::Deny(why.to_owned()));
            }
            let active = loops.iter().find(|one| !one.terminal)?;
            let path = path.strip_prefix(active.store.root()).ok()?;
            // In the client's plan mode an agent changes nothing.
            input.permission_mode.as_deref() != Some("plan")
                && rules().iter().any(|rule| allows_file(rule, path))
        }
        _ => false,
    };
    is_allowed.then_some(Permission::Allow)
}

/// Splits a simple command into words: no list, pipe, redirection, expansion or assignment.
fn simple_command(line: &str) -> Option<Vec<String>> {
    let mut quote = None;
    for character in line.chars() {
        match quote {
            Some('"') if "$`\\!".contains(character) => return None,
            Some(open) if character == open => quote = None,
            Some(_) => {}
            None if "'\"".contains(character) => quote = Some(character),
            None if character.is_alphanumeric() || " \t/._-:@%+,=".contains(character) => {}
            None => return None,
        }
    }
    shlex::split(line)
}

/// Returns whether a command's first word runs this program: its absolute path, its name as a
/// client's shell finds it on PATH, or the plugin's launcher, which is last on that PATH.
fn is_this_program(info: &ProgramInfo, word: &str) -> bool {
    let root = env::var_os("CLAUDE_PLUGIN_ROOT");
    let launcher = root.map(|root| PathBuf::from(root).join("bin").join(info.program));
    let called = if word == info.program {
        let path = env::var_os("PATH").unwrap_or_default();
        let mut files = env::split_paths(&path).map(|folder| folder.join(word));
        // A relative folder may contain any program.
        let found = files.find(|file| file.is_relative() || file.is_file());
        found.or_else(|| launcher.clone())
    } else {
        Some(word.into())
    };
    let real = |file: PathBuf| file.canonicalize().ok();
    let called = called.filter(|file| file.is_absolute()).and_then(real);
    let ours = [env::current_exe().ok(), launcher];
    called.is_some() && ours.into_iter().flatten().any(|ours| real(ours) == called)
}

/// Returns whether a rule such as `Bash(taskie next:*)` allows a command of this program.
fn allows_command(rule: &str, words: &[String]) -> bool {
    let call = rule
        .strip_prefix("Bash(")
        .and_then(|rule| rule.strip_suffix(":*)"));
    let mut words = words.iter().skip(1);
    let mut is_next = |wanted: &str| words.next().is_some_and(|word| word == wanted);
    call.is_some_and(|call| call.split(' ').skip(1).all(&mut is_next))
}

/// Returns whether a rule such as `Edit(/plans/*/*.md)` or `Edit(/notes/**)` allows a path.
fn allows_file(rule: &str, path: &Utf8Path) -> bool {
    let pattern = rule
        .strip_prefix("Edit(/")
        .and_then(|rule| rule.strip_suffix(')'));
    pattern.is_some_and(|pattern| match pattern.strip_suffix("/**") {
        Some(folder) => path.starts_with(folder) && path != folder,
        None => {
            let mut names = path.iter();
            let mut parts = pattern.split('/');
            parts.all(|part| names.next().is_some_and(|name| matches(part, name)))
                && names.next().is_none()
        }
    })
}

/// Returns whether a name matches a pattern, in which `*` matches any text but a hidden name.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((start, end)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let rest = name.strip_prefix(start);
    let is_hidden = start.is_empty() && name.starts_with('.');
    !is_hidden && rest.is_some_and(|rest| rest.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_command_is_one_command_without_expansion() {
        let line = "/opt/x/stages  report 'a; b $(c)' \"d > e\" ";
        let words = ["/opt/x/stages", "report", "a; b $(c)", "d > e"];
        assert_eq!(simple_command(line).unwrap(), words);
        for line in [
            "taskie next; rm -rf x",
            "taskie next && true",
            "taskie next | sh",
            "taskie next > PLAN.md",
            "taskie next $(touch x)",
            "taskie next \"$(touch x)\"",
            "taskie next `touch x`",
            "taskie next \"`touch x`\"",
            "taskie next\ntouch x",
            "taskie next &",
            "taskie next 'open",
            "taskie next *",
            "taskie next <(touch x)",
            "taskie next \\\ntouch",
        ] {
            assert_eq!(simple_command(line), None, "{line}");
        }
    }

    #[test]
    fn rule_allows_its_verb_alone() {
        let allows = |line: &str| {
            let words = simple_command(line).unwrap();
            allows_command("Bash(stages report:*)", &words)
        };
        assert!(allows("stages report") && allows("/bin/stages report x --json"));
        assert!(!allows("stages reports") && !allows("stages cancel report") && !allows("stages"));
    }

    #[test]
    fn rule_allows_files_of_its_pattern() {
        let allows = |rule: &str, path: &str| allows_file(rule, Utf8Path::new(path));
        let plan = "Edit(/PLAN.md)";
        let plans = "Edit(/.taskie/plans/*/*.md)";
        let below = "Edit(/requirements/**)";
        for (rule, path) in [
            (plan, "PLAN.md"),
            (plans, ".taskie/plans/a b/task-1.md"),
            (below, "requirements/stage-1/summary.md"),
        ] {
            assert!(allows(rule, path), "{path}");
        }
        for (rule, path) in [
            (plan, "docs/PLAN.md"),
            (plans, ".taskie/plans/task-1.md"),
            (plans, ".taskie/plans/a/b/task-1.md"),
            (plans, ".taskie/plans/a/state.json"),
            (plans, ".taskie/plans/a/.hidden.md"),
            (below, "requirements"),
            ("Bash(requirements:*)", "requirements"),
        ] {
            assert!(!allows(rule, path), "{path}");
        }
    }
}
