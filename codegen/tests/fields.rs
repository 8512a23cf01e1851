//! What is said of times, ids, lists, fields that exist in some phases only, and arguments: each case edits the same
//! right machine, and shows place, message and help.

#[macro_use]
mod support;

/// A machine without a fault. Line numbers count from the first line, which is empty.
const RELEASE: &str = r#"
name = "release"

[modes.full]
start = "building"
[modes.hotfix]
start = "building"

[fields]
phase    = { holds = "phase" }
id       = { holds = "id" }
root     = { holds = "root" }
session  = { holds = "session" }
revision = { holds = "revision" }
machine  = { holds = "machine" }
tries    = { type = "count" }
until    = { type = "time" }
since    = { type = "time", initial = "2026-11-22T08:00:00+01:00" }
parent   = { type = "id", initial = "20261122-005333-0a1b2c" }
notes    = { type = "list", initial = ["first"] }
owner    = { type = "text" }
percent  = { type = "count", initial = 5, in = ["canary", "rollout"] }
quick    = { type = "flag" }

[phases.building]
[phases.canary]
[phases.rollout]
[phases.done]
terminal = true

[[transitions.ship]]
from = "building"
to   = "canary"
set  = { until = "now + 600" }

[[transitions.soak]]
from = "canary"
to   = "rollout"
when = "until <= now and percent >= 5"
set  = { percent = "percent + 20", since = "now" }

[[transitions.finish]]
from = ["rollout", "canary"]
to   = "done"
by   = ["person"]
args = { why = { type = "text", doc = "why", optional = true }, quick = "flag" }
set  = { notes = "notes + args.why", quick = "args.quick" }
"#;

fn said(edits: &[(&str, &str)]) -> String {
    support::found(&support::edited(RELEASE, edits))
}

const GUARD: &str = "\"until <= now and percent >= 5\"";

mod kinds {
    use super::{GUARD, said};

    cases! {
        the_machine_that_cases_edit_is_right: [] says "nothing";
        a_time_that_is_none: ["\"2026-11-22T08:00:00+01:00\"" => "\"tomorrow\""] says r#"m.toml:18:39: `since` is a time, and "tomorrow" is none (give a time with whole seconds, after 1970, such as "2026-11-22T07:00:00Z")"#;
        a_time_with_a_fraction: ["\"2026-11-22T08:00:00+01:00\"" => "2026-11-22T08:00:00.5Z"] says r#"m.toml:18:39: `since` is a time, and "2026-11-22T08:00:00.5Z" is none (give a time with whole seconds, after 1970, such as "2026-11-22T07:00:00Z")"#;
        a_time_as_toml_has_them: ["\"2026-11-22T08:00:00+01:00\"" => "2026-11-22T08:00:00Z"] says "nothing";
        a_time_that_is_not_set: ["\"2026-11-22T08:00:00+01:00\"" => "\"\""] says "nothing";
        an_id_that_is_none: ["20261122-005333-0a1b2c" => "../x"] says r#"m.toml:19:37: `parent` is an id, and "../x" is none (an id is 1 to 64 of A-Z, a-z, 0-9, _ and -; "" is none)"#;
        an_id_is_none_at_first: ["20261122-005333-0a1b2c" => ""] says "nothing";
        a_list_of_numbers: ["[\"first\"]" => "[1]"] says "m.toml:20:40: `initial` takes a string, not an integer";
        a_list_that_is_a_text: ["[\"first\"]" => "\"first\""] says r#"m.toml:20:39: `notes` is a list, and "first" is none (give a list of texts, `["a", "b"]`, or append an argument: `notes + args.text`)"#;
        a_count_that_is_a_list: ["initial = 5" => "initial = [\"5\"]"] says r#"m.toml:22:40: `percent` is a count, and ["5"] is none (give a whole number from 0)"#;
        a_time_compared_with_a_time: [GUARD => "'until + 60 <= since'"] says "nothing";
        a_time_compared_with_a_constant: [GUARD => "'until <= \"2026-11-22T07:00:00Z\"'"] says "nothing";
        a_time_compared_with_no_time: [GUARD => "'until <= \"noon\"'"] says r#"m.toml:39:9: `until` is a time, and "noon" is none (give a time with whole seconds, after 1970, such as "2026-11-22T07:00:00Z")"#;
        a_time_compared_with_a_count: [GUARD => "'until <= tries'"] says "m.toml:39:18: `until` is a time and `tries` is a count (compare fields of one type)";
        now_compared_with_a_count: [GUARD => "'now <= tries'"] says "m.toml:39:16: `now` is a time and `tries` is a count (compare fields of one type)";
        now_compared_with_a_number: [GUARD => "'now > 3'"] says r#"m.toml:39:9: `now` is a time, and 3 is none (give a time with whole seconds, after 1970, such as "2026-11-22T07:00:00Z")"#;
        the_length_of_a_list: [GUARD => "'count(notes) + 1 >= tries'"] says "nothing";
        the_length_of_a_text: [GUARD => "'count(owner) >= 2'"] says r#"m.toml:39:15: `owner` is a text, and only a list is counted (name a field of `type = "list"`)"#;
        the_length_of_nothing: [GUARD => "'count() >= 2'"] says r#"m.toml:39:15: a field is wanted, not `)` (name a field of `type = "list"`: `count(list)`)"#;
        a_length_that_is_not_closed: [GUARD => "'count(notes >= 2'"] says r#"m.toml:39:21: `)` is wanted, not `>=` (name a field of `type = "list"`: `count(list)`)"#;
        a_length_compared_with_a_word: [GUARD => "'count(notes) == \"two\"'"] says r#"m.toml:39:15: `count(notes)` is a count, and "two" is none (give a whole number from 0)"#;
        a_list_compared_with_a_text: [GUARD => "'notes == \"a\"'"] says "m.toml:39:9: `notes` is a list: only its length is compared (write `count(notes)`)";
        an_id_has_no_order: [GUARD => "'parent < \"a\"'"] says "m.toml:39:9: `parent` is an id, which has no order (compare it with == or !=)";
        an_id_compared_with_what_is_none: [GUARD => "'parent == \"a b\"'"] says r#"m.toml:39:9: `parent` is an id, and "a b" is none (an id is 1 to 64 of A-Z, a-z, 0-9, _ and -; "" is none)"#;
        an_id_compared_with_a_text: [GUARD => "'parent == owner'"] says "m.toml:39:19: `parent` is an id and `owner` is a text (compare fields of one type)";
        an_id_compared_with_an_id: [GUARD => "'parent != \"a-b\"'"] says "nothing";
        a_count_named_count: ["tries    =" => "count    =", GUARD => "'count >= 2 and count(notes) > 1'"] says "nothing";
        a_field_named_now: ["tries    =" => "now      ="] says "m.toml:16:1: a field is named `now` (in guards and updates `now` is the time of the commit; rename the field)";
    }
}

mod places {
    use super::said;

    const PHASE: &str = "{ holds = \"phase\" }";
    const BELOW: &str = "{ holds = \"phase\", key = \"loop.phase\" }";
    const STATE: &str = "[modes.full]";
    const QUICK: &str = "quick    = { type = \"flag\" }";
    const NOTES: &str = "quick = { type = \"flag\" }\nkept = { data = \"Notes\" }";
    const FRONTMATTER: &str = "[state]\nform = \"frontmatter\"\n[modes.full]";

    cases! {
        a_field_below_a_key: [PHASE => BELOW, STATE => FRONTMATTER] says "nothing";
        a_key_where_there_are_none_below_keys: [PHASE => BELOW] says "m.toml:10:37: `phase` has a `key`, and only a document of frontmatter has keys below keys (leave `key` out, or write `form = \"frontmatter\"` into [state])";
        a_key_that_is_none: [PHASE => "{ holds = \"phase\", key = \"loop..phase\" }", STATE => FRONTMATTER] says "m.toml:12:37: `key` cannot be \"loop..phase\" (it is keys with `.` between them, at most 8: `loop.phase`. A key is A-Z, a-z, 0-9, - and _, begins with no digit and no -, and is not null, true or false)";
        a_key_that_is_too_deep: [PHASE => "{ holds = \"phase\", key = \"a.b.c.d.e.f.g.h.i\" }", STATE => FRONTMATTER] says "m.toml:12:37: `key` cannot be \"a.b.c.d.e.f.g.h.i\" (it is keys with `.` between them, at most 8: `loop.phase`. A key is A-Z, a-z, 0-9, - and _, begins with no digit and no -, and is not null, true or false)";
        a_key_that_another_field_has: [PHASE => "{ holds = \"phase\", key = \"tries\" }", STATE => FRONTMATTER] says "m.toml:18:1: `tries` and `phase` stand in the same place of a document (give one of them another `key`)";
        a_key_below_another_field: [PHASE => "{ holds = \"phase\", key = \"tries.phase\" }", STATE => FRONTMATTER] says "m.toml:12:37: `phase` and `tries` stand in the same place of a document (give one of them another `key`)";
        text_that_is_added: ["when = \"until" => "append = \"- {owner}\"\nwhen = \"until", STATE => FRONTMATTER] says "nothing";
        text_where_there_is_none: ["when = \"until" => "append = \"text\"\nwhen = \"until"] says "m.toml:39:10: `soak` has an `append`, and only a document of frontmatter has a place for text (leave `append` out, or write `form = \"frontmatter\"` into [state])";
        text_with_a_field_that_there_is_not: ["when = \"until" => "append = \"- {ownr}\"\nwhen = \"until", STATE => FRONTMATTER] says "m.toml:41:10: no field is named `ownr` (did you mean `owner`?)";
        text_with_a_brace: ["when = \"until" => "append = \"a {} b\"\nwhen = \"until", STATE => FRONTMATTER] says "m.toml:41:13: a brace holds no field's name (write `{field}`; text that is added has no other braces)";
        data: [QUICK => NOTES, STATE => FRONTMATTER] says "nothing";
        data_among_lines: [QUICK => NOTES] says "m.toml:24:1: `kept` holds data, and a document of lines has no place for it (write `form = \"json\"` or `form = \"frontmatter\"` into [state])";
        data_of_no_type: [QUICK => "quick = { data = \"Vec<Note>\" }", STATE => FRONTMATTER] says "m.toml:25:18: \"Vec<Note>\" cannot be the name of a Rust type (name a type that is in scope where `machine!` stands: `Decisions`; for one with parameters, make an alias)";
        data_with_an_initial_value: [QUICK => "quick = { type = \"flag\" }\nkept = { data = \"Notes\", initial = 0 }", STATE => FRONTMATTER] says "m.toml:26:26: `kept` holds data, whose first value is its type’s default: it has no `initial` (leave `initial` out)";
        data_that_an_edge_sets: [QUICK => NOTES, "quick = \"args.quick\"" => "kept = \"args.quick\"", STATE => FRONTMATTER] says "m.toml:50:45: `kept` is data, and the argument `quick` is a flag (leave it out: Rust sets it, with `set_kept`)";
        data_that_a_guard_reads: [QUICK => NOTES, "when = \"until" => "when = \"count(kept) < 3 and until", STATE => FRONTMATTER] says "m.toml:42:15: `kept` is data, and no guard reads it (keep what the guard reads in a field of its own)";
        data_whose_setter_is_a_transition: [QUICK => NOTES, "[[transitions.soak]]" => "[[transitions.set_kept]]", STATE => FRONTMATTER] says "m.toml:39:15: the transition `set_kept` and the field `kept` both give the Rust method `set_kept` (the other one: line 26; rename the transition)";
        an_edge_of_the_programs_own_that_nobody_takes: ["when = \"until" => "own = true\nwhen = \"until"] says "m.toml:39:1: `own` says that the verb is the program’s own, and nobody may call it (say who: `by = [\"agent\", \"person\"]`)";
        two_fields_that_change_places: [PHASE => "{ holds = \"phase\", key = \"tries\" }", "tries    = { type = \"count\" }" => "tries = { type = \"count\", key = \"phase\" }", STATE => FRONTMATTER] says "nothing";
    }
}

#[test]
fn where_a_field_stands_is_in_the_code_and_in_the_shape() {
    let below = support::edited(
        RELEASE,
        &[
            (
                "{ type = \"flag\" }",
                "{ type = \"flag\", key = \"how.quick\" }",
            ),
            (
                "[modes.full]",
                "[state]\nform = \"frontmatter\"\n[modes.full]",
            ),
            ("when = \"until", "append = \"- {owner}\"\nwhen = \"until"),
        ],
    );
    let code = claudex_build::generate("m.toml", &below)
        .unwrap_or_else(|found| panic!("{found}"))
        .rust;
    let spaceless: String = code.split_whitespace().collect();
    assert!(spaceless.contains("rt::Form::Frontmatter(&[(\"quick\",\"how.quick\")],&[])"));
    assert!(spaceless.contains("extension:\"md\""));
    assert!(code.contains("frontmatter quick=how.quick"));
    assert!(spaceless.contains("append:Some(\"-{owner}\")"));
}

mod nulls {
    use super::said;

    const PHASE: &str = "holds = \"phase\"";
    const OWNER: &str = "{ type = \"text\" }";
    const TRIES: &str = "tries    = { type = \"count\"";
    const PARENT: &str = "initial = \"20261122-005333-0a1b2c\"";

    cases! {
        a_phase_that_is_null: [PHASE => "holds = \"phase\", null = \"canary\""] says "nothing";
        a_phase_that_there_is_not: [PHASE => "holds = \"phase\", null = \"canery\""] says "m.toml:10:38: no phase is named `canery` (did you mean `canary`?)";
        a_phase_that_is_a_number: [PHASE => "holds = \"phase\", null = 3"] says "m.toml:10:38: `phase` holds the phase, and its `null` is none (name the phase that the document has as null)";
        an_id_of_the_loop_that_is_null: ["holds = \"id\"" => "holds = \"id\", null = \"\""] says "m.toml:11:35: `id` holds what the engine writes, which is never null by a machine’s choice (leave `null` out; the field that holds the phase can have one)";
        a_text_that_is_null: [OWNER => "{ type = \"text\", null = \"\" }"] says "nothing";
        a_text_that_is_a_number: [OWNER => "{ type = \"text\", null = 0 }"] says "m.toml:21:36: `owner` is a text, and 0 is none (give a text in quotes)";
        a_path_that_is_null: [OWNER => "{ type = \"path\", null = \"\" }"] says "nothing";
        a_count_that_is_null: [TRIES => "tries = { type = \"count\", null = 0"] says "nothing";
        a_count_that_is_a_text: [TRIES => "tries = { type = \"count\", null = \"\""] says "m.toml:16:34: `tries` is a count, and \"\" is none (give a whole number from 0)";
        a_word_that_is_null: [OWNER => "{ one_of = [\"a\", \"null\"], null = \"a\" }"] says "nothing";
        a_word_that_is_none: [OWNER => "{ one_of = [\"one\", \"two\"], null = \"tow\" }"] says "m.toml:21:46: `owner` has no word \"tow\" (did you mean `two`?)";
        a_time_that_is_null: ["until    = { type = \"time\" }" => "until = { type = \"time\", null = \"\" }"] says "nothing";
        a_time_that_is_set: ["until    = { type = \"time\" }" => "until = { type = \"time\", null = \"2026-11-22T08:00:00Z\" }"] says "m.toml:17:33: `until` has null where it is not set, and no other value as null (write `null = \"\"`, or leave it out)";
        an_id_that_is_null: [PARENT => "null = \"\""] says "nothing";
        an_id_that_is_set: [PARENT => "null = \"x\""] says "m.toml:19:34: `parent` has null where it is not set, and no other value as null (write `null = \"\"`, or leave it out)";
        a_flag_that_is_null: ["quick    = { type = \"flag\"" => "quick = { type = \"flag\", null = false"] says "m.toml:23:33: `quick` is never null: a flag and a list always have a value (leave `null` out)";
        a_list_that_is_null: ["initial = [\"first\"]" => "null = []"] says "m.toml:20:36: `notes` is never null: a flag and a list always have a value (leave `null` out)";
        a_field_of_some_phases: ["initial = 5" => "null = 5"] says "m.toml:22:37: `percent` is null where it does not exist, and can have no `null` besides (leave `null` or `in` out)";
    }
}

#[test]
fn what_is_null_is_in_the_code_and_in_the_shape() {
    let null = support::edited(
        RELEASE,
        &[
            ("holds = \"phase\"", "holds = \"phase\", null = \"canary\""),
            (
                "[phases.canary]",
                "[phases.canary]\nstored = \"the-canary\"",
            ),
            (
                "tries    = { type = \"count\"",
                "tries = { type = \"count\", null = 0",
            ),
            (
                "until    = { type = \"time\"",
                "until = { type = \"time\", null = \"\"",
            ),
        ],
    );
    let code = claudex_build::generate("m.toml", &null)
        .unwrap_or_else(|found| panic!("{found}"))
        .rust;
    let spaceless: String = code.split_whitespace().collect();
    assert!(spaceless.contains("nulls:&[(\"phase\",\"the-canary\"),(\"tries\",\"0\")]"));
    assert!(code.contains(r#"\"holds\":\"phase\",\"null\":\"the-canary\""#));
    assert!(code.contains("null for `\\\"the-canary\\\"`"));
}

mod edits {
    use super::said;

    const STATE: &str = "[modes.full]";
    const TRIES: &str = "{ type = \"count\" }";
    const GUARD: &str = "when = \"until <= now";

    cases! {
        an_edit_of_a_count: [STATE => "[state]\nedits = [\"tries\", \"quick\"]\n[modes.full]"] says "nothing";
        an_edit_within_bounds: [STATE => "[state]\nedits = [\"tries\"]\n[modes.full]", TRIES => "{ type = \"count\", min = 1, max = 9 }", GUARD => "when = \"tries < 3 and until <= now"] says "nothing";
        an_edit_of_what_a_guard_reads: [STATE => "[state]\nedits = [\"tries\"]\n[modes.full]", GUARD => "when = \"tries < 3 and until <= now"] says "m.toml:5:10: a guard reads `tries`, and an edit could make it any count (say in [fields] what it may be: `min = 1, max = 99`)";
        an_edit_of_what_the_engine_holds: [STATE => "[state]\nedits = [\"phase\"]\n[modes.full]"] says "m.toml:5:10: `phase` is the engine's (leave it out)";
        an_edit_of_a_list: [STATE => "[state]\nedits = [\"notes\"]\n[modes.full]"] says "m.toml:5:10: `notes` is no count, no flag and no `one_of` (leave it out: an edit of a field that no guard reads and no edge sets stays without this)";
        an_edit_of_what_is_not_always_there: [STATE => "[state]\nedits = [\"percent\"]\n[modes.full]", "initial = 5" => "initial = 5, max = 99"] says "m.toml:5:10: `percent` exists in some phases alone (leave its `in` out)";
        an_edit_of_no_field: [STATE => "[state]\nedits = [\"trys\"]\n[modes.full]"] says "m.toml:5:10: no field is named `trys` (add `trys = { type = \"count\" }` to [fields])";
        bounds_of_what_nobody_edits: [TRIES => "{ type = \"count\", max = 9 }"] says "m.toml:16:36: `min` and `max` of `tries` bound nothing (they are for a count that `edits` of [state] lists)";
        bounds_that_leave_nothing: [STATE => "[state]\nedits = [\"tries\"]\n[modes.full]", TRIES => "{ type = \"count\", min = 10, max = 9 }"] says "m.toml:18:36: `tries` can have no value from 10 to 9 (`min` is the smaller one)";
        a_bound_that_is_no_number: [STATE => "[state]\nedits = [\"tries\"]\n[modes.full]", TRIES => "{ type = \"count\", max = \"9\" }"] says "m.toml:18:36: `max` takes a whole number, not a string";
    }
}

mod file {
    use super::said;

    const STATE: &str = "[modes.full]";

    cases! {
        a_file_of_each_loop: [STATE => "[state]\nfile = \"plans/{id}/state.yml\"\nactive = \"many\"\n[modes.full]"] says "nothing";
        a_file_of_all_loops: [STATE => "[state]\nfile = \"plans/state.yml\"\n[modes.full]"] says "nothing";
        a_file_that_two_loops_share: [STATE => "[state]\nfile = \"state.yml\"\nactive = \"session\"\n[modes.full]"] says "m.toml:5:8: two loops could share \"state.yml\" (let `{id}` stand in it, or leave `active` out: one loop at a time)";
        a_file_of_every_name: [STATE => "[state]\nfile = \"state.yml\"\nids = \"name\"\n[modes.full]"] says "m.toml:5:8: \"state.yml\" is every loop's, whatever its name (let `{id}` stand in it, or leave `ids` out: a loop gets a stamp)";
        a_file_in_the_engines_folder: [STATE => "[state]\nfile = \".release/{id}.yml\"\n[modes.full]"] says "m.toml:5:8: \".release/{id}.yml\" may lie in the engine's own folder `.release` (put one of them elsewhere; a document there needs no `file`)";
        a_file_that_may_be_in_the_engines_folder: [STATE => "[state]\nfolder = \"plans/engine\"\nfile = \"plans/{id}/state.yml\"\n[modes.full]"] says "m.toml:6:8: \"plans/{id}/state.yml\" may lie in the engine's own folder `plans/engine` (put one of them elsewhere; a document there needs no `file`)";
        a_file_beside_the_engines_folder: [STATE => "[state]\nfolder = \"plans/.engine\"\nfile = \"plans/state.yml\"\n[modes.full]"] says "nothing";
        a_file_with_another_field: [STATE => "[state]\nfile = \"{owner}/state.yml\"\n[modes.full]"] says "m.toml:5:8: \"{owner}/state.yml\" has something else than one `{id}` in braces (the id is all that may be filled in, once: `plans/{id}/state.json`)";
        a_file_with_two_places: [STATE => "[state]\nfile = \"{id}/{id}.yml\"\n[modes.full]"] says "m.toml:5:8: \"{id}/{id}.yml\" has something else than one `{id}` in braces (the id is all that may be filled in, once: `plans/{id}/state.json`)";
        a_file_out_of_the_project: [STATE => "[state]\nfile = \"../{id}.yml\"\n[modes.full]"] says "m.toml:5:8: `file` cannot be \"../{id}.yml\" (it is a relative path without .., with / between its parts)";
        a_file_with_a_detour: [STATE => "[state]\nfile = \"./{id}.yml\"\n[modes.full]"] says "m.toml:5:8: `file` cannot be \"./{id}.yml\" (it is the path of a file from the loop's root, in its shortest form)";
        a_file_that_is_a_folder: [STATE => "[state]\nfile = \"plans/\"\n[modes.full]"] says "m.toml:5:8: `file` cannot be \"plans/\" (it is the path of a file from the loop's root, in its shortest form)";
        a_file_and_a_shared_folder: [STATE => "[state]\nfolder_env = \"RELEASES\"\nfile = \"{id}.yml\"\n[modes.full]"] says "m.toml:6:8: `RELEASES` may name one folder for several projects, each with its own \"{id}.yml\" (leave `folder_env` or `file` out)";
        a_file_and_an_extension: [STATE => "[state]\nfile = \"{id}.yml\"\nextension = \"yml\"\n[modes.full]"] says "m.toml:6:13: `extension` is of documents in the engine's folder, and `file` puts them elsewhere (leave one of them out)";
    }
}

mod arguments_in_guards {
    use super::{GUARD, said};

    const ARGS: &str =
        "why = { type = \"text\", doc = \"why\", optional = true }, quick = \"flag\"";
    const FINISH: &str = "to   = \"done\"\nby   = [\"person\"]";
    const NEXT: &str = "why = \"text\", quick = \"flag\", word = { one_of = [\"on\", \"back\"] }, score = \"count\", of = \"id\"";

    cases! {
        a_flag: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = \"args.quick == true\""] says "nothing";
        a_word_and_a_count: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.word != \"back\" and args.score >= tries + 2 and (args.why == owner or args.of == parent)'", ARGS => NEXT] says "nothing";
        an_argument_that_there_is_not: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = \"args.quik == true\""] says "m.toml:46:9: `finish` has no argument `quik` (did you mean `quick`?)";
        an_argument_where_there_are_none: [GUARD => "\"args.score >= 3\""] says "m.toml:39:9: `soak` has no argument `score` (add `args = { score = \"count\" }`)";
        an_argument_that_may_be_left_out: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.why == \"\"'"] says "m.toml:46:9: `args.why` may be left out, and a guard has to know it (take `optional` off the argument, or keep what the guard reads in a field)";
        an_argument_of_another_type: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = \"args.quick == tries\""] says "m.toml:46:23: `args.quick` is a flag and `tries` is a count (compare fields of one type)";
        an_argument_that_has_no_order: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.word < \"on\"'", ARGS => NEXT] says "m.toml:46:9: `args.word` is one of some words, which has no order (compare it with == or !=)";
        an_argument_that_is_added_to: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.word + 1 == \"on\"'", ARGS => NEXT] says "m.toml:46:9: `args.word` is one of some words: nothing can be added to it (only a count and a time take + and -)";
        a_word_that_there_is_not: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.word == \"bakc\"'", ARGS => NEXT] says "m.toml:46:9: `args.word` has no word \"bakc\" (did you mean `back`?)";
        an_argument_without_a_name: [GUARD => "\"args. >= 3\""] says "m.toml:39:9: `args.` names no argument (name an argument of the transition: `args.score`)";
        an_argument_and_nothing: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = \"args.quick\""] says "m.toml:46:19: a comparison is wanted, not the end (compare with ==, !=, <, <=, > or >=; a flag is `args.quick == true`)";
        a_guard_that_no_argument_opens: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.word == \"on\" and args.word == \"back\"'", ARGS => NEXT] says "m.toml:46:8: no values make this guard of `finish` hold (counts begin at 0; loosen the guard, or take the edge out)";
        two_edges_that_an_argument_opens: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.word == \"on\"'", ARGS => NEXT, "" => "[[transitions.finish]]\nfrom = \"rollout\"\nto = \"same\"\nby = [\"person\"]\nwhen = 'args.word == \"back\" or args.score == 7'\nargs = { why = \"text\", quick = \"flag\", word = { one_of = [\"on\", \"back\"] }, score = \"count\", of = \"id\" }\n"] says "m.toml:53:8: two edges of `finish` from `rollout` are open at once when args.score = 7 and args.word = \"on\" (let one guard be the opposite of the other)";
        an_argument_that_no_edge_takes: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.word == \"on\"'", ARGS => NEXT, "" => "[[transitions.finish]]\nfrom = \"rollout\"\nto = \"same\"\nby = [\"person\"]\nwhen = 'args.word == \"back\" and args.score >= tries'\nargs = { why = \"text\", quick = \"flag\", word = { one_of = [\"on\", \"back\"] }, score = \"count\", of = \"id\" }\n"] says "m.toml:42:15: no edge of `finish` from `rollout` is open when args.score = 0 and args.word = \"back\" and tries = 1 (widen a guard, or add an edge for what is left)";
        edges_that_arguments_divide: [FINISH => "to = \"done\"\nby = [\"person\"]\nwhen = 'args.word == \"on\"'", ARGS => NEXT, "" => "[[transitions.finish]]\nfrom = \"rollout\"\nto = \"same\"\nby = [\"person\"]\nwhen = 'args.word == \"back\"'\nargs = { why = \"text\", quick = \"flag\", word = { one_of = [\"on\", \"back\"] }, score = \"count\", of = \"id\" }\n"] says "nothing";
        entries_that_differ_in_words: [ARGS => NEXT, "" => "[[transitions.finish]]\nfrom = \"building\"\nto = \"done\"\nby = [\"person\"]\nargs = { why = \"text\", quick = \"flag\", word = { one_of = [\"on\"] }, score = \"count\", of = \"id\" }\n"] says "m.toml:48:15: the entries of `finish` differ in `args` (one transition is one method: write the same `args` in each)";
    }
}

mod words_of_arguments {
    use super::said;

    const QUICK: &str = "quick = \"flag\" }";
    const SET: &str = "quick = \"args.quick\" }";
    const FLAG: &str = "quick    = { type = \"flag\" }";
    const COLOR: &str =
        "quick    = { type = \"flag\" }\ncolor = { one_of = [\"red\", \"green\", \"blue\"] }";

    cases! {
        words_into_a_field_that_has_them: [QUICK => "quick = \"flag\", to = { one_of = [\"blue\", \"red\"] } }", FLAG => COLOR, SET => "quick = \"args.quick\", color = \"args.to\", owner = \"args.to\" }"] says "nothing";
        a_word_that_the_field_has_not: [QUICK => "quick = \"flag\", to = { one_of = [\"red\", \"grene\"] } }", FLAG => COLOR, SET => "quick = \"args.quick\", color = \"args.to\" }"] says "m.toml:48:68: `color` has no word \"grene\", which `args.to` can be (did you mean `green`?)";
        words_into_a_count: [QUICK => "quick = \"flag\", to = { one_of = [\"red\"] } }", SET => "quick = \"args.quick\", tries = \"args.to\" }"] says "m.toml:47:68: `tries` is a count, and the argument `to` is one of some words (a text or a path goes into either, a count into a count, a flag into a flag, an id into an id or a text, a word into a one_of or a text)";
        words_into_a_list: [QUICK => "quick = \"flag\", to = { one_of = [\"red\"] } }", "\"notes + args.why\"" => "\"notes + args.to\""] says "nothing";
        a_text_into_words: [FLAG => COLOR, SET => "quick = \"args.quick\", color = \"args.why\" }"] says "m.toml:48:68: `color` is one of some words, and the argument `why` is a text (a text or a path goes into either, a count into a count, a flag into a flag, an id into an id or a text, a word into a one_of or a text)";
        both_type_and_words: [QUICK => "quick = \"flag\", to = { type = \"text\", one_of = [\"red\"] } }"] says "m.toml:46:103: `to` has both `type` and `one_of` (an argument has one of `type` and `one_of`)";
        neither: [QUICK => "quick = \"flag\", to = { doc = \"red\" } }"] says "m.toml:46:81: the argument `to` has no `type` (add `type = \"text\"`)";
        no_words: [QUICK => "quick = \"flag\", to = { one_of = [] } }"] says "m.toml:46:97: `one_of` is an empty list (name at least the initial word)";
        a_word_twice: [QUICK => "quick = \"flag\", to = { one_of = [\"red\", \"red\"] } }"] says "m.toml:46:105: `red` stands in `one_of` twice (leave one of them out)";
        a_word_with_a_capital: [QUICK => "quick = \"flag\", to = { one_of = [\"Red\"] } }"] says "m.toml:46:98: \"Red\" cannot be a word of `one_of` (a word is a-z, 0-9, - and _, at most 64 characters: `max-reached`)";
        the_type_of_where_a_transition_leads: ["by   = [\"person\"]\nargs" => "by = [\"person\"]\nwhen = \"tries < 3\"\nargs", QUICK => "quick = \"flag\", next = { one_of = [\"red\"] } }", "" => "[[transitions.finish]]\nfrom = \"rollout\"\nto = \"same\"\nby = [\"person\"]\nwhen = \"tries >= 3\"\nargs = { why = { type = \"text\", doc = \"why\", optional = true }, quick = \"flag\", next = { one_of = [\"red\"] } }\n"] says "m.toml:47:81: the argument `next` and the transition `finish` both give the Rust type `FinishNext` (rename the argument)";
        words_of_one_variant: [QUICK => "quick = \"flag\", to = { one_of = [\"re-d\", \"re_d\"] } }"] says "m.toml:46:97: the word `re_d` and the word `re-d` both give the Rust variant `ReD` (rename the word)";
        the_type_of_a_phase: [QUICK => "quick = \"flag\", it = { one_of = [\"red\"] } }", "[phases.rollout]" => "[phases.finish_it]", "to   = \"rollout\"" => "to = \"finish_it\"", "in = [\"canary\", \"rollout\"]" => "in = [\"canary\", \"finish_it\"]", "from = [\"rollout\"" => "from = [\"finish_it\""] says "m.toml:46:81: the argument `it` and the phase `finish_it` both give the Rust type `FinishIt` (the other one: line 27; rename the argument)";
    }
}

mod updates {
    use super::said;

    const SHIP: &str = "{ until = \"now + 600\" }";

    cases! {
        a_time_is_set_to_a_time: [SHIP => "{ until = \"since - 60\" }"] says "nothing";
        a_time_is_set_to_a_constant: [SHIP => "{ until = \"2026-11-22T07:00:00Z\" }"] says "nothing";
        a_time_is_set_to_nothing: [SHIP => "{ until = \"\" }"] says "nothing";
        a_time_is_set_to_no_time: [SHIP => "{ until = \"2026-11-22\" }"] says r#"m.toml:34:18: `until` is a time, and "2026-11-22" is none (give a time with whole seconds, after 1970, such as "2026-11-22T07:00:00Z")"#;
        a_time_is_set_to_a_count: [SHIP => "{ until = \"tries\" }"] says "m.toml:34:18: `until` is a time and `tries` is a count (only a count or a time takes the value of a field, and only of its own type)";
        a_count_is_set_to_now: [SHIP => "{ tries = \"now\" }"] says "m.toml:34:18: `tries` is a count, and `now` is a time (only a time takes it)";
        a_count_is_set_to_a_time: [SHIP => "{ tries = \"until + 1\" }"] says "m.toml:34:18: `tries` is a count and `until` is a time (only a count or a time takes the value of a field, and only of its own type)";
        a_count_is_set_to_a_length: [SHIP => "{ tries = \"count(notes)\" }"] says "m.toml:34:19: `tries`: nothing is set to the length of a list (it is a number, `field`, `field + 1`, `field - 1`, `field + args.name`, `next(field)`, `now` or `args.name`)";
        a_list_is_set_to_a_list: [SHIP => "{ notes = [] }"] says "nothing";
        a_list_is_set_to_a_text: [SHIP => "{ notes = \"a text\" }"] says r#"m.toml:34:18: `notes` is a list, and "a text" is none (give a list of texts, `["a", "b"]`, or append an argument: `notes + args.text`)"#;
        a_list_is_set_to_an_argument: ["\"notes + args.why\"" => "\"args.why\""] says "m.toml:47:18: `notes` is a list, and the argument `why` is a text (append it: `notes + args.why`)";
        a_flag_is_appended_to_a_list: ["\"notes + args.why\"" => "\"notes + args.quick\""] says "m.toml:47:18: `notes` is a list, and takes the sum of `notes` and the argument `quick` (field, source and argument of a sum are counts, all three; or two lists and a text)";
        a_text_is_appended_to_a_count: ["notes = \"notes + args.why\"" => "tries = \"tries + args.why\""] says "m.toml:47:18: `tries` is a count, and takes the sum of `tries` and the argument `why` (field, source and argument of a sum are counts, all three; or two lists and a text)";
        a_text_is_set_to_a_flag: ["quick = \"args.quick\"" => "owner = \"args.quick\""] says "m.toml:47:46: `owner` is a text, and the argument `quick` is a flag (a text or a path goes into either, a count into a count, a flag into a flag, an id into an id or a text, a word into a one_of or a text)";
        a_missing_argument_of_a_list: ["notes + args.why" => "notes + args.whi"] says "m.toml:47:18: `finish` has no argument `whi` (did you mean `why`?)";
    }
}

mod presence {
    use super::{GUARD, said};

    cases! {
        a_phase_that_there_is_not: ["[\"canary\", \"rollout\"]" => "[\"canary\", \"rolout\"]"] says "m.toml:22:59: no phase is named `rolout` (did you mean `rollout`?)";
        in_no_phase: ["in = [\"canary\", \"rollout\"]" => "in = []"] says "m.toml:22:48: `in` is an empty list (name something, or leave the key out)";
        in_a_phase_twice: ["[\"canary\", \"rollout\"]" => "[\"canary\", \"canary\", \"rollout\"]"] says "m.toml:22:59: `canary` stands in `in` twice (leave one of them out)";
        what_the_engine_holds_is_everywhere: ["{ holds = \"machine\" }" => "{ holds = \"machine\", in = [\"canary\"] }"] says "m.toml:15:33: `machine` holds what the engine writes: it has no `in` (leave `in` out)";
        a_guard_where_the_field_is_not: ["to   = \"canary\"\n" => "to   = \"canary\"\nwhen = \"percent > 1\"\n"] says "m.toml:34:9: `ship` reads `percent` in `building`, where it does not exist (`percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        a_guard_at_every_phase: ["from = [\"rollout\", \"canary\"]\nto   = \"done\"" => "from = \"*\"\nto = \"done\"\nwhen = \"percent > 1\""] says "m.toml:45:9: `finish` reads `percent` in `building`, where it does not exist (declared here: line 22; `percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        an_update_from_where_the_field_is_not: [
            "{ until = \"now + 600\" }" => "{ tries = \"percent\" }",
        ] says "m.toml:34:18: `ship` reads `percent` in `building`, where it does not exist (`percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        an_update_where_the_field_ceases: ["quick = \"args.quick\" }" => "quick = \"args.quick\", percent = 1 }"] says "m.toml:47:60: `finish` sets `percent` and leads to `done`, where it does not exist (declared here: line 22; `percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        an_update_where_the_field_begins: ["{ until = \"now + 600\" }" => "{ percent = 1 }"] says "nothing";
        an_update_that_begins_with_what_was_not: ["{ until = \"now + 600\" }" => "{ percent = \"percent + 1\" }"] says "m.toml:34:20: `ship` reads `percent` in `building`, where it does not exist (`percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        a_start_that_takes_what_is_not_there: ["initial = 5, in" => "at_start = \"optional\", in"] says "m.toml:22:1: a start takes `percent`, and the mode `full` begins in `building`, where it does not exist (`percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there) & m.toml:22:1: a start takes `percent`, and the mode `hotfix` begins in `building`, where it does not exist (`percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        a_mode_that_begins_with_what_is_not_there: ["[modes.hotfix]" => "initial = { percent = 3 }\n[modes.hotfix]"] says "m.toml:6:13: the mode `full` begins in `building`, where `percent` does not exist (declared here: line 23; `percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        a_parameter_that_names_what_is_not_there: [
            "[phases.building]" => "[phases.building]\non_stop = { require-file = { path = \"{percent}.md\", written = \"ship\" } }",
        ] says "m.toml:26:37: `path` of `building` reads `percent`, which does not exist there (`percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        a_round_that_is_not_there: [
            "[phases.building]" => "[phases.building]\non_stop = { review = { subject = \"x\", round = \"percent\", clean = \"ship\", findings = \"ship\", failed = \"ship\" } }",
        ] says "m.toml:26:47: `round` of `building` reads `percent`, which does not exist there (`percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        a_field_waited_for_that_is_not_there: [
            "[phases.building]" => "[phases.building]\non_stop = { wait-for = { field = \"percent\", there = \"ship\" } }",
        ] says "m.toml:26:34: `field` of `building` reads `percent`, which does not exist there (`percent` exists in `canary` and `rollout`: add the phase to its `in`, or do without it there)";
        a_field_in_every_phase: ["[\"canary\", \"rollout\"]" => "[\"building\", \"canary\", \"rollout\", \"done\"]"] says "nothing";
        two_types_of_one_name: ["[phases.done]" => "[phases.has_percent]\nterminal = true\n[phases.done]", GUARD => "'until <= now'", "" => "[[transitions.leave]]\nfrom = \"canary\"\nto = \"has_percent\"\n"] says "m.toml:22:1: the field `percent` and the phase `has_percent` both give the Rust type `HasPercent` (rename the field)";
    }
}

mod arguments {
    use super::said;

    cases! {
        a_kind_that_there_is_not: ["quick = \"flag\"" => "quick = \"flga\""] says r#"m.toml:46:73: `quick` cannot be "flga" (did you mean `flag`?) & m.toml:47:46: `finish` has no argument `quick` (the only one is `why`)"#;
        no_type: ["type = \"text\", doc" => "doc"] says r#"m.toml:46:10: the argument `why` has no `type` (add `type = "text"`) & m.toml:47:18: `finish` has no argument `why` (the only one is `quick`)"#;
        an_unknown_key: ["optional = true" => "optinal = true"] says "m.toml:46:46: unknown key `optinal` in an argument (did you mean `optional`?)";
        a_number: ["quick = \"flag\"" => "quick = 1"] says r#"m.toml:46:73: `quick` takes a type such as "text", or a table with `type`, not an integer & m.toml:47:46: `finish` has no argument `quick` (the only one is `why`)"#;
        optional_is_a_boolean: ["optional = true" => "optional = \"yes\""] says "m.toml:46:57: `optional` takes true or false, not a string";
        flags_of_the_verb_itself: ["quick = \"flag\" }" => "quick = \"flag\", from_prompt = \"flag\", help = \"text\", rejecting = \"text\", id = \"id\" }"] says "m.toml:46:81: the argument `from_prompt` is one that verbs have already (rename the argument) & m.toml:46:103: the argument `help` is one that verbs have already (rename the argument) & m.toml:46:118: the argument `rejecting` is one that verbs have already (rename the argument) & m.toml:46:138: the argument `id` is one that verbs have already (rename the argument)";
        every_kind: ["quick = \"flag\" }" => "quick = \"flag\", more = \"count\", file = \"path\", of = \"id\" }", "quick = \"args.quick\" }" => "quick = \"args.quick\", tries = \"tries + args.more\", owner = \"args.file\", parent = \"args.of\" }"] says "nothing";
        a_path_appended: ["type = \"text\", doc" => "type = \"path\", doc"] says "nothing";
        entries_that_differ_in_what_may_be_left_out: ["" => "[[transitions.finish]]\nfrom = \"building\"\nto = \"done\"\nby = [\"person\"]\nargs = { why = \"text\", quick = \"flag\" }\n"] says "m.toml:48:15: the entries of `finish` differ in `args` (one transition is one method: write the same `args` in each)";
    }
}

mod analysis {
    use super::{GUARD, said};

    const SOAK: &str = "[[transitions.soak]]\nfrom = \"canary\"\nto = \"done\"\n";
    const GO: &str = "from = \"canary\"\nto   = \"rollout\"\n";
    const STAY: &str = "from = \"canary\"\nto = \"same\"\n";
    const GONE: &str = "[[transitions.go]]\nfrom = \"canary\"\nto = \"rollout\"\n";

    cases! {
        times_that_overlap: ["" => &format!("{SOAK}when = \"until >= now\"\n"), GUARD => "\"until <= now\""] says "m.toml:51:8: two edges of `soak` from `canary` are open at once when now = 1970-01-01T00:00:01Z and until = 1970-01-01T00:00:01Z (let one guard be the opposite of the other)";
        times_that_leave_a_gap: ["" => &format!("{SOAK}when = \"until > now + 60\"\n"), GUARD => "\"until <= now\""] says "m.toml:36:15: no edge of `soak` from `canary` is open when now = 1970-01-01T00:00:01Z and until = 1970-01-01T00:00:02Z (widen a guard, or add an edge for what is left)";
        times_that_divide: ["" => &format!("{SOAK}when = \"now < until\"\n"), GUARD => "\"until <= now\""] says "nothing";
        a_time_that_is_not_set_is_before_every_other: [GUARD => "'until == \"\" and until > since'"] says "m.toml:39:8: no values make this guard of `soak` hold (counts begin at 0; loosen the guard, or take the edge out)";
        a_gap_where_nothing_is_set: ["" => &format!("{SOAK}when = 'until > \"\" and until <= now'\n"), GUARD => "'until > now'"] says "m.toml:36:15: no edge of `soak` from `canary` is open when now = 1970-01-01T00:00:01Z and until is not set (widen a guard, or add an edge for what is left)";
        lengths_that_leave_a_gap: ["" => &format!("{SOAK}when = \"count(notes) > 2\"\n"), GUARD => "\"count(notes) < 2\""] says "m.toml:36:15: no edge of `soak` from `canary` is open when count(notes) = 2 (widen a guard, or add an edge for what is left)";
        a_length_below_zero: [GUARD => "\"count(notes) < 0\""] says "m.toml:39:8: no values make this guard of `soak` hold (counts begin at 0; loosen the guard, or take the edge out)";
        ids_that_leave_a_gap: ["" => &format!("{SOAK}when = 'parent == \"a\"'\n"), GUARD => "'parent == \"\"'"] says r#"m.toml:36:15: no edge of `soak` from `canary` is open when parent = "id-1" (widen a guard, or add an edge for what is left)"#;
        waiting_bounds_nothing: [GO => STAY, "" => GONE] says r#"m.toml:36:15: nothing bounds the cycle canary -> canary (by soak) (`soak` raises `percent`, but no guard of it says how far; a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
        a_time_that_rises_to_a_constant_bounds: [
            GO => STAY, "" => GONE, GUARD => "'until < \"2027-01-01T00:00:00Z\"'", "{ percent = \"percent + 20\", since = \"now\" }" => "{ until = \"until + 600\" }",
        ] says "nothing";
        a_time_that_rises_to_now_bounds_nothing: [
            GO => STAY, "" => GONE, GUARD => "'until < now'", "{ percent = \"percent + 20\", since = \"now\" }" => "{ until = \"until + 600\" }",
        ] says r#"m.toml:36:15: nothing bounds the cycle canary -> canary (by soak) (`soak` raises `until`, but no guard of it says how far; a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
        a_list_that_grows_bounds: ["" => NOTE] says "nothing";
        a_list_that_grows_without_end: ["" => &NOTE.replace("when = \"count(notes) < 3\"\n", "")] says r#"m.toml:48:15: nothing bounds the cycle canary -> canary (by note) (`note` raises `notes`, but no guard of it says how far; a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
        a_list_that_is_emptied: ["" => &format!("{NOTE}[[transitions.drop]]\nfrom = \"canary\"\nto = \"same\"\nby = [\"agent\"]\nset = {{ notes = [] }}\nwhen = \"count(notes) > 1\"\n")] says r#"m.toml:48:15: nothing bounds the cycle canary -> canary (by note) (`note` raises `notes`, but `drop` sets it back; a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`) & m.toml:55:15: nothing bounds the cycle canary -> canary (by drop) (a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
        a_list_that_may_stay_as_it_is: ["" => &NOTE.replace("{ text = \"text\" }", "{ text = { type = \"text\", optional = true } }")] says r#"m.toml:48:15: nothing bounds the cycle canary -> canary (by note) (a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
        a_field_that_begins_anew_bounds_nothing: ["" => BACK, GUARD => "\"percent < 50\""] says r#"m.toml:31:15: nothing bounds the cycle building -> canary -> rollout -> building (by ship, soak, back) (then this one: line 48; `soak` raises `percent`, but `back` sets it back; a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
        a_field_that_stays_bounds: ["" => BACK, GUARD => "\"percent < 50\"", "in = [\"canary\", \"rollout\"]" => "in = [\"building\", \"canary\", \"rollout\"]"] says "nothing";
    }

    const NOTE: &str = "[[transitions.note]]\nfrom = \"canary\"\nto = \"same\"\nby = [\"agent\"]\nargs = { text = \"text\" }\nwhen = \"count(notes) < 3\"\nset = { notes = \"notes + args.text\" }\n";
    const BACK: &str = "[[transitions.back]]\nfrom = \"rollout\"\nto = \"building\"\n";
}

#[test]
fn meta_is_kept_as_json_in_the_order_of_the_file() {
    let source = RELEASE.replace(
        "[phases.canary]",
        "[phases.canary.meta]\nz = \"a\\\"\\u0001\\u202e\"\na = [1, -2.5, true, { x = 2026-11-22 }]\nn = nan\nh = 0x10\n",
    );
    let machine = claudex_build::check_source("m.toml", &source).unwrap();
    assert_eq!(
        machine.phase("canary").unwrap().meta,
        "{\"z\":\"a\\\"\\u0001\u{202e}\",\"a\":[1,-2.5,true,{\"x\":\"2026-11-22\"}],\"n\":null,\"h\":16}"
    );
    assert_eq!(machine.phase("done").unwrap().meta, "{}");
}

#[test]
fn meta_is_bounded() {
    let of = |length: usize| {
        let meta = format!(
            "[phases.canary]\nmeta = {{ a = \"{}\" }}\n",
            "x".repeat(length)
        );
        said(&[("[phases.canary]", &meta)])
    };
    assert_eq!(of((16 << 10) - 8), "nothing");
    assert_eq!(
        of((16 << 10) - 7),
        "m.toml:27:8: `meta` has 16385 bytes as JSON (16384 bytes are the most: keep what is long in a file of its own, and \
         name it here)"
    );
}

/// Debug builds on a busy machine are slow; a cubic walk is far slower.
const SOON: std::time::Duration = std::time::Duration::from_secs(60);

#[test]
fn deep_meta_is_kept_or_refused() {
    let key = ["a"; 15].join(".");
    for deep in [1, 40, 79, 200] {
        let meta = format!(
            "{}1{}",
            format!("{{ {key} = ").repeat(deep),
            " }".repeat(deep)
        );
        let _ = said(&[(
            "[phases.canary]",
            &format!("[phases.canary]\nmeta = {meta}\n"),
        )]);
    }
}

#[test]
fn many_fields_of_many_phases_are_checked_soon() {
    let begun = std::time::Instant::now();
    let names: Vec<String> = (0..150).map(|at| format!("p{at}")).collect();
    let within = |from: usize| {
        let some: Vec<String> = (0..100)
            .map(|at| format!("{:?}", names[(from + at) % names.len()]))
            .collect();
        some.join(",")
    };
    let fields: String = (0..200)
        .map(|at| format!("f{at} = {{ type = \"count\", in = [{}] }}\n", within(at)))
        .collect();
    let phases: String = names
        .iter()
        .map(|name| format!("[phases.{name}]\n"))
        .collect();
    let guard: Vec<String> = (0..60).map(|at| format!("f{at} > 1")).collect();
    let edges: String = names
        .iter()
        .map(|name| {
            format!(
                "[[transitions.to_{name}]]\nfrom = \"*\"\nto = \"{name}\"\nwhen = {:?}\n",
                guard.join(" and ")
            )
        })
        .collect();
    let found = said(&[
        (
            "quick    = { type = \"flag\" }",
            &format!("quick = {{ type = \"flag\" }}\n{fields}"),
        ),
        ("[phases.building]", &format!("[phases.building]\n{phases}")),
        (
            "",
            &format!(
                "{edges}[[transitions.end]]\nfrom = \"*\"\nto = \"done\"\nby = [\"person\"]\n"
            ),
        ),
    ]);
    assert!(found.contains("where it does not exist"), "{found:.300}");
    assert!(begun.elapsed() < SOON, "took {:?}", begun.elapsed());
}
