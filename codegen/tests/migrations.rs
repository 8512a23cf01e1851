//! `[[migrations]]`: what is wrong with an entry, each with place and remedy; and the shape whose digest they name.

#[macro_use]
mod support;

const HASH: &str = "0123456789abcdef";

/// A machine without a fault. Line numbers count from the first line, which is empty; an entry begins on line 34.
const DOOR: &str = r#"
name = "door"

[modes.door]
start = "open"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
hash     = { holds = "graph-hash" }
begun    = { holds = "started" }
tries    = { type = "count" }
color    = { one_of = ["red", "green"] }
owner    = { type = "text" }

[phases.open]

[phases.closed]
terminal = true
stored   = "shut"

[[transitions.shut]]
from     = "open"
to       = "closed"
set      = { tries = "tries + 1" }
requires = "settled"
by       = ["person"]

"#;

fn said(edits: &[(&str, &str)]) -> String {
    let own = claudex_build::graph_hash(&machine(DOOR));
    support::found(
        &support::edited(DOOR, edits)
            .replace("HASH", HASH)
            .replace("OWN", &own),
    )
}

cases! {
    the_machine_that_cases_add_to_is_right: [] says "nothing";
    an_entry_with_everything: ["" => "[[migrations]]\nfrom = [\"HASH\", \"fedcba9876543210\"]\ndoc = \"x\"\nphases = { wide = \"open\", shut = \"closed\" }\nfields = { keeper = \"owner\", start = \"begun\" }\nwords = { color = { blue = \"green\" } }\nset = { tries = 3 }\n"] says "nothing";
    a_table_in_place_of_a_list: ["" => "[migrations]\nfrom = \"HASH\"\n"] says "m.toml:33:2: `migrations` is a list of entries, not a table (write `[[migrations]]`, with two brackets)";
    no_from: ["" => "[[migrations]]\nset = { tries = 3 }\n"] says r#"m.toml:33:1: the migration has no `from` (add `from = "0a1b2c3d4e5f6071"`)"#;
    an_unknown_key: ["" => "[[migrations]]\nfrom = \"HASH\"\nfield = { keeper = \"owner\" }\n"] says "m.toml:35:1: unknown key `field` in a migration (did you mean `fields`?)";
    no_graph_hash: ["" => "[[migrations]]\nfrom = [\"HASH\", \"0123\", \"0123456789ABCDEF\"]\nset = { tries = 3 }\n"] says r#"m.toml:34:29: "0123" is no graph hash (a graph hash is 16 of 0-9 and a-f: `claudex-loop machine diff OLD NEW` prints it) & m.toml:34:37: "0123456789ABCDEF" is no graph hash (a graph hash is 16 of 0-9 and a-f: `claudex-loop machine diff OLD NEW` prints it)"#;
    an_entry_that_does_nothing: ["" => "[[migrations]]\nfrom = \"HASH\"\ndoc = \"x\"\n"] says "m.toml:33:1: the migration does nothing (give `phases`, `fields`, `words` or `set`; what is safe needs no entry)";
    a_version_migrated_twice: ["" => "[[migrations]]\nfrom = \"HASH\"\nset = { tries = 3 }\n[[migrations]]\nfrom = \"HASH\"\nset = { tries = 4 }\n"] says "m.toml:37:8: `0123456789abcdef` is migrated twice (a loop goes through the entry of its version and all that follow: put both into one)";
    the_machine_itself: ["" => "[[migrations]]\nfrom = \"OWN\"\nset = { tries = 3 }\n"] says "m.toml:34:8: `1211b876474ae5c0` is this machine itself (name the version that the loops on disk were written by)";
    an_unknown_phase: ["" => "[[migrations]]\nfrom = \"HASH\"\nphases = { wide = \"opne\" }\n"] says "m.toml:35:19: no phase is named `opne`, and no later migration renames it (did you mean `open`?)";
    an_unknown_field: ["" => "[[migrations]]\nfrom = \"HASH\"\nfields = { keeper = \"ownr\" }\nset = { trise = 3 }\nwords = { colour = { a = \"red\" } }\n"] says "m.toml:35:21: no field is named `ownr`, and no later migration renames it (did you mean `owner`?) & m.toml:36:9: no field is named `trise`, and no later migration renames it (did you mean `tries`?) & m.toml:37:11: no field is named `colour`, and no later migration renames it (did you mean `color`?)";
    an_unknown_word: ["" => "[[migrations]]\nfrom = \"HASH\"\nwords = { color = { blue = \"gren\" } }\n"] says "m.toml:35:28: no word is named `gren`, and no later migration renames it (did you mean `green`?)";
    words_of_a_field_without_any: ["" => "[[migrations]]\nfrom = \"HASH\"\nwords = { owner = { blue = \"green\" } }\n"] says "m.toml:35:11: `owner` has no words (`words` is for a field of `one_of`; give another one its value by `set`)";
    a_constant_of_another_kind: ["" => "[[migrations]]\nfrom = \"HASH\"\nset = { tries = \"3\", color = \"blue\", owner = 3 }\n"] says r#"m.toml:35:17: `tries` is a count, and "3" is none (give a whole number from 0) & m.toml:35:30: `color` has no word "blue" (there are `red` and `green`) & m.toml:35:46: `owner` is a text, and 3 is none (give a text in quotes)"#;
    what_the_engine_keeps: ["" => "[[migrations]]\nfrom = \"HASH\"\nfields = { state = \"phase\", v = \"hash\" }\nset = { begun = \"x\" }\n"] says "m.toml:35:20: `phase` is the engine's: only the engine writes it, and no guard reads it (use a field of the machine's own) & m.toml:35:33: `hash` is the engine's: only the engine writes it, and no guard reads it (use a field of the machine's own) & m.toml:36:17: `begun` is the engine's: only the engine writes it, and no guard reads it (use a field of the machine's own)";
    two_fields_that_become_one: ["" => "[[migrations]]\nfrom = \"HASH\"\nfields = { a = \"owner\", b = \"owner\" }\n"] says "m.toml:35:29: two fields become `owner` (only one value can be kept: leave one of them out)";
    a_field_that_is_renamed_and_set: ["" => "[[migrations]]\nfrom = \"HASH\"\nfields = { a = \"owner\" }\nset = { owner = \"x\" }\n"] says "m.toml:36:9: `owner` gets the value of another field, and is set (leave one of them out)";
    a_name_that_is_none: ["" => "[[migrations]]\nfrom = \"HASH\"\nphases = { Wide = \"open\" }\nfields = { a = 1 }\n"] says r#"m.toml:35:12: "Wide" cannot name a phase (a name is a-z, then a-z, 0-9 and _, at most 64 characters: `wide`) & m.toml:36:16: `a` takes a string, not an integer"#;
    a_chain: ["" => "[[migrations]]\nfrom = \"HASH\"\nphases = { a = \"b\" }\nfields = { x = \"y\" }\nset = { z = \"cyan\" }\n[[migrations]]\nfrom = \"fedcba9876543210\"\nphases = { b = \"open\" }\nfields = { y = \"owner\", z = \"color\" }\nwords = { color = { cyan = \"green\" } }\n"] says "nothing";
    a_chain_that_leads_nowhere: ["" => "[[migrations]]\nfrom = \"HASH\"\nphases = { a = \"b\" }\nfields = { x = \"y\" }\n[[migrations]]\nfrom = \"fedcba9876543210\"\nphases = { b = \"c\" }\n"] says "m.toml:35:16: `b` becomes `c`, and no phase is named so (there are `open` and `closed`) & m.toml:36:16: no field is named `y`, and no later migration renames it (there are `phase`, `id`, `root`, `session`, `revision`, `machine`, `hash`, `begun`, `tries`, `color` and `owner`) & m.toml:39:16: no phase is named `c`, and no later migration renames it (there are `open` and `closed`)";
}

#[test]
fn a_machine_that_keeps_no_version_has_no_migrations() {
    let source = DOOR.replace("hash     = { holds = \"graph-hash\" }\n", "")
        + "[[migrations]]\nfrom = \"0123456789abcdef\"\nset = { tries = 3 }\n";
    let found = claudex_build::check_source("m.toml", &source).unwrap_err();
    assert_eq!(
        found.to_string(),
        "m.toml:32:1: there are migrations, and no field says which version wrote a loop (add `graph_hash = { holds = \"graph-hash\" }` to [fields])"
    );
}

fn machine(source: &str) -> claudex_build::model::Machine {
    claudex_build::check_source("m.toml", source).unwrap_or_else(|found| panic!("{found}"))
}

#[test]
fn the_graph_hash_is_the_same_for_what_says_the_same() {
    let hash = |source: &str| claudex_build::graph_hash(&machine(source));
    let own = hash(DOOR);
    assert_eq!(own.len(), 16);
    assert!(
        own.bytes()
            .all(|byte| byte.is_ascii_digit() || byte.is_ascii_lowercase())
    );
    for (from, to) in [
        (
            "name = \"door\"",
            "# a comment\nname = 'door'\ndoc = \"a doc\"",
        ),
        ("start = \"open\"", "start = \"open\"\ndoc = \"a doc\""),
        (
            "{ type = \"count\" }",
            "{ type = \"count\", initial = 0, doc = \"a doc\" }",
        ),
        (
            "terminal = true",
            "terminal = true\nmeta = { x = 1 }\nmessage = \"x.md\"",
        ),
        (
            "to       = \"closed\"",
            "to = \"closed\"\nmessage = \"x.md\"\ndoc = \"a doc\"",
        ),
        ("[fields]", "[state]\nfolder = \".door\"\n[fields]"),
    ] {
        assert_eq!(hash(&DOOR.replace(from, to)), own, "{to}");
    }
    assert_eq!(
        hash(
            &(DOOR.to_owned()
                + "[[migrations]]\nfrom = \"0123456789abcdef\"\nset = { tries = 3 }\n")
        ),
        own,
        "or no entry could ever name the machine before"
    );
    for (from, to) in [
        ("name = \"door\"", "name = \"gate\""),
        ("[fields]", "[state]\nfolder = \".gate\"\n[fields]"),
        ("[fields]", "[state]\nids = \"name\"\n[fields]"),
        ("{ type = \"count\" }", "{ type = \"count\", initial = 1 }"),
        ("{ type = \"text\" }", "{ type = \"path\" }"),
        ("\"green\"]", "\"blue\"]"),
        ("stored   = \"shut\"", "stored = \"shut-up\""),
        ("tries + 1", "tries + 2"),
        ("\"settled\"", "\"reviewed\""),
        ("[\"person\"]", "[\"person\", \"agent\"]"),
        (
            "to       = \"closed\"",
            "to = \"closed\"\nwhen = \"tries < 9\"",
        ),
    ] {
        let edited = DOOR.replace(from, to);
        assert_ne!(edited, DOOR);
        assert_ne!(hash(&edited), own, "{to}");
    }
}

#[test]
fn the_shape_is_these_bytes() {
    let source = DOOR
        .replace(
            "{ type = \"text\" }",
            "{ type = \"text\", initial = \"a\\u0007\\\"\\\\\\u202E\\n\", at_start = \"required\" }",
        )
        .replace(
            "by       = [\"person\"]",
            "by = [\"person\"]\nargs = { why = \"text\" }\nwhen = 'color == \"red\"'",
        );
    let shape = claudex_build::shape(&machine(&source));
    insta::assert_snapshot!(shape);
}

#[test]
fn a_great_many_names_cost_little() {
    let names: Vec<String> = (0..300).map(|at| format!("p{at} = \"open\"")).collect();
    let mut source = DOOR.to_owned();
    for at in 0..120 {
        source.push_str(&format!(
            "[[migrations]]\nfrom = \"{at:016x}\"\nphases = {{ {} }}\n",
            names.join(", ")
        ));
    }
    let begun = std::time::Instant::now();
    assert!(claudex_build::check_source("m.toml", &source).is_ok());
    assert!(begun.elapsed() < std::time::Duration::from_secs(20));
    source
        .push_str(&"[[migrations]]\nfrom = \"aaaaaaaaaaaaaaaa\"\nset = { tries = 1 }\n".repeat(9));
    let found = claudex_build::check_source("m.toml", &source).unwrap_err();
    assert!(found.to_string().contains("128 are the most"), "{found}");
}
