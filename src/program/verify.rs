//! `verify`: runs the commands that verify the work, and lets a person permit them.
//!
//! A person is shown the exact list, in a terminal, before it is permitted; an agent is told what to ask them for. What an agent wrote into a
//! task file is so never run by a program that its client lets run.

use std::io::{self, IsTerminal as _, Write as _};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;

use super::assembled::{CommandLine, Program};
use super::caller::Caller;
use super::exit::{Exit, Failure};
use super::{consent, loops, messages, out, review};
use crate::behaviours::LoopHandle as _;
use crate::behaviours::verify::{self, Commands, Purpose, Unready, Verification};
use crate::machine::{Actor, Raw};
use crate::text;

/// Runs the commands of the phase that a loop is in.
pub(super) fn verify<M: CommandLine>(
    program: &Program<M>,
    id: Option<&str>,
    permit: bool,
) -> Result<Exit, Failure> {
    let info = program.info;
    let caller = Caller::from_env();
    let actor = caller.actor(false);
    if permit {
        loops::person_only(info, actor, "verify --permit", id)?;
    }
    let (store, id) = loops::find_called(info, id, &caller)?;
    let settings = loops::settings(info, store.root(), None)?;
    let held = loops::open::<M>(&store, &id, actor)?;
    let raw = held.raw();
    program.prepare(&held, &settings, actor);
    let refused = |why: String| {
        let help = messages::unchanged(raw);
        Failure::plain(
            Exit::Refused,
            "claudex::verify",
            format!("loop {id}: {why}"),
            &help,
        )
    };
    let internal = |error: crate::store::StoreError| Failure::new(Exit::Internal, error);
    match verify::ready(raw).map_err(internal)? {
        Err(Unready::Nothing(why)) => return Err(refused(why)),
        Err(Unready::NotPermitted(_)) => {
            let commands = Commands::of(raw).map_err(refused)?.ok_or_else(|| {
                let why = "this phase verifies nothing".to_owned();
                refused(why)
            })?;
            if !permitted(raw, &commands, actor, permit)? {
                out::line("Nothing was permitted, and nothing was run.");
                return Ok(Exit::Refused);
            }
            commands.permit(raw).map_err(internal)?;
            store.log(&format!(
                "{id} verify: a person permitted {} commands",
                commands.lines().len()
            ));
        }
        Ok(commands) if permit => {
            show(&commands);
            out::line("They are permitted already.");
        }
        Ok(_) => {}
    }
    let interrupted = review::interrupts();
    let mut said_waiting = false;
    let ran = verify::verify(raw, Purpose::Verb, &mut |line| {
        match line {
            Some(line) => {
                said_waiting = true;
                out::line(&info.line(&format!("running {}", text::one_line(line, 200))));
            }
            None if !said_waiting => {
                said_waiting = true;
                out::line(&info.line(
                    "another run, or a review, is at work in this loop; waiting for its end",
                ));
            }
            None => {}
        }
        match interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    let came_to = ran
        .map_err(|refusal| refused(refusal.to_string()))?
        .came_to();
    if matches!(came_to, Verification::Passed(_) | Verification::Failed(_)) {
        out::text(&format!("\n{}\n\n", verify::text(raw)));
    }
    match came_to {
        Verification::Passed(_) => {
            out::line(&info.line("all commands passed on the work tree as it is"));
            Ok(Exit::Complete)
        }
        Verification::Failed(why) => {
            out::note(&info.line(&why));
            Ok(Exit::Refused)
        }
        Verification::Missing(why) => Err(refused(why.to_string())),
        Verification::Running => Err(refused("another run is at work in it".to_owned())),
        Verification::Interrupted => Ok(Exit::Interrupted),
    }
}

/// Shows a person the list and asks; an agent, and a person without a terminal, is told what to do.
fn permitted(raw: &Raw, commands: &Commands, actor: Actor, permit: bool) -> Result<bool, Failure> {
    let call = format!("{} verify {}", raw.table().state.program, raw.id());
    if actor == Actor::Agent {
        return Err(Failure::plain(
            Exit::Refused,
            "claudex::verify::permission",
            format!(
                "loop {}: a person has not permitted the commands that verify the work",
                raw.id()
            ),
            &format!(
                "nothing was run; ask the person to look at them and to run in a terminal:\n    {call} --permit"
            ),
        ));
    }
    // What nobody saw, nobody permitted.
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::plain(
            Exit::Refused,
            "claudex::verify::terminal",
            format!(
                "loop {}: there is no terminal to show the commands on that verify the work",
                raw.id()
            ),
            &format!("nothing was run; run it in a terminal:\n    {call}"),
        ));
    }
    show(commands);
    if permit {
        return Ok(true);
    }
    Ok(consent::asked(
        "Permit exactly these commands in this project, and run them now?",
    ))
}

/// Shows the commands, one a line: each is plain, and what is shown is all of it.
fn show(commands: &Commands) {
    let lines = commands.lines().iter();
    let lines: String = lines
        .map(|line| format!("{}{line}\n", text::COMMAND))
        .collect();
    let _ = write!(
        io::stderr(),
        "Commands that verify the work. A name of your configuration runs that command, any other line runs in sh:\n{lines}"
    );
}
