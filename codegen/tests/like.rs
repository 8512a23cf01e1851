//! `like`: a phase has the `on_stop` of another phase, with its own keys in front.

use claudex_build::generate;

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
    let types = generate("machine.toml", MACHINE)
        .expect("the machine is right")
        .types;
    let parameters = types
        .lines()
        .filter_map(|line| Some(line.split_once("parameters: ")?.1.to_owned()));
    let parameters: Vec<_> = parameters.collect();

    assert_eq!(
        parameters,
        [
            r#"&[("path", "plan.md"), ("before", "0")], reminds: &[],"#,
            r#"&[("path", "check.md"), ("before", "0")], reminds: &[],"#,
            r#"&[("path", "plan.md"), ("before", "0")], reminds: &[],"#,
        ]
    );
}
