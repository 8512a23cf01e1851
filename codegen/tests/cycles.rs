//! A loop that could run forever without the user does not build. The messages: `bad/cycle-*.txt`.

/// Returns the unbounded cycles of a machine with these edges. `a` is the start, `end` terminal.
fn unbounded(transitions: &str) -> Vec<String> {
    let source = format!(
        r#"name = "m"
[modes.m]
start = "a"
[fields]
phase    = {{ holds = "phase" }}
id       = {{ holds = "id" }}
root     = {{ holds = "root" }}
session  = {{ holds = "session" }}
revision = {{ holds = "revision" }}
machine  = {{ holds = "machine" }}
i        = {{ type = "count" }}
j        = {{ type = "count" }}
most     = {{ type = "count" }}
word     = {{ one_of = ["x", "y", "z"] }}
flag     = {{ type = "flag" }}
[phases.a]
[phases.b]
[phases.end]
terminal = true
[[transitions.go]]
from = "a"
to = "b"
[[transitions.leave]]
from = ["a", "b"]
to = "end"
{transitions}"#
    );
    let Err(found) = claudex_build::check_source("m.toml", &source) else {
        return Vec::new();
    };
    let cycle = |message: &str| {
        let (_, cycle) = message
            .split_once("nothing bounds the cycle ")
            .unwrap_or_else(|| panic!("{message}"));
        cycle.to_owned()
    };
    found.list.iter().map(|one| cycle(&one.message)).collect()
}

fn edge(name: &str, from: &str, to: &str, rest: &str) -> String {
    format!("[[transitions.{name}]]\nfrom = \"{from}\"\nto = \"{to}\"\n{rest}\n")
}

/// An edge of `b` back to `a`, to which `go` leads from there.
fn back(rest: &str) -> String {
    edge("back", "b", "a", rest)
}

/// An edge of `a` to itself.
fn stay(name: &str, rest: &str) -> String {
    edge(name, "a", "same", rest)
}

#[test]
fn cycle_with_a_bound_is_accepted() {
    for rest in [
        "when = 'i < 3'\nset = { i = \"i + 2\" }",
        "when = 'i <= most'\nset = { i = \"i + 2\" }",
        "when = 'i + 1 < most - 1'\nset = { i = \"i + 2\" }",
        "when = 'i == 2'\nset = { i = \"i + 2\" }",
        "when = 'i < 3 and flag == true'\nset = { i = \"i + 2\" }",
        "when = 'i < 3 or i < most'\nset = { i = \"i + 2\" }",
        "when = 'word == \"x\"'\nset = { word = \"y\" }",
        "when = 'flag != true'\nset = { flag = true }",
        "when = 'args.next == \"on\" and i < 3'\nset = { i = \"i + 1\" }\nby = [\"agent\"]\nargs = { next = { one_of = [\"on\", \"off\"] } }",
        "by = [\"person\"]",
    ] {
        assert_eq!(unbounded(&back(rest)), [""; 0], "{rest}");
    }
}

#[test]
fn cycle_without_a_bound_is_refused() {
    for rest in [
        "",
        "by = [\"person\", \"agent\"]",
        "when = 'i > 3'\nset = { i = \"i + 1\" }",
        "when = 'i != 3'\nset = { i = \"i + 1\" }",
        "when = 'j < 3'\nset = { i = \"i + 1\" }",
        "when = 'i < 3 or flag == true'\nset = { i = \"i + 1\" }",
        "when = 'i < most'\nset = { i = \"i + 1\", most = \"most + 1\" }",
        "when = 'i < 3'\nset = { i = \"i + 0\" }",
        "when = 'i < 3'\nset = { i = \"i - 1\" }",
        "when = 'i < 3'\nset = { i = \"j + 1\" }",
        "when = 'i < 3'\nset = { i = 0 }",
        "when = 'word == \"x\"'\nset = { word = \"x\" }",
        "when = 'i < args.most'\nset = { i = \"i + 1\" }\nby = [\"agent\"]\nargs = { most = \"count\" }",
        "when = 'args.next == \"on\"'\nset = { flag = true }\nby = [\"agent\"]\nargs = { next = { one_of = [\"on\", \"off\"] } }",
    ] {
        let found = unbounded(&back(rest));
        assert_eq!(found.len(), 1, "{rest}: {found:?}");
        assert!(
            found[0].starts_with("of `a` and `b` (by `go` and `back`)"),
            "{found:?}"
        );
    }
}

#[test]
fn reset_counts_unless_outer_bound_or_user_limits_it() {
    let again = stay("again", "when = 'i < 3'\nset = { i = \"i + 1\" }");
    let other = stay("other", "when = 'j < 3'\nset = { j = \"j + 1\", i = 0 }");
    let first = stay("first", "when = 'i < 3'\nset = { i = \"i + 1\", j = 0 }");
    assert_eq!(unbounded(&format!("{first}{other}")).len(), 1);

    let outer = edge(
        "outer",
        "b",
        "a",
        "when = 'i < most'\nset = { i = \"i + 1\", j = 0 }",
    );
    let inner = edge(
        "inner",
        "b",
        "same",
        "when = 'j < 3'\nset = { j = \"j + 1\" }",
    );
    assert_eq!(unbounded(&format!("{outer}{inner}")), [""; 0]);

    let by_person = stay("reset", "set = { i = 0 }\nby = [\"person\"]");
    assert_eq!(unbounded(&format!("{again}{by_person}")), [""; 0]);
    let by_agent = stay("reset", "set = { i = 0 }\nby = [\"agent\"]");
    assert_eq!(unbounded(&format!("{again}{by_agent}")).len(), 1);

    let once = stay("once", "when = 'word == \"x\"'\nset = { word = \"y\" }");
    let next = stay(
        "next",
        "when = 'word == \"y\"'\nset = { word = \"next(word)\" }",
    );
    assert_eq!(unbounded(&format!("{once}{next}")).len(), 1);
}
