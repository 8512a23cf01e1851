#![deny(warnings)]
claudex_loop::machine!(release);

use claudex_loop::{Actor, Beginning, Store};
use release::{AnyLoop, HasPercent, InPhase, Loop, Mode, Start, Transition};

/// For every phase that has the field.
fn percent<P: InPhase + HasPercent>(held: &Loop<P>) -> u64 {
    held.percent()
}

fn show(held: &AnyLoop) {
    let path = held.raw().store().folder().join(format!("{}.state", held.id()));
    let text = std::fs::read_to_string(path).unwrap();
    let names = ["remark", "quick", "file", "tries", "percent", "mood"];
    let lines = text.lines().filter(|line| {
        line.split_once(':')
            .is_some_and(|(name, _)| names.contains(&name))
    });
    println!("{}: {}", held.phase(), lines.collect::<Vec<_>>().join("; "));
}

fn main() {
    let root = std::env::args().nth(1).unwrap();
    let home = claudex_loop::StateHome::at(format!("{root}/state-home"));
    let store = Store::at(format!("{root}/.release").into(), root.clone().into(), &release::STATE, home);
    let start = Start {
        mode: Mode::Release,
        what: "a \"release\"\n".to_owned(),
    };
    let held = start.begin(&store, Beginning::now("me"), Actor::Hook).unwrap();
    let id = held.id().clone();
    show(&held);
    println!("percent {:?}", held.fields().percent);

    let AnyLoop::Building(building) = held else { panic!("it begins in building") };
    println!("{}", building.fields().what.escape_debug());
    let canary: Loop<release::Canary> = building.ship().unwrap();
    println!("{} {}", percent(&canary), canary.mood());
    let refused = canary.widen().unwrap_err();
    println!("{refused}");
    let canary = refused.held.wait().unwrap();
    println!("{}", canary.wait().unwrap_err());

    let open = |actor| AnyLoop::open(&store, &id, actor).unwrap();
    show(&open(Actor::Person));
    let note = |text: Option<&str>, file: Option<&str>, more, quick| Transition::Note {
        text: text.map(str::to_owned),
        file: file.map(str::to_owned),
        more,
        quick,
    };
    let held = open(Actor::Person).take_transition(note(Some("x,\"]"), None, None, None)).unwrap();
    show(&held);
    let held = held.take_transition(note(None, Some("-a/b"), Some(3), Some(true))).unwrap();
    show(&held);
    let held = held.take_transition(note(None, None, None, Some(false))).unwrap();
    show(&held);
    let AnyLoop::Canary(canary) = open(Actor::Hook) else { panic!("it is in canary") };
    let rollout = canary.widen().unwrap();
    println!("{}", rollout.percent());
    show(&open(Actor::Hook));
    let building = rollout.back().unwrap();
    println!("{:?} {:?}", building.into_any().fields().percent, open(Actor::Hook).fields().mood);
    show(&open(Actor::Hook));
    let why = "w".to_owned();
    let finish = Transition::Finish { why, file: "f".to_owned(), most: 7, quick: false };
    show(&open(Actor::Person).take_transition(finish).unwrap());

    let path = store.folder().join(format!("{id}.state"));
    let right = std::fs::read_to_string(&path).unwrap();
    for wrong in ["size: many", "loud: maybe", "hue: green", "size: \"7\""] {
        let (name, _) = wrong.split_once(':').unwrap();
        let line = right.lines().find(|line| line.starts_with(&format!("{name}:"))).unwrap();
        std::fs::write(&path, right.replace(line, wrong)).unwrap();
        match AnyLoop::open(&store, &id, Actor::Hook) {
            Ok(held) => println!("{wrong} is undone: {}", held.fields().size),
            Err(error) => println!("{}", error.to_string().replace(id.as_str(), "ID")),
        }
    }
}
