//! Claude Code as it is set up here: its version, whether it calls our hooks, and which Stop hooks of others it runs.

use std::path::{Path, PathBuf};

use crate::hooks::OLDEST_CLIENT;
use crate::program::client_files::Places;
use crate::program::foreign_hooks::{self, HookKind, StopHook, Survey};
use crate::program::info::ProgramInfo;
use crate::program::locate;
use crate::review::claude;
use crate::text;
use camino::Utf8Path;

use super::{Check, Problem, tools};

/// The program of the client that this runs in.
const OWN: &str = "CLAUDE_CODE_EXECPATH";
/// Most hooks of others that are named.
const NAMED: usize = 3;

/// The client, our hooks in it, and the others'.
pub(super) fn checks(info: &'static ProgramInfo, here: &Utf8Path) -> [Check; 3] {
    let root = locate::root(info.state, here);
    let places = Places::from_env(here, &root);
    let survey = foreign_hooks::survey(&places, info.into());
    [
        Check::useful("client", client(&root)),
        Check::useful("plugin", own(info, &survey, &places)),
        Check::useful("other hooks", of_others(info, &survey)),
    ]
}

/// Whether the client is one that loops are tested with.
fn client(root: &Utf8Path) -> Result<String, Problem> {
    let inside = std::env::var_os(OWN).map(PathBuf::from);
    let inside = inside.filter(|file| file.is_absolute() && file.is_file());
    let Some(program) = inside.or_else(|| tools::found("claude", root)) else {
        return Ok("not looked at: no `claude` in PATH".to_owned());
    };
    judged(
        &program,
        tools::version(&program, &claude::variables(), root),
    )
}

fn judged(program: &Path, version: Result<String, String>) -> Result<String, Problem> {
    let oldest = OLDEST_CLIENT.map(|part| part.to_string()).join(".");
    let shown = program.display();
    let said = version.map_err(|what| Problem::new(what, "install Claude Code anew"))?;
    match numbers(&said) {
        Some(found) if found < OLDEST_CLIENT => Err(Problem::new(
            format!(
                "{shown} is {said}, and the oldest version that loops are tested with is {oldest}"
            ),
            "run `claude update`; with an older one a loop may not be driven",
        )),
        Some(_) => Ok(format!(
            "{shown} is {said}; the oldest that is tested is {oldest}"
        )),
        None => Ok(format!(
            "{shown} says {said}, which names no version; the oldest that is tested is {oldest}"
        )),
    }
}

/// `2.1.330 (Claude Code)` as its three numbers.
fn numbers(said: &str) -> Option<[u64; 3]> {
    let mut parts = said
        .split([' ', '-'])
        .next()?
        .split('.')
        .map(|part| part.parse().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Whether the client calls our Stop hook, and once.
fn own(info: &ProgramInfo, survey: &Survey, places: &Places) -> Result<String, Problem> {
    if let Some((file, key)) = &survey.off {
        return Err(Problem::new(
            format!("{file} has `{key}`: the client runs no hook of ours, so no loop is driven"),
            "take that out of the file",
        ));
    }
    if let Some(file) = places.unreadable().first() {
        return Err(Problem::new(
            format!("{file} is no JSON"),
            "mend it: the client takes no hook from it as it is",
        ));
    }
    let ours: Vec<String> = survey.of(HookKind::Ours).map(place).collect();
    match ours.as_slice() {
        [] if info.plugin.is_some() => {
            let config = places.config.as_ref();
            let config =
                config.map_or("the client's configuration".to_owned(), ToString::to_string);
            Ok(format!(
                "not installed in {config}; a plugin that the client was given with --plugin-dir is not seen here"
            ))
        }
        [] => Err(Problem::new(
            format!("no Stop hook calls {}: no loop is driven", info.program),
            format!(
                "put what this prints into .claude/settings.json:\n    {} hooks",
                info.program
            ),
        )),
        [one] => Ok(format!("our Stop hook is called by {one}")),
        several => Err(Problem::new(
            format!(
                "our Stop hook is called {} times, by {}",
                several.len(),
                several.join(" and by ")
            ),
            "keep one: each stop is answered that often, and reminders are used up sooner; `claude plugin list` shows the plugins, \
             `claude plugin disable NAME@MARKETPLACE` switches one off",
        )),
    }
}

/// The Stop hooks of others. That there is one is no fault: both are heard.
fn of_others(info: &ProgramInfo, survey: &Survey) -> Result<String, Problem> {
    if survey.off.is_some() {
        return Ok("none runs: hooks are switched off".to_owned());
    }
    if let Some(rival) = survey.of(HookKind::SharesState).next() {
        let ours = survey.of(HookKind::Ours).next().map(switch_off);
        let ours = ours.map_or_else(String::new, |ours| format!("; to switch ours off: {ours}"));
        return Err(Problem::new(
            format!(
                "the Stop hook of {} works on {} as ours does: two programs change the same loops",
                place(rival),
                info.state.folder
            ),
            format!(
                "keep one. To switch that one off: {}{ours}",
                switch_off(rival)
            ),
        ));
    }
    if let Some(gate) = survey.of(HookKind::GateOn).next() {
        let more = named(survey.of(HookKind::Blocks));
        return Err(Problem::new(
            format!(
                "Codex's review gate is on for this project ({}): at each stop Codex looks at the turn, for up to 15 minutes, and may hold it \
                 as our loop does{more}",
                place(gate)
            ),
            "to switch it off for this project, type /codex:setup --disable-review-gate in Claude Code. Left on, the agent gets both \
             reasons in one message, and each stop of a loop takes as long as the gate",
        ));
    }
    let blocking: Vec<&StopHook> = survey.of(HookKind::Blocks).collect();
    if let Some(first) = blocking.first() {
        let switch = switch_off(first);
        return Err(Problem::new(
            format!(
                "{} of others may hold a turn as our loop does{}",
                hooks(blocking.len()),
                named(blocking.iter().copied())
            ),
            format!(
                "loops go on beside it: the agent gets both reasons in one message. But where it never lets go, Claude Code ends the turn \
                 after 8 blocks in a row; to switch it off: {switch}"
            ),
        ));
    }
    let rest: Vec<&StopHook> = survey
        .of(HookKind::GateOff)
        .chain(survey.of(HookKind::Other))
        .collect();
    if rest.is_empty() {
        return Ok("no Stop hook of others was found".to_owned());
    }
    Ok(format!(
        "{} of others, and nothing in it speaks of blocking{}",
        hooks(rest.len()),
        named(rest.iter().copied())
    ))
}

/// Says what switches a hook off.
fn switch_off(hook: &StopHook) -> String {
    match &hook.plugin {
        Some(plugin) => format!("claude plugin disable {plugin}"),
        None => format!("take it out of {}", hook.file),
    }
}

fn hooks(count: usize) -> String {
    match count {
        1 => "1 Stop hook".to_owned(),
        count => format!("{count} Stop hooks"),
    }
}

/// `: COMMAND (PLACE); COMMAND (PLACE)`, or nothing.
fn named<'h>(hooks: impl Iterator<Item = &'h StopHook>) -> String {
    let all: Vec<String> = hooks
        .map(|hook| match hook.nature {
            HookKind::GateOff => {
                format!(
                    "Codex's review gate, which is off for this project ({})",
                    place(hook)
                )
            }
            _ => format!("`{}` ({})", text::one_line(&hook.command, 80), place(hook)),
        })
        .collect();
    if all.is_empty() {
        return String::new();
    }
    let more = match all.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    let all: Vec<String> = all.into_iter().take(NAMED).collect();
    format!(": {}{more}", all.join("; "))
}

/// `plugin codex@openai-codex, FILE`, or the file.
fn place(hook: &StopHook) -> String {
    match &hook.plugin {
        Some(plugin) => format!("plugin {plugin}, {}", hook.file),
        None => hook.file.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_its_three_numbers() {
        assert_eq!(numbers("2.1.330 (Claude Code)"), Some([2, 1, 330]));
        assert_eq!(numbers("2.1.330-beta.2 (Claude Code)"), Some([2, 1, 330]));
        for none in ["", "Claude Code", "2.1", "2.1.x", "2.1.3.4", "v2.1.3"] {
            assert_eq!(numbers(none), None, "{none}");
        }
    }

    #[test]
    fn only_an_older_client_is_warned_of() {
        let judge = |said: &str| judged(Path::new("/opt/claude"), Ok(said.to_owned()));
        let oldest = OLDEST_CLIENT.map(|part| part.to_string()).join(".");
        for fine in [
            oldest.as_str(),
            "2.1.330 (Claude Code)",
            "3.0.0",
            "10.0.0",
            "who knows",
        ] {
            assert!(judge(fine).is_ok(), "{fine}");
        }
        for old in ["2.1.197 (Claude Code)", "2.0.999", "1.9.0"] {
            let problem = judge(old).unwrap_err();
            assert!(
                problem.what.contains(&oldest) && problem.what.contains(old),
                "{problem:?}"
            );
        }
        assert!(judged(Path::new("/opt/claude"), Err("it fails".to_owned())).is_err());
    }
}
