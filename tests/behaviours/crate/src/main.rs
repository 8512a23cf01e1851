//! One machine for each behaviour, and a program that takes one step of one of them.
#![deny(warnings)]

mod own_stop;

claudex_loop::machine!(turns);
claudex_loop::machine!(ask);
claudex_loop::machine!(run);
claudex_loop::machine!(wait);
claudex_loop::machine!(own);

use claudex_loop::behaviours::{ask as question, loop_message};
use claudex_loop::machine::{LoopFacts as _, Permissions};
use claudex_loop::process::configured::ConfiguredCommand;
use claudex_loop::{Actor, Beginning, LoopId, Step, Store};

/// Everything by the machine file.
pub struct Usual;

impl turns::OnStop for Usual {}
impl ask::OnStop for Usual {}
impl run::OnStop for Usual {}
impl wait::OnStop for Usual {}

/// Opens the store of a machine below a root, with its only loop.
fn open_store(root: &str, spec: &'static claudex_loop::store::StateSpec) -> (Store, Option<LoopId>) {
    let home = claudex_loop::StateHome::at(format!("{root}/state-home"));
    let store = Store::at(format!("{root}/.loops").into(), root.into(), spec, home);
    let id = store.list().next().map(|listed| listed.id);
    (store, id)
}

/// Returns the permissions in the file that the test names.
fn read_permissions() -> Permissions {
    let file = std::env::var("EVERY_PERMITTED").unwrap();
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let mut words = text.split('\0').map(str::to_owned);
    let mut commands = std::collections::BTreeMap::new();
    if let (Some(name), Some(program)) = (words.next(), words.next()) {
        let environment = words.next().filter(|name| !name.is_empty());
        let seconds = words.next().unwrap().parse().unwrap();
        let command = ConfiguredCommand {
            program,
            environment: environment.into_iter().collect(),
            timeout: std::time::Duration::from_secs(seconds),
            arguments: words.collect(),
        };
        commands.insert(name, command);
    }
    Permissions { commands, file: file.into(), ..Permissions::default() }
}

/// Waits with the open loop for the test's file, so that many processes hold one revision.
fn gate() {
    if let Ok(gate) = std::env::var("EVERY_GATE") {
        std::fs::write(format!("{gate}.{}", std::process::id()), "").unwrap();
        while !std::path::Path::new(&gate).exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    }
}

/// A start or a stop. The value for the start is that of `$field`, if there is one.
macro_rules! step {
    ($machine:ident, $on_stop:expr, $root:expr, $rest:expr $(, $field:ident)?) => {{
        use $machine::{AnyLoop, Mode, OnStop, STATE, Start, TABLE};
        match (open_store($root, &STATE), $rest) {
            ((store, None), ["start", ..]) => {
                let start = Start { mode: Mode::Usual $(, $field: $rest[1].to_owned())? };
                let held = start.begin(&store, Beginning::now("me"), Actor::Hook).unwrap();
                println!("started {}", held.phase());
            }
            ((store, Some(id)), ["stop"]) => {
                let held = AnyLoop::open(&store, &id, Actor::Hook).unwrap();
                let _ = held.raw().program_facts().permissions.set(read_permissions());
                gate();
                match $on_stop.stop(held) {
                    Ok(Step::Moved { now, edge }) => {
                        println!("moved {} {}", edge.transition, now.phase());
                        println!("ends {}", edge.lets_turn_end(&TABLE));
                        let words = loop_message::render(now.raw(), edge.effective_message(&TABLE), Default::default());
                        print!("{}", words.unwrap().unwrap_or_default());
                    }
                    Ok(Step::Waits(held)) => {
                        let question = question::question(held.raw(), None).unwrap();
                        println!("waits\n{}", loop_message::awaited_event(held.raw(), question.as_ref()));
                    }
                    Ok(Step::Over(_)) => println!("over"),
                    Err(refused) => println!("refused {refused}"),
                }
            }
            other => panic!("{other:?}"),
        }
    }};
}

/// The transitions of the user.
macro_rules! person {
    ($machine:ident, $root:expr, $rest:expr, $(($phase:ident, $method:ident)),+) => {{
        use $machine::{AnyLoop, STATE};
        let (store, id) = open_store($root, &STATE);
        let id = id.unwrap();
        let held = AnyLoop::open(&store, &id, Actor::Person).unwrap();
        let transition = match $rest {
            ["answer", header, asked, answer] => {
                let question = question::question(held.raw(), None).unwrap();
                let answer = question
                    .filter(|question| question.matches(header, asked))
                    .and_then(|question| question.answer(answer, true).unwrap());
                answer.map(|answer| answer.transition)
            }
            ["take", transition] => Some(*transition),
            other => panic!("{other:?}"),
        };
        match transition {
            None => println!("nothing"),
            Some(transition) => {
                let result = match (&*transition, held) {
                    $((stringify!($method), AnyLoop::$phase(held)) => held
                        .$method()
                        .map(AnyLoop::from)
                        .map_err(|refused| refused.map(AnyLoop::from)),)+
                    (other, held) => panic!("{other} in {}", held.phase()),
                };
                match result {
                    Ok(held) => println!("took {}", held.phase()),
                    Err(refused) => println!("refused {refused}"),
                }
            }
        }
    }};
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = words.iter().map(String::as_str).collect();
    let (machine, root, rest) = match arguments.as_slice() {
        [machine, root, rest @ ..] => (*machine, *root, rest),
        few => panic!("{few:?}"),
    };
    let by_person = matches!(rest, ["answer" | "take", ..]);
    match machine {
        "ask" if by_person => person!(ask, root, rest, (Asking, promote), (Asking, roll_back)),
        "turns" => step!(turns, Usual, root, rest),
        "ask" => step!(ask, Usual, root, rest, version),
        "run" => step!(run, Usual, root, rest),
        "wait" => step!(wait, Usual, root, rest, sign),
        "own" => step!(own, own_stop::ThreeLines, root, rest),
        other => panic!("{other}"),
    }
}
