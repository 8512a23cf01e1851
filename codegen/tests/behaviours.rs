//! What is said of `on_stop`s that cannot be: one small wrong edit of the same right machine for each.

#[macro_use]
mod support;

use claudex_build::{check_source, generate};

/// A machine without a fault, in which every behaviour that needs no review stands once. Line numbers count from the first
/// line, which is empty.
const GATE: &str = r#"
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
version  = { type = "text" }
approved = { type = "flag" }
tries    = { type = "count" }
color    = { one_of = ["red", "green"] }

[phases.drafting]
on_stop = { announce = { then = "go" } }

[phases.asking.on_stop.ask]
question   = "Roll {version} out?"
header     = "Rollout"
options    = [
    { label = "Yes", description = "All of it.", then = "promote" },
    { label = "No", then = "drop" },
]
unanswered = "remind"

[phases.building]
on_stop = { run = { command = "build", passed = "built", failed = ["again", "drop_it"] } }

[phases.waiting]
on_stop = { wait-for = { field = "approved", there = "open" } }

[phases.ending]
on_stop = { approve = { then = "finish" } }

[phases.over]
terminal = true

[[transitions.go]]
from    = "drafting"
to      = "asking"
message = "go.md"

[[transitions.promote]]
from = "asking"
to   = "building"
by   = ["person"]

[[transitions.drop]]
from = "asking"
to   = "over"
by   = ["agent", "person"]

[[transitions.remind]]
from = "asking"
to   = "same"
when = "tries < 1"
set  = { tries = "tries + 1" }

[[transitions.built]]
from = "building"
to   = "waiting"

[[transitions.again]]
from = "building"
to   = "same"
when = "tries < 3"
set  = { tries = "tries + 1" }

[[transitions.drop_it]]
from = "building"
to   = "over"

[[transitions.open]]
from = "waiting"
to   = "ending"

[[transitions.finish]]
from = "ending"
to   = "over"
"#;

fn said(edits: &[(&str, &str)]) -> String {
    support::found(&support::edited(GATE, edits))
}

mod turn {
    use super::said;

    cases! {
        the_machine_that_cases_edit_is_right: [] says "nothing";
        approve_that_goes_on: ["from = \"ending\"\nto   = \"over\"" => "from = \"ending\"\nto = \"asking\""] says r#"m.toml:38:32: `approve` lets the turn end, and `finish` goes on in `asking` (declared here: line 82; lead it to a terminal phase, or say `turn = "end"` in the transition; where the agent is to go on, write `announce`, which blocks with the transition's words)"#;
        approve_alone: ["then = \"finish\"" => "", "from = \"ending\"\nto   = \"over\"" => "from = \"ending\"\nto = \"over\"\nby = [\"person\"]"] says "nothing";
        approve_that_ends_by_the_edge: ["from = \"waiting\"\nto   = \"ending\"" => "from = \"waiting\"\nto = \"ending\"\nturn = \"end\""] says "nothing";
        approve_one_of_whose_edges_goes_on: ["from = \"ending\"\nto   = \"over\"" => "from = \"ending\"\nto = \"over\"\nwhen = \"tries < 2\"\n[[transitions.finish]]\nfrom = \"ending\"\nto = \"waiting\"\nwhen = \"tries >= 2\""] says r#"m.toml:38:32: `approve` lets the turn end, and `finish` goes on in `waiting` (declared here: line 86; lead it to a terminal phase, or say `turn = "end"` in the transition; where the agent is to go on, write `announce`, which blocks with the transition's words) & m.toml:78:15: nothing bounds the cycle waiting -> ending -> waiting (by open, finish) (a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
        announce_that_ends_in_a_terminal_phase: ["to      = \"asking\"" => "to = \"over\""] says r#"m.toml:20:33: `announce` blocks, and `go` lets the turn end (declared here: line 43; lead it to a phase that is not terminal, or write `approve`, which lets the turn end) & m.toml:22:9: no loop reaches `asking` (add a transition with `to = "asking"`, or take the phase out) & m.toml:31:9: no loop reaches `building` (add a transition with `to = "building"`, or take the phase out) & m.toml:34:9: no loop reaches `waiting` (add a transition with `to = "waiting"`, or take the phase out) & m.toml:37:9: no loop reaches `ending` (add a transition with `to = "ending"`, or take the phase out)"#;
        announce_that_ends_by_the_edge: ["to      = \"asking\"" => "to = \"asking\"\nturn = \"end\""] says r#"m.toml:20:33: `announce` blocks, and `go` lets the turn end (declared here: line 43; take `turn = "end"` out of the transition, or write `approve`, which lets the turn end)"#;
        an_on_stop_that_is_a_word: ["{ announce = { then = \"go\" } }" => "\"announce\""] says "m.toml:20:11: `on_stop` takes a table, not a string (write `on_stop = { announce = { then = \"TRANSITION\" } }`)";
        an_on_stop_that_is_another_word: ["{ announce = { then = \"go\" } }" => "\"go\""] says "m.toml:20:11: `on_stop` takes a table, not a string (write `on_stop = { BEHAVIOUR = { .. } }`; without it the phase is written in Rust)";
        a_behaviour_that_is_a_word: ["announce = { then = \"go\" }" => "announce = \"go\""] says "m.toml:20:24: `announce` takes a table, not a string (write `announce = { then = \"TRANSITION\" }`)";
        announce_without_words: ["to      = \"asking\"\nmessage = \"go.md\"" => "to = \"building\"", "[phases.asking.on_stop.ask]" => "[modes.late]\nstart = \"asking\"\n[phases.asking.on_stop.ask]"] says r#"m.toml:20:33: `announce` has nothing to say: neither `go` nor `building` has a `message` (declared here: line 45; add `message = "go.md"` to the transition or to the phase, and write that template)"#;
        announce_with_the_words_of_the_phase: ["to      = \"asking\"\nmessage = \"go.md\"" => "to = \"waiting\"", "[phases.waiting]" => "[phases.waiting]\nmessage = \"wait.md\"", "[phases.asking.on_stop.ask]" => "[modes.late]\nstart = \"asking\"\n[phases.asking.on_stop.ask]"] says "nothing";
        announce_into_a_question_needs_no_words: ["\nmessage = \"go.md\"" => ""] says "nothing";
    }
}

mod question {
    use super::said;

    cases! {
        an_option_that_only_an_agent_may_take: ["by   = [\"agent\", \"person\"]" => "by = [\"agent\"]"] says r#"m.toml:27:28: an answer is a person's, and `drop` is not open to persons (declared here: line 53; add `by = ["person"]` to `drop`, or name another transition)"#;
        an_option_that_the_hook_takes: ["by   = [\"agent\", \"person\"]" => ""] says r#"m.toml:27:28: an answer is a person's, and `drop` is not open to persons (declared here: line 53; add `by = ["person"]` to `drop`, or name another transition)"#;
        an_option_with_evidence: ["by   = [\"person\"]" => "by = [\"person\"]\nrequires = \"settled\""] says "m.toml:26:57: `promote` requires evidence, and an answer gives none (required here: line 52; name a transition of `asking` without `requires`)";
        an_option_with_an_argument: ["by   = [\"person\"]" => "by = [\"person\"]\nargs = { why = \"text\" }"] says "nothing";
        an_option_with_another_argument: ["by   = [\"person\"]" => "by = [\"person\"]\nargs = { why = \"count\" }"] says "m.toml:26:57: `promote` takes more than an answer, which is one text (the argument: line 52; name a transition of `asking` with one argument of the type text, or without `args`; one of a list of options may give the rest: `with = { why = ... }`)";
        an_option_with_two_arguments: ["by   = [\"person\"]" => "by = [\"person\"]\nargs = { why = \"text\", more = \"text\" }"] says "m.toml:26:57: `promote` takes more than an answer, which is one text (the argument: line 52; name a transition of `asking` with one argument of the type text, or without `args`; one of a list of options may give the rest: `with = { more = ... }`)";
        options_of_a_field: ["options    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => "options = \"labels\"\nthen = \"promote\"", "tries    =" => "labels = { type = \"list\" }\ntries =", "by   = [\"person\"]" => "by = [\"person\"]\nargs = { why = \"text\" }"] says "nothing";
        options_of_no_field: ["options    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => "options = \"labls\"\nthen = \"promote\"", "tries    =" => "labels = { type = \"list\" }\ntries ="] says "m.toml:26:11: no field is named `labls` (did you mean `labels`?)";
        options_of_a_field_that_is_no_list: ["options    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => "options = \"version\"\nthen = \"promote\""] says r#"m.toml:25:11: `version` is no list, and its texts cannot be the options (name a field of `type = "list"`)"#;
        options_of_a_field_that_does_not_exist_here: ["options    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => "options = \"labels\"\nthen = \"promote\"", "tries    =" => "labels = { type = \"list\", in = [\"building\"] }\ntries ="] says "m.toml:26:11: the options of `asking` are those of `labels`, which does not exist there (`labels` exists in `building`: add the phase to its `in`, or do without it there)";
        options_of_a_field_without_a_transition: ["options    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => "options = \"labels\"", "tries    =" => "labels = { type = \"list\" }\ntries ="] says r#"m.toml:23:24: `ask` with the options of a field has no `then` (add `then = "transition"`)"#;
        a_transition_beside_options_that_name_theirs: ["unanswered = \"remind\"" => "then = \"drop\"\nunanswered = \"remind\""] says "m.toml:29:1: each option of a list names its own transition in `then` (take it out; beside the options it stands where they are a field’s)";
        a_question_of_the_programs: ["question   = \"Roll {version} out?\"\nheader     = \"Rollout\"\noptions    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => ""] says "nothing";
        a_question_of_the_programs_and_a_phase_of_its_methods_name: ["question   = \"Roll {version} out?\"\nheader     = \"Rollout\"\noptions    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => "", "phases.ending]" => "phases.asking_asks]", "to   = \"ending\"" => "to = \"asking_asks\"", "from = \"ending\"" => "from = \"asking_asks\""] says "m.toml:32:9: the phase `asking_asks` would be the method `OnStop::asking_asks`, by which the program asks (rename the phase)";
        a_text_that_is_taken: ["unanswered = \"remind\"" => "text = \"promote\"\nunanswered = \"remind\"", "by   = [\"person\"]" => "by = [\"person\"]\nargs = { why = \"text\" }"] says "nothing";
        a_text_that_nothing_takes: ["unanswered = \"remind\"" => "text = \"drop\"\nunanswered = \"remind\""] says "m.toml:29:8: `drop` takes no argument, and `text` has to be put into one (declared here: line 54; name a transition of `asking` with one argument of the type text)";
        a_text_of_a_transition_that_is_the_hooks: ["unanswered = \"remind\"" => "text = \"remind\"\nunanswered = \"remind\""] says r#"m.toml:29:8: an answer is a person's, and `remind` is not open to persons (declared here: line 59; add `by = ["person"]` to `remind`, or name another transition) & m.toml:29:8: `remind` takes no argument, and `text` has to be put into one (declared here: line 59; name a transition of `asking` with one argument of the type text)"#;
        a_text_that_is_misspelt: ["unanswered = \"remind\"" => "text = \"dropp\"\nunanswered = \"remind\""] says "m.toml:29:8: no transition is named `dropp` (did you mean `drop`?)";
        an_option_that_does_not_leave_the_phase: ["then = \"drop\"" => "then = \"open\""] says "m.toml:27:28: `open` does not leave `asking` (it leaves `waiting`; add `asking` to its `from`, or name another transition)";
        an_option_that_is_misspelt: ["then = \"promote\"" => "then = \"promoted\""] says "m.toml:26:57: no transition is named `promoted` (did you mean `promote`?)";
        one_option: ["    { label = \"No\", then = \"drop\" },\n" => ""] says "m.toml:25:14: there is 1 option (a question has 2 to 4 options; a person can always answer in their own words)";
        five_options: ["    { label = \"No\", then = \"drop\" },\n" => "{ label = \"a\", then = \"drop\" }, { label = \"b\", then = \"drop\" }, { label = \"c\", then = \"drop\" }, { label = \"d\", then = \"drop\" }"] says "m.toml:25:14: there are 5 options (a question has 2 to 4 options; a person can always answer in their own words)";
        no_options: ["options    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => ""] says r#"m.toml:22:24: `ask` has no `options` (add `options = [{ label = "Yes", then = "transition" }, { label = "No", then = "another" }]`, or `options = "labels"` for those of a list field; or leave `question` and `header` out too: then the program asks, in Rust)"#;
        options_that_are_no_list: ["options    = [\n    { label = \"Yes\", description = \"All of it.\", then = \"promote\" },\n    { label = \"No\", then = \"drop\" },\n]" => "options = \"Yes\""] says r#"m.toml:22:24: `ask` with the options of a field has no `then` (add `then = "transition"`)"#;
        options_that_are_no_tables: ["{ label = \"No\", then = \"drop\" }" => "\"No\""] says "m.toml:27:5: `options` takes a table, not a string";
        an_option_without_a_label: ["label = \"No\", " => ""] says r#"m.toml:27:5: the option has no `label` (add `label = "Yes"`)"#;
        an_option_with_another_key: ["label = \"No\"" => "label = \"No\", than = \"drop\""] says "m.toml:27:21: unknown key `than` in an option (did you mean `then`?)";
        two_options_of_one_label: ["label = \"No\"" => "label = \"Yes\""] says r#"m.toml:27:15: the label "Yes" stands there twice (an answer is known by its label: give each option one of its own)"#;
        an_empty_label: ["label = \"No\"" => "label = \"\""] says "m.toml:27:15: `label` is empty (say what the person is to read)";
        a_label_with_a_space_at_its_end: ["label = \"No\"" => "label = \"No \""] says "m.toml:27:15: `label` begins or ends with white space (take it out: nobody sees it)";
        a_label_of_two_lines: ["label = \"No\"" => "label = \"No\\nnever\""] says "m.toml:27:15: `label` has a control character or a line end in it (write it on one line)";
        a_long_header: ["\"Rollout\"" => "\"Rollout of it\""] says "m.toml:24:14: `header` has 13 characters (12 are the most that the dialog shows; the question has the room)";
        a_header_of_twelve_and_a_field: ["\"Rollout\"" => "\"Rollout of {version}\""] says "nothing";
        a_header_with_an_unknown_field: ["\"Rollout\"" => "\"Roll {versoin}\""] says "m.toml:24:14: no field is named `versoin` (did you mean `version`?)";
        an_empty_question: ["\"Roll {version} out?\"" => "\" \""] says "m.toml:23:14: `question` is empty (say what the person is to read)";
        no_header: ["header     = \"Rollout\"\n" => ""] says r#"m.toml:22:24: `ask` has no `header` (add `header = "..."`)"#;
        an_outcome_that_a_person_takes: ["unanswered = \"remind\"" => "unanswered = \"promote\""] says "m.toml:29:14: `promote` is not the hook's to take (only agents or persons take it: line 51; name a transition without `by`, or take `by` off this one) & m.toml:59:8: nothing takes `remind` from `asking` (name it in an outcome of `asking`'s `on_stop`, open it with `by`, or take it out)";
        a_persons_way_back_is_bounded_by_the_person: ["by   = [\"agent\", \"person\"]" => "by = [\"person\"]", "from = \"building\"\nto   = \"waiting\"" => "from = \"building\"\nto = \"asking\"", "[phases.waiting]\non_stop = { wait-for = { field = \"approved\", there = \"open\" } }" => "[phases.waiting]\non_stop = { wait-for = { field = \"approved\", there = \"open\" } }\n[modes.late]\nstart = \"waiting\""] says "nothing";
        an_agents_way_round_is_not: ["by   = [\"person\"]" => "by = [\"agent\", \"person\"]", "from = \"building\"\nto   = \"waiting\"" => "from = \"building\"\nto = \"asking\"", "[phases.waiting]\non_stop = { wait-for = { field = \"approved\", there = \"open\" } }" => "[phases.waiting]\non_stop = { wait-for = { field = \"approved\", there = \"open\" } }\n[modes.late]\nstart = \"waiting\""] says r#"m.toml:50:15: nothing bounds the cycle asking -> building -> asking (by promote, built) (then this one: line 66; a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
    }
}

mod parameter {
    use super::said;

    cases! {
        wait_for_nothing: ["field = \"approved\", " => ""] says r#"m.toml:35:13: `wait-for` has none of `file` and `field` (add `file = "..."` or `field = "..."`)"#;
        wait_for_both: ["field = \"approved\"" => "field = \"approved\", file = \"GO\""] says "m.toml:35:26: `wait-for` has both `file` and `field` (keep one; what waits for both is two phases)";
        wait_for_a_file: ["field = \"approved\"" => "file = \"signs/{version}\""] says "nothing";
        wait_for_a_file_of_an_unknown_field: ["field = \"approved\"" => "file = \"{versoin}\""] says "m.toml:35:33: no field is named `versoin` (did you mean `version`?)";
        wait_for_an_unknown_field: ["field = \"approved\"" => "field = \"aproved\""] says "m.toml:35:34: no field is named `aproved` (did you mean `approved`?)";
        wait_for_a_field_in_braces: ["field = \"approved\"" => "field = \"{approved}\""] says "m.toml:35:34: no field is named `{approved}` (did you mean `approved`?)";
        wait_for_a_word: ["field = \"approved\"" => "field = \"color\""] says "m.toml:35:34: `color` is one of some words, and none of them means yes (wait for a flag, or tell the words apart by a guard (`when`) on the transition)";
        wait_for_what_the_engine_holds: ["field = \"approved\"" => "field = \"session\""] says "m.toml:35:34: `session` is the engine's, and says nothing to wait for (wait for a field of the machine's own)";
        a_command_line: ["command = \"build\"" => "command = \"cargo build\""] says r#"m.toml:32:31: `command` cannot be "cargo build" (it is the name of a `[commands.NAME]` table in the user's configuration, which alone says what runs: a letter or digit, then letters, digits, `-`, `_` and `.`, at most 64 characters)"#;
        a_command_that_is_a_path: ["command = \"build\"" => "command = \"../build\""] says r#"m.toml:32:31: `command` cannot be "../build" (it is the name of a `[commands.NAME]` table in the user's configuration, which alone says what runs: a letter or digit, then letters, digits, `-`, `_` and `.`, at most 64 characters)"#;
        a_command_that_is_a_list: ["command = \"build\"" => "command = [\"cargo\", \"build\"]"] says "m.toml:32:31: `command` takes a string, not an array";
        a_command_without_failed: [", failed = [\"again\", \"drop_it\"]" => ""] says r#"m.toml:32:13: `run` has no `failed` (add `failed = "transition"`)"#;
        running_names_no_transition: ["command = \"build\"" => "command = \"build\", running = \"again\""] says "m.toml:32:40: unknown key `running` in `run` (there are `command`, `passed`, `failed` and `missing`)";
        a_failure_that_is_tried_for_ever: ["from = \"building\"\nto   = \"same\"\nwhen = \"tries < 3\"" => "from = \"building\"\nto = \"same\""] says r#"m.toml:68:15: nothing bounds the cycle building -> building (by again) (`again` raises `tries`, but no guard of it says how far; a cycle ends if one of its edges raises a count under a guard, such as `when = "tries < 3"` with `set = { tries = "tries + 1" }`, and nothing on the way lowers it; or if only a person takes it: `by = ["person"]`)"#;
    }
}

#[test]
fn what_a_question_names_is_the_machines_own() {
    let rust = generate("m.toml", GATE).unwrap().rust;
    let (_, owned) = rust.split_once("owned: &[").unwrap();
    let (owned, _) = owned.split_once(']').unwrap();
    assert_eq!(
        owned.split_whitespace().collect::<String>(),
        "\"tries\",\"version\",\"approved\""
    );
}

#[test]
fn an_option_without_a_description_has_that_of_its_transition() {
    let documented = support::edited(
        GATE,
        &[(
            "by   = [\"agent\", \"person\"]",
            "by = [\"person\"]\ndoc = \"Not now.\"",
        )],
    );
    let rust = generate("m.toml", &documented).unwrap().rust;
    let words: String = rust.split_whitespace().collect();
    assert!(
        words.contains(
            "label:\"Yes\",description:\"Allofit.\",taker:rt::Taker{transition:\"promote\",argument:None"
        ),
        "{rust}"
    );
    assert!(
        words.contains(
            "label:\"No\",description:\"Notnow.\",taker:rt::Taker{transition:\"drop\",argument:None"
        ),
        "{rust}"
    );
}

#[test]
fn a_question_shows_its_options_in_the_specification() {
    let machine = check_source("m.toml", GATE).unwrap();
    let spec = claudex_build::spec(&machine, GATE, "m.toml");
    assert!(
        spec.contains("ask: \"Yes\": `promote`; \"No\": `drop`; unanswered: `remind`"),
        "{spec}"
    );
}

#[test]
fn what_blocks_is_a_severity() {
    let plan = include_str!("../../machine.toml");
    let of = |word: &str| {
        let review = "[phases.reviewing.on_stop.review]\n";
        assert_eq!(plan.matches(review).count(), 1);
        support::found(&plan.replace(review, &format!("{review}blocking = \"{word}\"\n")))
    };
    assert_eq!(of("medium"), "nothing");
    let said = of("meduim");
    assert!(
        said.contains("`blocking` cannot be \"meduim\" (did you mean `medium`?)"),
        "{said}"
    );
    let said = of("severe");
    assert!(
        said.contains("(there are `low`, `medium` and `high`)"),
        "{said}"
    );
}

#[test]
fn what_a_review_reads_and_writes_can_be_said_in_full() {
    let plan = include_str!("../../machine.toml");
    let of = |edits: &[(&str, &str)]| support::found(&support::edited(plan, edits));
    let subject = "subject  = \"{subject}\"\nround";
    let with = |keys: &str| of(&[(subject, &format!("{keys}\nround"))]);
    let right = "subject = [\"{subject}\", \"docs/{topic}/*.md\", \"tasks/task-{n}.md\", \"{changes}\"]\nsince = \"{subject_before}\"\n\
                 reviewer = [\"claude\", \"codex\"]\nmodel = \"opus\"\nfindings_file = \"reviews/{review_id}-{n}.md\"\n\
                 verdicts = [\"PASS\", \"FAIL\"]";
    assert_eq!(with(right), "nothing");
    for (keys, said) in [
        (
            "subject = [\"a.md\", \"*/b.md\"]",
            "`*` stands in a folder's name",
        ),
        (
            "subject = [\"a.md\", \"b-{n}-*.md\"]",
            "`{n}` stands in a folder's name, twice, or beside `*`",
        ),
        (
            "subject = \"docs/{changes}\"",
            "`{changes}` is no part of a path",
        ),
        (
            "subject = [\"a.md\", \"{program}.md\"]",
            "`{program}` is no part of a path",
        ),
        ("subject = []", "`subject` is an empty list"),
        (
            "subject = [\"a.md\", \"a.md\"]",
            "`a.md` stands in `subject` twice",
        ),
        (
            "subject = 3",
            "`subject` takes a string or a list of strings",
        ),
        ("subject = \"{gone}\"", "no field is named `gone`"),
        (
            "subject = \"a.md\"\nfindings_file = \"reviews/a.md\"",
            "has no `{n}` in the file's name",
        ),
        (
            "subject = \"a.md\"\nfindings_file = \"{n}/a-{n}.md\"",
            "or more than one",
        ),
        (
            "subject = \"a.md\"\nmodel = \"opus\"",
            "`model` says nothing without `reviewer`",
        ),
        (
            "subject = \"a.md\"\nverdicts = [\"PASS\", \"FAIL\"]",
            "`verdicts` says nothing without `findings_file`",
        ),
        (
            "subject = \"a.md\"\nfindings_file = \"a-{n}.md\"\nverdicts = [\"PASS\"]",
            "a list of two words",
        ),
        (
            "subject = \"a.md\"\nfindings_file = \"a-{n}.md\"\nverdicts = [\"PASS\", \"not ok\"]",
            "a verdict cannot be \"not ok\"",
        ),
    ] {
        let found = with(keys);
        assert!(found.contains(said), "{keys}: {found}");
    }
    let named = of(&[
        (subject, "subject = \"{changes}\"\nround"),
        ("[fields]\n", "[fields]\nchanges = { type = \"text\" }\n"),
    ]);
    assert!(
        named.contains("has a meaning of its own in `subject`, and is a field, too"),
        "{named}"
    );
}

#[test]
fn what_a_stop_does_before_the_phase_is_the_hooks_and_needs_nothing() {
    let plan = include_str!("../../machine.toml");
    let with = |names: &str| {
        let context = "context  = [\n";
        support::found(&support::edited(
            plan,
            &[(context, &format!("before_stop = {names}\n{context}"))],
        ))
    };
    assert_eq!(with("[\"remind\"]"), "nothing");
    for (names, said) in [
        ("[\"resume\"]", "`before_stop` cannot take `resume`"),
        ("[\"mark_done\"]", "only agents or persons take it"),
        ("[\"accept\"]", "it requires evidence"),
        ("[\"remimd\"]", "no transition is named `remimd`"),
        ("[]", "`before_stop` is an empty list"),
    ] {
        let found = with(names);
        assert!(found.contains(said), "{names}: {found}");
    }
}

mod constants_of_options {
    use super::said;

    const YES: &str = "description = \"All of it.\", then = \"promote\" }";
    const BY: &str = "by   = [\"person\"]";
    const ARGS: &str =
        "by = [\"person\"]\nargs = { why = \"text\", hard = \"flag\", more = \"count\" }";

    cases! {
        an_option_gives_constants_and_its_label: [YES => "then = \"promote\", with = { hard = true, more = 3 } }", BY => ARGS] says "nothing";
        an_option_gives_them_all: [YES => "then = \"promote\", with = { why = \"yes\", hard = true, more = 3 } }", BY => ARGS] says "nothing";
        a_constant_that_is_missing: [YES => "then = \"promote\", with = { why = \"yes\", hard = true } }", BY => ARGS] says "m.toml:26:29: `promote` takes more than an answer, which is one text (the argument: line 52; name a transition of `asking` with one argument of the type text, or without `args`; one of a list of options may give the rest: `with = { more = ... }`)";
        a_constant_of_another_type: [YES => "then = \"promote\", with = { hard = 3, more = 3 } }", BY => ARGS] says "m.toml:26:56: `hard` is a flag, and 3 is none (the argument: line 52; give true or false, without quotes)";
        an_argument_that_there_is_not: [YES => "then = \"promote\", with = { hard = true, mor = 3, more = 3 } }", BY => ARGS] says "m.toml:26:62: `promote` takes no argument `mor` (did you mean `more`?)";
    }
}

mod constants {
    use super::said;

    const FAILED: &str = "[\"again\", \"drop_it\"]";
    const DROP: &str = "[[transitions.drop_it]]\n";
    const ARGS: &str = "[[transitions.drop_it]]\nargs = { why = \"text\", tries = \"count\", hard = \"flag\", of = { type = \"id\", optional = true }, file = { type = \"path\", optional = true } }\n";

    cases! {
        an_outcome_gives_constants: [DROP => ARGS, FAILED => "[\"again\", { then = \"drop_it\", with = { why = \"it failed\", tries = 3, hard = true, file = \"a/b\" } }]"] says "nothing";
        one_table_alone: [FAILED => "{ then = \"again\" }"] says "m.toml:75:8: nothing takes `drop_it` from `building` (name it in an outcome of `building`'s `on_stop`, open it with `by`, or take it out)";
        an_argument_that_is_not_given: [DROP => ARGS, FAILED => "[\"again\", { then = \"drop_it\", with = { why = \"it failed\", tries = 3 } }]"] says "m.toml:32:86: `drop_it` takes `hard`, and `failed` does not give it (the argument: line 75; write `{ then = \"drop_it\", with = { hard = ... } }`, or name another transition)";
        an_argument_that_there_is_not: [DROP => ARGS, FAILED => "[\"again\", { then = \"drop_it\", with = { wy = \"\", why = \"\", tries = 3, hard = false } }]"] says "m.toml:32:106: `drop_it` takes no argument `wy` (did you mean `why`?)";
        an_argument_of_another_type: [DROP => ARGS, FAILED => "[\"again\", { then = \"drop_it\", with = { why = 3, tries = \"3\", hard = \"yes\" } }]"] says "m.toml:32:112: `why` is a text, and 3 is none (the argument: line 75; give a text in quotes) & m.toml:32:123: `tries` is a count, and \"3\" is none (the argument: line 75; give a whole number from 0) & m.toml:32:135: `hard` is a flag, and \"yes\" is none (the argument: line 75; give true or false, without quotes)";
        an_id_that_is_a_constant: [DROP => ARGS, FAILED => "[\"again\", { then = \"drop_it\", with = { why = \"\", tries = 3, hard = true, of = \"a\" } }]"] says "m.toml:32:145: `of` is an id, which is no constant (the argument: line 75; leave it out where it is optional, name another transition, or write the phase in Rust)";
        an_id_that_is_not_given: [DROP => "[[transitions.drop_it]]\nargs = { of = \"id\" }\n"] says "m.toml:32:77: `drop_it` takes `of`, and `failed` does not give it (the argument: line 75; an id is no constant: name another transition, or write the phase in Rust)";
        constants_for_a_transition_without_arguments: [FAILED => "[\"again\", { then = \"drop_it\", with = { why = \"\" } }]"] says "m.toml:32:106: `drop_it` takes no argument `why` (leave `with` out)";
        constants_for_no_transition: [FAILED => "[\"again\", { with = { why = \"\" } }]"] says "m.toml:32:77: an entry of `failed` has no `then` (add `then = \"transition\"`)";
        another_key: [FAILED => "[\"again\", { take = \"drop_it\" }]"] says "m.toml:32:77: an entry of `failed` has no `then` (add `then = \"transition\"`) & m.toml:32:79: unknown key `take` in a transition of an outcome (there are `then` and `with`)";
        the_same_twice: [DROP => ARGS, FAILED => "[{ then = \"again\" }, \"again\", { then = \"drop_it\", with = { why = \"a\", tries = 3, hard = true } }, { then = \"drop_it\", with = { why = \"b\", tries = 3, hard = true } }]"] says "m.toml:32:88: `again` stands in `failed` twice (leave one of them out)";
        a_list_of_numbers: [FAILED => "[3, { then = \"again\" }]"] says "m.toml:32:68: `failed` takes a string, not an integer";
    }
}

mod verify {
    use super::said;

    const RUN: &str = "on_stop = { run = { command = \"build\", passed = \"built\", failed = [\"again\", \"drop_it\"] } }";
    const VERIFY: &str = "on_stop = { verify = { commands = \"checks\", passed = \"built\", failed = [\"again\", \"drop_it\"] } }";
    const PROGRAM: &str = "on_stop = { verify = { commands = \"{program}\", passed = \"built\", failed = [\"again\", \"drop_it\"] } }";
    const FIELD: [(&str, &str); 1] = [("tries    =", "checks = { type = \"list\" }\ntries    =")];
    const BUILT: &str = "[[transitions.built]]\n";
    const PROVED: &str = "[[transitions.built]]\nrequires = \"verified\"\n";

    cases! {
        commands_of_a_field: [RUN => VERIFY, FIELD[0].0 => FIELD[0].1, BUILT => PROVED] says "nothing";
        commands_of_the_program: [RUN => PROGRAM, BUILT => PROVED] says "nothing";
        commands_of_no_field: [RUN => VERIFY] says r#"m.toml:32:35: no field is named `checks` (add `checks = { type = "list" }` to [fields])"#;
        commands_of_a_field_that_is_no_list: [RUN => VERIFY, "tries    =" => "checks = { type = \"text\" }\ntries    ="] says r#"m.toml:33:35: `checks` is no list, and its texts cannot be the commands (name a field of `type = "list"`)"#;
        commands_of_a_field_that_does_not_exist_here: [RUN => VERIFY, "tries    =" => "checks = { type = \"list\", in = [\"waiting\"] }\ntries    ="] says r#"m.toml:33:35: `commands` of `building` reads `checks`, which does not exist there (declared here: line 16; `checks` exists in `waiting`: add the phase to its `in`, or do without it there)"#;
        commands_of_something_else_in_braces: [RUN => "on_stop = { verify = { commands = \"{progam}\", passed = \"built\", failed = [\"again\", \"drop_it\"] } }"] says r#"m.toml:32:35: no field is named `progam` (there are `phase`, `id`, `root`, `session`, `revision`, `machine`, `version`, `approved`, `tries` and `color`) & m.toml:32:35: no field is named `{progam}` (add `{progam} = { type = "list" }` to [fields])"#;
        no_commands: [RUN => "on_stop = { verify = { passed = \"built\", failed = [\"again\", \"drop_it\"] } }"] says r#"m.toml:32:13: `verify` has no `commands` (add `commands = "..."`)"#;
        a_field_named_as_the_program: [RUN => PROGRAM, "tries    =" => "program = { type = \"list\" }\ntries    ="] says "m.toml:33:35: `{program}` has a meaning of its own in `commands`, and is a field, too (the field: line 16; give the field another name)";
        a_failure_proves_nothing: [RUN => VERIFY, FIELD[0].0 => FIELD[0].1, "[[transitions.drop_it]]\n" => "[[transitions.drop_it]]\nrequires = \"verified\"\n"] says r#"m.toml:33:82: `failed` has no evidence for `drop_it`, which requires verified (required here: line 76; name another transition; of `review`, `clean` gives settled and reviewed, `findings` and `stalled` give reviewed; of `verify`, `passed` gives verified; other outcomes give nothing)"#;
        another_behaviour_proves_nothing: [BUILT => PROVED] says r#"m.toml:32:49: `passed` has no evidence for `built`, which requires verified (required here: line 65; name another transition; of `review`, `clean` gives settled and reviewed, `findings` and `stalled` give reviewed; of `verify`, `passed` gives verified; other outcomes give nothing)"#;
        what_is_verified_is_not_reviewed: [RUN => VERIFY, FIELD[0].0 => FIELD[0].1, BUILT => "[[transitions.built]]\nrequires = \"reviewed\"\n"] says r#"m.toml:33:54: `passed` has no evidence for `built`, which requires reviewed (required here: line 66; name another transition; of `review`, `clean` gives settled and reviewed, `findings` and `stalled` give reviewed; of `verify`, `passed` gives verified; other outcomes give nothing)"#;
        running_names_no_transition: [RUN => VERIFY, FIELD[0].0 => FIELD[0].1, "passed = \"built\"" => "passed = \"built\", running = \"again\""] says r#"m.toml:33:63: unknown key `running` in `verify` (there are `commands`, `passed`, `failed` and `missing`)"#;
        a_phase_of_the_methods_name: [RUN => PROGRAM, "phases.ending]" => "phases.verifies]", "to   = \"ending\"" => "to = \"verifies\"", "from = \"ending\"" => "from = \"verifies\""] says r#"m.toml:37:9: the phase `verifies` would be the method `OnStop::verifies`, by which the program gives the commands (rename the phase)"#;
        a_phase_of_the_name_of_the_one_that_says_what_is_reviewed: [RUN => "on_stop = { review = { subject = \"{program}\", round = \"tries\", clean = \"built\", findings = \"again\", failed = \"drop_it\" } }", "phases.ending]" => "phases.subjects]", "to   = \"ending\"" => "to = \"subjects\"", "from = \"ending\"" => "from = \"subjects\""] says r#"m.toml:37:9: the phase `subjects` would be the method `OnStop::subjects`, by which the program gives what is reviewed (rename the phase)"#;
        a_verb_of_its_name: [RUN => VERIFY, FIELD[0].0 => FIELD[0].1, "[[transitions.drop]]" => "[[transitions.verify]]", "then = \"drop\"" => "then = \"verify\""] says r#"m.toml:54:15: the transition `verify` would be the verb `verify`, which the command line has (rename it, or leave `by` out; taken are `start`, `run`, `review`, `status`, `list`, `adopt`, `journal`, `explain`, `report`, `sweep`, `doctor`, `machine`, `config`, `stop`, `prompt`, `answer`, `session_start`, `hooks`, `plugin`, `rollback`, `personas`, `import`, `use`, `state`, `statusline`, `completions`, `man`, `help`, `verify` and `resume`)"#;
        a_verb_of_its_name_where_nothing_is_verified: ["[[transitions.drop]]" => "[[transitions.verify]]", "then = \"drop\"" => "then = \"verify\""] says "nothing";
    }
}

#[test]
fn what_is_run_is_the_machines_own() {
    let machine = support::edited(
        GATE,
        &[
            (
                "run = { command = \"build\"",
                "verify = { commands = \"checks\"",
            ),
            ("tries    =", "checks = { type = \"list\" }\ntries    ="),
        ],
    );
    let rust = generate("m.toml", &machine).unwrap().rust;
    let (_, owned) = rust.split_once("owned: &[").unwrap();
    assert!(
        owned.split_once(']').unwrap().0.contains("\"checks\""),
        "{rust}"
    );
}

#[test]
fn a_review_can_have_the_work_verified_first() {
    let plan = include_str!("../../machine.toml");
    let review = "[phases.reviewing.on_stop.review]\n";
    let of = |verify: &str| {
        let list = ("[fields]\n", "[fields]\nchecks = { type = \"list\" }\n");
        support::found(&support::edited(
            plan,
            &[(review, &format!("{review}verify = \"{verify}\"\n")), list],
        ))
    };
    assert_eq!(of("checks"), "nothing");
    assert_eq!(of("{program}"), "nothing");
    let found = of("topic");
    assert!(
        found.contains("`topic` is no list, and its texts cannot be the commands"),
        "{found}"
    );
}
