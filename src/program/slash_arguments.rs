//! The arguments that the user typed after a slash command.
//!
//! The prompt hook keeps them byte for byte. No shell splits them: flags come first and end at white space, and the rest is one
//! argument. If a command takes only flags, a flag's value ends at the next flag.

use clap::{Arg, ArgAction, Command};

use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use crate::hooks::prompt;
use crate::store::{LoopId, StateHome};

/// The hidden flag by which a command takes what was typed.
pub const FROM_PROMPT: &str = "from_prompt";

/// Returns the flag.
pub fn flag() -> Arg {
    Arg::new(FROM_PROMPT)
        .long("from-prompt")
        .action(ArgAction::SetTrue)
        .hide(true)
        .help("Take what the command's prompt hook stored")
}

/// Takes and removes the text typed after a slash command of this session, or returns `None` if nothing was kept.
pub(super) fn take(
    info: &ProgramInfo,
    command: &str,
    caller: &Caller,
) -> Result<Option<String>, Failure> {
    let home = StateHome::of_user(info.program);
    let (Some(home), Some(session)) = (home.folder(), caller.session.as_deref()) else {
        return Ok(None);
    };
    prompt::take(session, command, home).map_err(|error| {
        Failure::plain(
            Exit::Internal,
            format!("cannot read the command that was typed: {error}"),
            &format!("make {home} writable, and free disk space"),
        )
    })
}

/// Takes and removes the text typed after a slash command of the user's.
///
/// # Errors
/// Returns an error if nothing was typed after it in the last ten minutes, or if the text cannot be read.
pub fn taken(info: &ProgramInfo, command: &str, caller: &Caller) -> Result<String, Failure> {
    take(info, command, caller)?.ok_or_else(|| {
        Failure::plain(
            Exit::Usage,
            "no arguments of this command are stored for this session".to_owned(),
            &format!(
                "type the slash command itself (it keeps them for ten minutes), or give the arguments here instead of --from-prompt. \
                 If it was typed, the client does not run this plugin's hooks: {} doctor says why",
                info.program
            ),
        )
    })
}

/// Splits what was typed into the flags of a command that stand first, and the rest, byte for byte up to trailing white space.
pub(super) fn split<'t>(command: &Command, typed: &'t str) -> (Vec<&'t str>, &'t str) {
    let takes_words = command.get_positionals().next().is_some();
    let takes_value = |flag: &str| {
        let mut arguments = command.get_arguments();
        let known = arguments.find(|known| known.get_long() == flag.strip_prefix("--"));
        known.is_some_and(|flag| flag.get_action().takes_values() && !flag.is_require_equals_set())
    };
    let mut flags = Vec::new();
    let mut rest = typed.trim();
    while rest.starts_with("--") {
        let (flag, after) = word(rest);
        rest = after;
        if flag == "--" {
            break;
        }
        flags.push(flag);
        if takes_value(flag) && !rest.is_empty() {
            let (value, after) = if takes_words { word(rest) } else { value(rest) };
            flags.push(value);
            rest = after;
        }
    }
    (flags, rest)
}

fn word(text: &str) -> (&str, &str) {
    match text.split_once(char::is_whitespace) {
        Some((word, after)) => (word, after.trim_start()),
        None => (text, ""),
    }
}

/// Splits a value from the flag after it.
fn value(text: &str) -> (&str, &str) {
    let is_flag = |at: &usize| text[..*at].ends_with(char::is_whitespace);
    let end = text.match_indices("--").map(|(at, _)| at).find(is_flag);
    let (value, after) = text.split_at(end.unwrap_or(text.len()));
    (value.trim_end(), after)
}

/// Returns the arguments of a verb: flags, the id of a loop, and the value of its one argument, in any order.
pub(super) fn split_verb(
    verb: &Command,
    typed: &str,
    is_id: impl Fn(&LoopId) -> bool,
    info: &ProgramInfo,
) -> Vec<String> {
    let as_id = |word: &str| LoopId::parse(word, info.state.ids).ok().filter(&is_id);
    let (mut arguments, mut rest) = split(verb, typed);
    let (first, after) = word(rest);
    let mut id = as_id(first);
    if id.is_some() {
        let (flags, text) = split(verb, after);
        arguments.extend(flags);
        rest = text;
    }
    let mut arguments: Vec<String> = arguments.into_iter().map(str::to_owned).collect();

    let is_its_own = |argument: &&Arg| {
        !argument.is_positional() && !argument.is_hide_set() && argument.get_id() != "rejecting"
    };
    let mut own = verb.get_arguments().filter(is_its_own);
    let only = own.next().filter(|_| own.next().is_none());
    if let Some(long) = only.and_then(Arg::get_long).filter(|_| !rest.is_empty()) {
        // A number may stand before the id; a text is all that is left.
        let (first, last) = word(rest);
        let last = as_id(last).filter(|_| id.is_none());
        let value = if last.is_some() { first } else { rest };
        arguments.extend([format!("--{long}"), value.to_owned()]);
        id = id.or(last);
    } else if !rest.is_empty() {
        arguments.push(rest.to_owned());
    }
    arguments.extend(id.map(|id| id.to_string()));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Command {
        Command::new("start")
            .arg(Arg::new("rounds").long("rounds"))
            .arg(
                Arg::new("draft")
                    .long("from-draft")
                    .action(ArgAction::SetTrue),
            )
    }

    #[test]
    fn value_ends_at_next_flag_if_only_flags_are_taken() {
        let typed = "--rounds $(x) `id` a--b  --from-draft --rounds it's \"two\"\nlines ";
        let flags = vec![
            "--rounds",
            "$(x) `id` a--b",
            "--from-draft",
            "--rounds",
            "it's \"two\"\nlines",
        ];
        assert_eq!(split(&start(), typed), (flags, ""));
        let typed = "--from-draft too much";
        assert_eq!(split(&start(), typed), (vec!["--from-draft"], "too much"));
    }

    #[test]
    fn flags_stand_first_and_the_rest_is_kept() {
        let start = start().arg(Arg::new("topic").num_args(1..));
        for (typed, flags, rest) in [
            (
                " --rounds 2 --from-draft fix `it`; $(x) --rounds 9\n\"quoted\" ",
                vec!["--rounds", "2", "--from-draft"],
                "fix `it`; $(x) --rounds 9\n\"quoted\"",
            ),
            ("--rounds=7 x", vec!["--rounds=7"], "x"),
            ("-- --rounds is a flag", vec![], "--rounds is a flag"),
            ("- dash first", vec![], "- dash first"),
            ("--rounds", vec!["--rounds"], ""),
            ("  ", vec![], ""),
        ] {
            assert_eq!(split(&start, typed), (flags, rest));
        }
    }
}
