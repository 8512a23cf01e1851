//! The promises behind the walk, one function for each. It returns a line about its attempts.

use std::collections::HashSet;
use std::io;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, Result, ensure};
use claudex_build::model::Actor;
use serde_json::Value as Json;

use crate::project::Output;
use crate::walk::{Move, State, Walk};

/// The exit code that a shell around the program makes of a `SIGKILL`.
const KILLED_EXIT_CODE: i32 = 137;
const CROWD_SIZE: usize = 16;
const HOOKS: &str = "stop answer prompt session-start pre-compact pre-tool-use";

/// Checks that a refused call changes nothing: a verb that is not open in its phase or to its
/// actor. States of the same phase are alike.
pub(crate) fn refusals(walk: &Walk) -> Result<String> {
    let mut refused = 0;
    let mut known = HashSet::new();
    for (index, state) in walk.states.iter().enumerate() {
        if !known.insert((state.phase, state.journal.is_reviewed)) {
            continue;
        }
        walk.restore(index)?;
        let verbs = walk.verbs().into_iter();
        let calls = verbs.flat_map(|verb| Actor::ALL.iter().map(move |actor| (verb, *actor)));
        for (verb, actor) in calls.filter(|(verb, actor)| !walk.may_be_open(state, verb, *actor)) {
            let verb = Move::verb(verb, actor);
            let place = format!("{}: {verb}", state.path);
            let call = || walk.make(&state.held, &verb);
            let output = walk.unchanged(state, call).with_context(|| place.clone())?;
            let is_refused = output.code != Some(0);
            ensure!(is_refused, "{place} is not open, and exits with 0");
            refused += 1;
        }
    }
    Ok(format!("{refused} calls were refused and changed nothing"))
}

/// Kills a start, a stop and a verb before each of their changes of files. The loop then continues
/// as if the call had not begun or had ended, and the same call does the rest.
pub(crate) fn kills(walk: &Walk) -> Result<String> {
    let start = || {
        walk.project.restore(0)?;
        Ok(walk.start(0)?)
    };
    let mut calls = 1;
    let mut kills = kill_everywhere(walk, start, || {
        let output = walk.start(0)?;
        let exists = !walk.loops()?.is_empty();
        ensure!(exists, "no loop exists, and none can be started: {output}");
        Ok(())
    })?;
    for is_verb in [false, true] {
        let mut steps = walk.states.iter().filter_map(|state| state.step.as_ref());
        let is_wanted = |one: &Move| matches!(one, Move::Verb { .. }) == is_verb;
        let Some((from, one, edge)) = steps.find(|(_, one, _)| is_wanted(one)) else {
            continue;
        };
        let state = &walk.states[*from];
        let call = || {
            walk.restore(*from)?;
            Ok(walk.make(&state.held, one)?)
        };
        let check = || goes_on(walk, state, one, &edge["what"]);
        let place = format!("{} > {one}", state.path);
        calls += 1;
        kills += kill_everywhere(walk, call, check).context(place)?;
    }
    Ok(match kills {
        0 => "left out: a release build has no kill points; give the kit a program with debug assertions"
            .to_owned(),
        _ => format!("{calls} calls were killed at {kills} points"),
    })
}

/// Kills a call at each of its kill points, and checks the state after it. Returns how often.
fn kill_everywhere(
    walk: &Walk,
    call: impl Fn() -> Result<Output>,
    check: impl Fn() -> Result<()>,
) -> Result<usize> {
    for kill_at in 1.. {
        walk.project.kill_at.store(kill_at, Ordering::Relaxed);
        let output = call()?;
        walk.project.kill_at.store(0, Ordering::Relaxed);
        if !matches!(output.code, None | Some(KILLED_EXIT_CODE)) {
            return Ok(kill_at - 1);
        }
        check().with_context(|| format!("killed at change {kill_at}"))?;
    }
    Ok(usize::MAX)
}

/// Checks that the transition was taken, or is taken by the same call.
fn goes_on(walk: &Walk, before: &State, one: &Move, expected: &Json) -> Result<()> {
    let held = &before.held;
    // The first command repairs, and prints that.
    let mut output = walk.project.person(&["status", &held.id])?;
    let is_edited = held.folder.join("replaced-1").exists();
    ensure!(!is_edited, "a kill counts as an edit by hand: {output}");
    if walk.edge_since(before)?.is_none() {
        output = walk.make(held, one)?;
    }
    let edge = walk.edge_since(before)?.unwrap_or_default();
    ensure!(
        edge["what"] == *expected,
        "expected {expected} afterwards, found {edge}: {output}"
    );
    walk.check(held).map(drop)
}

/// Checks that a hook lets the turn end and changes nothing if it cannot read its input.
pub(crate) fn input(walk: &Walk) -> Result<String> {
    walk.restore(0)?;
    let huge = format!("{{\"session_id\": \"{}\"}}", "x".repeat(9 << 20));
    let brackets = "[".repeat(100_000);
    let inputs: [(&str, &[u8]); 8] = [
        ("nothing", b""),
        ("an empty line", b"\n"),
        ("a list", b"[]"),
        ("an object that is cut off", b"{\"session_id\": \"s"),
        ("bytes that are not UTF-8", b"\xff\xfe{}"),
        ("a zero byte", b"\0"),
        ("nine megabytes", huge.as_bytes()),
        ("100,000 brackets", brackets.as_bytes()),
    ];
    let mut tried = 0;
    for hook in HOOKS.split(' ') {
        for (name, input) in inputs {
            let place = format!("`hook {hook}` with {name}");
            let output = walk
                .unchanged(&walk.states[0], || walk.project.hook(hook, input))
                .with_context(|| place.clone())?;
            let answer = output.answer().with_context(|| place.clone())?;
            let is_approved = hook != "stop" || answer["decision"] == "approve";
            ensure!(is_approved, "{place}: it holds the agent: {output}");
            tried += 1;
        }
    }
    Ok(format!(
        "{tried} inputs that no hook can read let the turn end"
    ))
}

/// Checks that of sixteen starts at once one wins if a project has one active loop, and that of
/// sixteen stops each builds on the one before.
pub(crate) fn crowd(walk: &Walk) -> Result<String> {
    walk.restore(0)?;
    let mut blocks = 0;
    for output in run_crowd(|| walk.project.stop())? {
        blocks += usize::from(output.holds()?);
    }
    let held = &walk.states[0].held;
    let journal = held.journal()?;
    let edges = journal.edges_since(&walk.states[0].journal).len();
    ensure!(
        blocks <= edges,
        "{blocks} stops hold the agent, and {edges} took an edge"
    );
    let mut pairs = journal.changes.windows(2);
    let is_chain = pairs.all(|pair| pair[1]["from"] == pair[0]["to"]);
    ensure!(is_chain, "a change does not follow the one before");
    walk.check(held)?;

    walk.project.restore(0)?;
    let outputs = run_crowd(|| walk.start(0))?;
    let is_started = |output: &&Output| output.code == Some(0);
    let started = outputs.iter().filter(is_started).count();
    let loops = walk.loops()?.len();
    let state = &walk.json["state"];
    let is_many = state["active"] == "many" && state["ids"] != "name";
    let needed = if is_many { CROWD_SIZE } else { 1 };
    ensure!(
        started == needed && loops == needed,
        "expected {needed} of {CROWD_SIZE} starts to pass, found {started}, and {loops} loops"
    );
    let changes = journal.changes.len() - 1;
    Ok(format!(
        "{CROWD_SIZE} stops made {changes} changes, and {needed} of {CROWD_SIZE} starts passed"
    ))
}

fn run_crowd(call: impl Fn() -> io::Result<Output> + Sync) -> io::Result<Vec<Output>> {
    std::thread::scope(|scope| {
        let running: Vec<_> = (0..CROWD_SIZE).map(|_| scope.spawn(&call)).collect();
        let outputs = running.into_iter().filter_map(|one| one.join().ok());
        outputs.collect()
    })
}

/// Compares the committed plugin with the one that the program writes now. Files that a user put
/// beside the written ones are not compared.
pub(crate) fn plugin(walk: &Walk) -> Result<String> {
    let Some(committed) = &walk.kit.plugin else {
        return Ok("left out: `Kit::plugin` names no folder".to_owned());
    };
    let project = &walk.project;
    let written = project.root().join("a \"new\" plugin");
    let output = project.person(&["plugin", "write", &written.to_string_lossy()])?;
    let is_written = output.code == Some(0);
    ensure!(is_written, "the plugin cannot be written: {output}");
    let mut git = project.tool("git");
    git.args(["diff", "--no-index", "--name-only", "--diff-filter=d", "--"])
        .args([committed.canonicalize()?, written]);
    let stale = String::from_utf8(git.output()?.stdout)?;
    ensure!(
        stale.is_empty(),
        "stale, since the machine or a text of it has changed: {stale}"
    );
    Ok("the files are as the program writes them".to_owned())
}
