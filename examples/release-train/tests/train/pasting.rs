//! What the program says, pasted between a shell's quotes, in each phase of a train: see `tests/support/paste.rs`.

use serde_json::{Value, json};

use crate::paste::Shell;
use crate::support::{SESSION, Yard};

/// A version that would run between quotes.
const VERSION: &str = "1'; abort; ' `release-train -f abort` $(abort) \"; abort; \"";

/// The commands of the program, as its help lists them.
fn verbs(yard: &Yard) -> Vec<String> {
    let help = yard.done(&["--help"]);
    let verbs: Vec<String> = help
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| line.starts_with(|one: char| one.is_ascii_lowercase()))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    assert!(verbs.contains(&"approve".to_owned()), "{help}");
    verbs
}

#[test]
fn nothing_that_the_program_says_runs_between_quotes() {
    let mut shell = Shell::new(verbs(&Yard::new()));
    for stops in 0..5 {
        let yard = Yard::new();
        let id = yard.start("hotfix", VERSION);
        yard.write("built");
        for stop in 0..stops {
            hook(&yard, &mut shell, "stop", &format!("stop {stop}"));
        }
        hook(
            &yard,
            &mut shell,
            "session-start",
            &format!("a session after {stops} stops"),
        );
        // What ends the train comes last, so that the others meet it.
        let mut verbs = verbs(&yard);
        verbs.retain(|verb| {
            ![
                "hooks",
                "machine",
                "stop",
                "answer",
                "session-start",
                "completions",
                "man",
            ]
            .contains(&verb.as_str())
        });
        verbs.sort_by_key(|verb| ["roll-back", "abort", "sweep"].contains(&verb.as_str()));
        for verb in &verbs {
            for given in [
                vec![],
                vec![id.as_str()],
                vec!["x `release-train -f abort` $(abort) '; abort; '"],
            ] {
                let line: Vec<&str> = std::iter::once(verb.as_str()).chain(given).collect();
                let what = format!("after {stops} stops: {}", line.join(" "));
                for said in [yard.agent(&line), yard.run(&line)] {
                    shell.check_message(&what, &said.err);
                    // A verb prints the text of its phase, below its line.
                    let (message, block) = said.out.split_once("\n\n").unwrap_or((&said.out, ""));
                    shell.check_commands(&what, message);
                    shell.check_block(&what, block);
                }
            }
        }
    }
    assert!(shell.pasted.len() > 30, "{:?}", shell.pasted);
}

/// Calls a hook, and checks what it says.
fn hook(yard: &Yard, shell: &mut Shell, verb: &str, what: &str) {
    let input = json!({"session_id": SESSION, "cwd": yard.path, "source": "resume"});
    let printed = yard.hook(verb, input.to_string().as_bytes());
    let said: Value = serde_json::from_str(&printed).unwrap_or_default();
    shell.check_message(what, said["systemMessage"].as_str().unwrap_or_default());
    shell.check_block(what, said["reason"].as_str().unwrap_or_default());
    let context = &said["hookSpecificOutput"]["additionalContext"];
    shell.check_message(what, context.as_str().unwrap_or_default());
}
