#![deny(warnings)]
claudex_loop::machine!(release);

use claudex_loop::__private::clap::{self, CommandFactory as _, Parser};
use claudex_loop::{Actor, Beginning, Store};
use release::{AnyLoop, HasPercent, InPhase, Loop, Mode, Start, Verb};

#[derive(Parser)]
#[command(name = "kinds")]
struct Line {
    #[command(subcommand)]
    verb: Verb,
}

fn verb(line: &str) -> Verb {
    match Line::try_parse_from(line.split(' ')) {
        Ok(line) => line.verb,
        Err(error) => panic!("{error}"),
    }
}

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
    let held = open(Actor::Person).take(verb("kinds note --text x,\"]")).unwrap();
    show(&held);
    let held = held.take(verb("kinds note --file -a/b --more 3 --quick")).unwrap();
    show(&held);
    let held = held.take(verb("kinds note --quick=false")).unwrap();
    show(&held);
    let AnyLoop::Canary(canary) = open(Actor::Hook) else { panic!("it is in canary") };
    let rollout = canary.widen().unwrap();
    println!("{}", rollout.percent());
    show(&open(Actor::Hook));
    let building = rollout.back().unwrap();
    println!("{:?} {:?}", building.into_any().fields().percent, open(Actor::Hook).fields().mood);
    show(&open(Actor::Hook));
    let done = open(Actor::Person).take(verb("kinds finish --why w --file f --most 7")).unwrap();
    show(&done);

    for wrong in ["kinds note --more -1", "kinds finish --why w", "kinds note --quick=maybe"] {
        let error = Line::try_parse_from(wrong.split(' ')).err().unwrap();
        println!("{}", error.to_string().lines().next().unwrap());
    }
    let mut command = Line::command();
    let help = command.find_subcommand_mut("note").unwrap().render_help().to_string();
    println!("{}", help.lines().find(|line| line.contains("--text")).unwrap().trim());

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
