//! Generated code among strict neighbours: without a warning of rustc's or of clippy's pedantic ones, documented, and with
//! types that may go to another thread. For every machine of the workspace, in a crate outside of it.

#[path = "support/machines.rs"]
mod machines;
#[path = "support/stranger.rs"]
mod stranger;

use claudex_build::model::FieldKind;
use claudex_testkit::pairs::type_of;

const HEAD: &str = "//! The code of every machine.
#![warn(clippy::nursery, clippy::pedantic, missing_docs, rust_2018_idioms, unreachable_pub)]
// What these look at follows from the machine file: `machine!` allows it too.
#![allow(unused_comparisons, clippy::absurd_extreme_comparisons, clippy::comparison_to_empty, clippy::eq_op)]
#![allow(clippy::int_plus_one, clippy::nonminimal_bool, clippy::overly_complex_bool_expr)]
#![allow(clippy::missing_errors_doc, clippy::too_many_lines, clippy::should_implement_trait)]

pub mod machines;

const fn may_go_anywhere<T: Send + Sync + Unpin + 'static>() {}

";

/// Names that Rust, its prelude or the generated code itself have; and all phases but one in each match.
const NAMES: &str = r#"name = "p"

[modes.gen]
start = "clone"

[modes.some]
start = "clone"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
async    = { type = "flag", at_start = "required", doc = "\u202egnp.exe" }
type     = { one_of = ["some", "gen", "2"], in = ["clone", "copy"] }
raws     = { type = "count", in = ["copy"] }
r        = { type = "text" }

[phases.clone]
doc = "\u202egnp.exe"

[phases.copy]
on_stop.review = { subject = "X", round = "raws", clean = "gen", findings = "gen", failed = "gen" }

[phases.err]

[phases.ok]
terminal = true

[[transitions.n]]
from = "clone"
to   = "copy"
when = "async == true"

[[transitions.n]]
from = "clone"
to   = "err"
when = "async == false"

[[transitions.gen]]
from = "copy"
to   = "err"

[[transitions.debug]]
from = "err"
to   = "ok"

[[transitions.drop]]
from = ["clone", "copy", "err"]
to   = "ok"
by   = ["agent"]
args = { raw = "text", other = "text", refused = "text", n = "text", value = { type = "text", doc = "\u202e" } }
set  = { r = "args.raw" }
"#;

/// The crate: the modules, and an assertion for each type.
fn library(all: &[machines::Found]) -> String {
    let mut text = String::from(HEAD);
    for found in all {
        let mut types = vec!["AnyLoop", "Fields", "Phase", "Transition", "Mode", "Start"]
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        for phase in &found.machine.phases {
            types.push(format!(
                "Loop<machines::{}::{}>",
                found.module,
                type_of(&phase.name.value)
            ));
        }
        for field in &found.machine.fields {
            if matches!(field.kind, FieldKind::OneOf(_)) {
                let name = type_of(&field.name.value);
                // Every module has a `Loop`.
                types.push(if name == "Loop" {
                    "LoopWord".to_owned()
                } else {
                    name
                });
            }
        }
        let asserted = types.iter().map(|name| {
            format!(
                "    may_go_anywhere::<machines::{}::{name}>();\n",
                found.module
            )
        });
        text.push_str(&format!(
            "const _: () = {{\n{}}};\n",
            asserted.collect::<String>()
        ));
    }
    text
}

#[test]
fn the_code_of_every_machine_is_without_a_pedantic_warning_and_its_types_are_send_sync_and_unpin() {
    let mut all = machines::all();
    all.push(machines::found("names", all.len(), NAMES.to_owned()));
    let stranger = machines::crate_of("pedantic", &all);
    stranger.write("src/lib.rs", &library(&all));
    let checked = stranger.cargo(&["clippy", "--lib", "--quiet"]);
    let said = String::from_utf8_lossy(&checked.stderr);
    assert!(checked.status.success() && said.is_empty(), "{said}");
}
