//! The arguments that the user typed after a slash command.
//!
//! The prompt hook keeps them byte for byte. Flags come first and end at white space; the rest is
//! one argument. If a command has only flags, a flag's value ends at the next flag. Quotes around
//! a whole value are not part of it.

use std::ffi::OsString;

use clap::{ArgMatches, Command};

use super::app::Program;
use super::caller::{self, Caller};
use super::exit::{Exit, Failure};
use super::info::ProgramInfo;
use super::{arguments, command_line, loops, verbs};
use crate::hooks::prompt;
use crate::machine::EdgeInfo;
use crate::machine::table::FieldKind;
use crate::store::{IdForm, LoopId};

/// Parses a command line that ends with `--from-prompt`, with the typed arguments in its place.
/// They can be taken once. Returns `None` for another command line.
pub(super) fn parse(program: &Program, words: &[OsString]) -> Option<Result<ArgMatches, Failure>> {
    let (last, path) = words.get(1..)?.split_last()?;
    let path: Option<Vec<&str>> = path.iter().map(|word| word.to_str()).collect();
    let path = path.filter(|_| last == "--from-prompt")?;
    Some(parse_typed(program, &path))
}

fn parse_typed(program: &Program, path: &[&str]) -> Result<ArgMatches, Failure> {
    let name = path.first().copied().unwrap_or_default();
    let last = path.last().copied().unwrap_or_default().replace('_', "-");
    // Commands that only show loops need no arguments.
    let shows_loops = command_line::shows_loops(name);
    let stored = take(program.info, &last.replace("journal", "history"))?;
    let typed = stored.or(shows_loops.then(String::new)).ok_or_else(|| {
        let name = program.info.program;
        let help = format!(
            "type the slash command itself (it keeps them for ten minutes), or give the arguments here instead of --from-prompt. \
             If it was typed, the client does not run this plugin's hooks: {name} doctor says why"
        );
        let problem = "no arguments of this command are stored for this session";
        Failure::with_help(Exit::Usage, problem, &help)
    })?;

    let whole = command_line::command(program).no_binary_name(true);
    let command = command_line::find(&whole, &path.join(" ")).unwrap_or(&whole);
    let mut commands = program.extension.commands().into_iter();
    let (flags, text) = if commands.any(|command| command.get_name() == name) {
        (Vec::new(), typed.as_str())
    } else if let Some(edge) = verbs::find(program.info.table, name) {
        split_verb(program.info, &edge, command, &typed)
    } else {
        split(command, &typed)
    };
    let mut words: Vec<String> = path.iter().map(|word| (*word).to_owned()).collect();
    words.extend(flags);
    if !text.trim().is_empty() {
        words.extend(["--".to_owned(), text.to_owned()]);
    }
    Ok(whole.try_get_matches_from(words)?)
}

/// Takes and removes the kept text after this session's slash command, if any.
fn take(info: &ProgramInfo, command: &str) -> Result<Option<String>, Failure> {
    let (Some(home), Some(session)) = (info.home(), Caller::from_env().session) else {
        return Ok(None);
    };
    let taken = prompt::take(&session, command, &home).map_err(|error| {
        let problem = format!("cannot read the command that was typed: {error}");
        let help = format!("make {home} writable, and free disk space");
        Failure::with_help(Exit::Internal, problem, &help)
    })?;
    if taken.is_some() {
        caller::note_ticket();
    }
    Ok(taken)
}

/// Splits typed text into leading flags, and the rest without trailing white space.
fn split<'t>(command: &Command, typed: &'t str) -> (Vec<String>, &'t str) {
    let takes_words = command.get_positionals().next().is_some();
    let takes_value = |flag: &str| {
        let mut arguments = command.get_arguments();
        let known = arguments.find(|known| known.get_long() == flag.strip_prefix("--"));
        known.is_some_and(|flag| flag.get_action().takes_values() && !flag.is_require_equals_set())
    };
    let mut flags = Vec::new();
    let mut rest = typed.trim();
    while rest.starts_with("--") {
        // `--plan="my plan.md"`
        let (flag, value) = rest.split_once('=').unwrap_or_default();
        let is_flag = !flag.contains(char::is_whitespace);
        if let Some((value, after)) = quoted(value).filter(|_| is_flag) {
            flags.push(format!("{flag}={value}"));
            rest = after;
            continue;
        }
        let (flag, after) = first_word(rest);
        rest = after;
        if flag == "--" {
            break;
        }
        flags.push(flag.to_owned());
        if takes_value(flag) && !rest.is_empty() {
            let is_whole =
                |(_, after): &(_, &str)| takes_words || after.is_empty() || after.starts_with("--");
            let (value, after) = match quoted(rest).filter(is_whole) {
                Some(parts) => parts,
                None if takes_words => first_word(rest),
                None => before_flag(rest),
            };
            flags.push(value.to_owned());
            rest = after;
        }
    }
    (flags, rest)
}

/// Splits a text after words in quotes, which white space or nothing follows.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|first| "'\"".contains(*first))?;
    let (value, rest) = text[1..].split_once(quote)?;
    let is_whole = rest.is_empty() || rest.starts_with(char::is_whitespace);
    is_whole.then(|| (value, rest.trim_start()))
}

fn first_word(text: &str) -> (&str, &str) {
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (word, rest.trim_start())
}

/// Splits a text at the first white space before a flag.
fn before_flag(text: &str) -> (&str, &str) {
    let gaps = text.match_indices(char::is_whitespace);
    let mut parts = gaps.map(|(at, _)| (&text[..at], text[at..].trim_start()));
    parts
        .find(|(_, after)| after.starts_with("--"))
        .unwrap_or((text, ""))
}

/// Splits typed text into a verb's flags, its argument, and an id: the first or the last word.
fn split_verb<'t>(
    info: &ProgramInfo,
    edge: &EdgeInfo,
    verb: &Command,
    typed: &'t str,
) -> (Vec<String>, &'t str) {
    let is_id = |word: &str| {
        LoopId::parse(word, info.state.ids).is_ok()
            && (info.state.ids == IdForm::Stamp || loops::find(info, Some(word)).is_ok())
    };
    let (mut flags, rest) = split(verb, typed);
    let (id, text) = match first_word(rest) {
        (first, after) if is_id(first) => {
            let (more, text) = split(verb, after);
            flags.extend(more);
            (first, text)
        }
        (value, last) if is_id(last) => (last, value),
        _ => ("", rest),
    };
    let mut own = edge
        .args
        .iter()
        .filter(|argument| !matches!(argument.kind, FieldKind::Flag));
    match own.next().filter(|_| own.next().is_none()) {
        _ if text.is_empty() => {}
        Some(only) => {
            let flag = format!("--{}", arguments::long(only.name));
            let is_typed = (flags.iter()).any(|one| one.split('=').next() == Some(&*flag));
            match flags.last_mut().filter(|_| is_typed) {
                // `--why bad build`
                Some(value) => value.push_str(&format!(" {text}")),
                None => flags.push(format!("{flag}={text}")),
            }
        }
        None => flags.push(text.to_owned()),
    }
    (flags, id)
}

#[cfg(test)]
mod tests {
    use clap::{Arg, ArgAction};

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
        let typed = "--rounds $(x) `id` a--b  --from-draft --rounds \"a b\" --rounds \"a\" \"b\" --rounds it's \"two\"\nlines ";
        let (flags, rest) = split(&start(), typed);
        let expected = [
            "--rounds",
            "$(x) `id` a--b",
            "--from-draft",
            "--rounds",
            "a b",
            "--rounds",
            "\"a\" \"b\"",
            "--rounds",
            "it's \"two\"\nlines",
        ];
        assert_eq!(flags, expected);
        assert_eq!(rest, "");
        let (flags, rest) = split(&start(), "--from-draft too much");
        assert_eq!(flags, ["--from-draft"]);
        assert_eq!(rest, "too much");
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
            ("--rounds=\"a b\" c=\"d\"", vec!["--rounds=a b"], "c=\"d\""),
            ("--rounds 'a b' \"c\"", vec!["--rounds", "a b"], "\"c\""),
            ("-- --rounds is a flag", vec![], "--rounds is a flag"),
            ("- dash first", vec![], "- dash first"),
            ("--rounds", vec!["--rounds"], ""),
            ("  ", vec![], ""),
        ] {
            let (found_flags, found_rest) = split(&start, typed);
            assert_eq!(found_flags, flags, "{typed}");
            assert_eq!(found_rest, rest, "{typed}");
        }
    }
}
