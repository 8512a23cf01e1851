//! `like`: a phase has the `on_stop` of another phase, with its own keys in front.

use claudex_build::check_source;

const MACHINE: &str = r#"
name = "gate"

[modes.gate]
start = "drafting"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }

[phases.drafting.on_stop.require-file]
path    = "plan.md"
before  = "0"
written = "write"

[phases.checking]
like = "drafting"

[phases.checking.on_stop.require-file]
path = "check.md"

[phases.resting]
like = "drafting"

[phases.over]
terminal = true

[[transitions.write]]
from = "drafting"
to   = "checking"

[[transitions.write]]
from = "checking"
to   = "resting"

[[transitions.write]]
from = "resting"
to   = "over"
"#;

#[test]
fn phase_with_like_overrides_single_keys() {
    let machine = check_source("machine.toml", MACHINE).expect("the machine is right");
    let parameters: Vec<String> = machine
        .behaviours()
        .map(|behaviour| {
            let parameters = behaviour.parameters().into_iter();
            let shown: Vec<_> = parameters
                .map(|one| format!("{}={}", one.key, one.value))
                .collect();
            format!(
                "{} -> {}",
                shown.join(" "),
                behaviour
                    .transitions()
                    .map(|name| name.as_str())
                    .collect::<String>()
            )
        })
        .collect();

    assert_eq!(
        parameters,
        [
            "path=plan.md before=0 -> write",
            "path=check.md before=0 -> write",
            "path=plan.md before=0 -> write",
        ]
    );
}
