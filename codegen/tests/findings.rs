//! One small wrong machine for each thing that is checked. Each case edits the same right machine, and shows what is
//! said of it: place, message and help, nothing else. Several findings are joined by an ampersand.

#[macro_use]
mod support;

/// A machine without a fault. Line numbers count from the first line, which is empty.
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
tries    = { type = "count" }
most     = { type = "count", initial = 3 }
color    = { one_of = ["red", "green"] }
owner    = { type = "text" }
quick    = { type = "flag" }

[phases.open]
on_stop = { require-file = { path = "KEY", written = "shut", missing = "remind" } }

[phases.closed]
terminal = true

[[transitions.shut]]
from = "open"
to   = "closed"

[[transitions.remind]]
from = "open"
to   = "same"
when = "tries < 3"
set  = { tries = "tries + 1" }
"#;

fn said(edits: &[(&str, &str)]) -> String {
    support::found(&support::edited(DOOR, edits))
}

mod form {
    use super::said;

    cases! {
        the_machine_that_cases_edit_is_right: [] says "nothing";
        text_that_is_not_toml: ["start = \"open\"" => "start = open"] says "m.toml:5:9: not TOML: string values must be quoted, expected literal string";
        every_syntax_error_at_once: ["start = \"open\"" => "start = open", "terminal = true" => "terminal = = true"] says "m.toml:5:9: not TOML: string values must be quoted, expected literal string & m.toml:24:12: not TOML: extra `=`, expected nothing & m.toml:24:14: not TOML: unexpected key or value, expected newline, `#`";
        a_key_given_twice: ["to   = \"closed\"" => "to = \"closed\"\nto = \"closed\""] says "m.toml:29:1: not TOML: duplicate key (the key was given above; keep one of them)";
        unknown_key_at_the_top: ["name = \"door\"" => "name = \"door\"\nmesages = \"x\""] says "m.toml:3:1: unknown key `mesages` in a machine file (did you mean `messages`?)";
        unknown_key_in_a_phase: ["terminal = true" => "terminal = true\nmesage = \"x.md\""] says "m.toml:25:1: unknown key `mesage` in a phase (did you mean `message`?)";
        unknown_key_in_a_transition: ["to   = \"closed\"" => "to = \"closed\"\nwhem = \"tries < 1\""] says "m.toml:29:1: unknown key `whem` in a transition (did you mean `when`?)";
        unknown_key_in_a_field: ["{ type = \"flag\" }" => "{ type = \"flag\", inital = true }"] says "m.toml:18:29: unknown key `inital` in a field (did you mean `initial`?)";
        unknown_key_in_a_mode: ["start = \"open\"" => "start = \"open\"\nbegin = 1"] says "m.toml:6:1: unknown key `begin` in a mode (there are `start`, `initial`, `by`, `message` and `doc`)";
        unknown_key_in_state: ["[fields]" => "[state]\nextention = \"x\"\n[fields]"] says "m.toml:8:1: unknown key `extention` in [state] (did you mean `extension`?)";
        unknown_key_of_a_behaviour: ["path = \"KEY\"" => "path = \"KEY\", writen = \"shut\""] says "m.toml:21:44: unknown key `writen` in `require-file` (did you mean `written`?)";
        meta_is_free: ["terminal = true" => "terminal = true\nmeta = { anything = [1, { x = 2 }] }"] says "nothing";
        no_name: ["name = \"door\"" => ""] says r#"m.toml:1:1: the machine has no `name` (add `name = "plan"`)"#;
        no_modes: ["[modes.door]\nstart = \"open\"" => ""] says "m.toml:1:1: the machine has no `modes` (add `[modes.plan]`)";
        no_start: ["start = \"open\"" => ""] says r#"m.toml:4:8: the mode `door` has no `start` (add `start = "drafting"`)"#;
        no_type: ["{ type = \"flag\" }" => "{ doc = \"x\" }"] says r#"m.toml:18:1: the field `quick` has no `type` (add `type = "count"`)"#;
        no_from: ["from = \"open\"\nto   = \"closed\"" => "to = \"closed\""] says r#"m.toml:26:1: the transition `shut` has no `from` (add `from = "drafting"`)"#;
        no_to: ["to   = \"closed\"" => ""] says r#"m.toml:26:1: the transition `shut` has no `to` (add `to = "same"`)"#;
        no_parameter: ["path = \"KEY\", " => ""] says r#"m.toml:21:13: `require-file` has no `path` (add `path = "..."`)"#;
        no_required_outcome: ["written = \"shut\", " => ""] says r#"m.toml:21:13: `require-file` has no `written` (add `written = "transition"`)"#;
        terminal_is_a_boolean: ["terminal = true" => "terminal = \"yes\""] says "m.toml:24:12: `terminal` takes true or false, not a string";
        a_transition_is_a_list: ["[[transitions.shut]]" => "[transitions.shut]"] says "m.toml:26:14: `transitions.shut` is a list of entries, not a table (write `[[transitions.shut]]`, with two brackets)";
        a_name_that_would_be_self: ["tries    = { type = \"count\" }" => "tries = { type = \"count\" }\nself_ = { one_of = [\"a\"] }"] says r#"m.toml:15:1: "self_" cannot name a field (in a name each _ stands alone between letters or digits: `self`)"#;
        a_name_with_two_underscores: ["name = \"door\"" => "name = \"door__way\""] says r#"m.toml:2:8: "door__way" cannot name the machine (in a name each _ stands alone between letters or digits: `door_way`)"#;
        a_name_in_capitals: ["[phases.closed]" => "[phases.Closed]", "to   = \"closed\"" => "to = \"Closed\""] says r#"m.toml:23:9: "Closed" cannot name a phase (a name is a-z, then a-z, 0-9 and _, at most 64 characters: `closed`)"#;
        a_name_with_a_hyphen: ["quick " => "be-quick "] says r#"m.toml:18:1: "be-quick" cannot name a field (a name is a-z, then a-z, 0-9 and _, at most 64 characters: `be_quick`)"#;
        a_word_with_an_underscore: ["\"green\"" => "\"dark_green\""] says "nothing";
        a_word_with_a_space: ["\"green\"" => "\"dark green\""] says r#"m.toml:16:31: "dark green" cannot be a word of `one_of` (a word is a-z, 0-9, - and _, at most 64 characters: `max-reached`)"#;
        a_word_given_twice: ["\"green\"" => "\"red\""] says "m.toml:16:31: `red` stands in `one_of` twice (leave one of them out)";
        a_field_with_two_kinds: ["{ type = \"flag\" }" => "{ type = \"flag\", holds = \"mode\" }"] says "m.toml:18:29: `quick` has both `type` and `holds` (a field has one of `type`, `one_of`, `data` and `holds`)";
        a_held_field_with_an_initial_value: ["{ holds = \"machine\" }" => "{ holds = \"machine\", initial = \"x\" }"] says "m.toml:13:33: `machine` holds what the engine writes: it has no `initial` (leave `initial` out)";
        a_type_that_there_is_not: ["{ type = \"flag\" }" => "{ type = \"flga\" }"] says r#"m.toml:18:21: `type` cannot be "flga" (did you mean `flag`?)"#;
        a_negative_count: ["initial = 3" => "initial = -3"] says "m.toml:15:40: `initial` cannot be -3 (a count is a whole number from 0 to 9223372036854775807)";
        a_folder_that_leaves: ["[fields]" => "[state]\nfolder = \"../x\"\n[fields]"] says r#"m.toml:8:10: `folder` cannot be "../x" (it is a relative path without .., with / between its parts)"#;
        two_behaviours: ["missing = \"remind\" }" => "missing = \"remind\" }, approve = { then = \"shut\" }"] says "m.toml:21:84: `on_stop` names more than one behaviour (keep one; what needs both is a phase written in Rust)";
        an_unknown_behaviour: ["require-file" => "require_file"] says "m.toml:21:13: there is no behaviour `require_file` (did you mean `require-file`?)";
        a_brace_without_a_field: ["\"KEY\"" => "\"{KEY\""] says "m.toml:21:38: `path` has a brace that holds no field's name (write `{field}`; other braces cannot be written here)";
        an_actor_that_there_is_not: ["to   = \"closed\"" => "to = \"closed\"\nby = [\"agents\"]"] says r#"m.toml:29:7: `by` cannot be "agents" (did you mean `agent`?)"#;
        an_evidence_that_there_is_not: ["to   = \"closed\"" => "to = \"closed\"\nrequires = \"review\""] says r#"m.toml:29:12: `requires` cannot be "review" (did you mean `reviewed`?)"#;
        a_turn_that_does_not_end: ["to   = \"closed\"" => "to = \"closed\"\nturn = \"ends\""] says r#"m.toml:29:8: `turn` cannot be "ends" (did you mean `end`?)"#;
        a_star_among_phases: ["from = \"open\"\nto   = \"closed\"" => "from = [\"open\", \"*\"]\nto = \"closed\""] says r#"m.toml:27:17: `*` stands among other phases (write `from = "*"`, or the phases)"#;
        findings_of_form_and_of_names_come_together: [
            "terminal = true" => "terminal = 1", "to   = \"closed\"" => "to = \"closd\"", "\"tries < 3\"" => "\"tires < 3\"",
        ] says "m.toml:24:12: `terminal` takes true or false, not an integer & m.toml:28:6: no phase is named `closd` (did you mean `closed`?) & m.toml:33:9: no field is named `tires` (did you mean `tries`?)";
    }
}

mod guard_text {
    use super::said;

    cases! {
        a_single_equals: ["\"tries < 3\"" => "\"tries = 3\""] says "m.toml:33:15: `=` compares nothing (write `==`)";
        ampersands: ["\"tries < 3\"" => "'tries < 3 && most > 1'"] says "m.toml:33:19: `&&` cannot stand here (write `and`)";
        not: ["\"tries < 3\"" => "'not tries < 3'"] says "m.toml:33:9: there is no `not` (use != or the opposite sign)";
        a_bare_flag: ["\"tries < 3\"" => "'tries < 3 and quick'"] says "m.toml:33:28: a comparison is wanted, not the end (compare with ==, !=, <, <=, > or >=; a flag is `quick == true`)";
        an_open_parenthesis: ["\"tries < 3\"" => "'(tries < 3'"] says "m.toml:33:19: `)` is wanted, not the end (close the parenthesis)";
        an_open_quote: ["\"tries < 3\"" => "'tries < 3 and color == \"red'"] says r#"m.toml:33:32: a quote is not closed (end the word with ")"#;
        a_chain: ["\"tries < 3\"" => "\"0 < tries < 3\""] says "m.toml:33:19: `<` cannot stand here (join two comparisons with `and`)";
        an_empty_guard: ["\"tries < 3\"" => "\"\""] says r#"m.toml:33:9: a field, a number or a "word" is wanted, not the end (a comparison is `field < 3` or `field == "word"`)"#;
        a_constant_with_an_offset: ["\"tries < 3\"" => "\"1 + tries < 3\""] says "m.toml:33:11: `+` cannot follow a constant (write the field first: `field + 1`)";
        the_place_behind_an_escape: ["\"tries < 3\"" => "\"color == \\\"red\\\" and tries ! 3\""] says "m.toml:33:36: a comparison is wanted, not `!` (compare with ==, !=, <, <=, > or >=; a flag is `tries == true`)";
        the_place_in_a_long_string: ["\"tries < 3\"" => "'''\ntries\n  ! 3'''"] says "m.toml:35:3: a comparison is wanted, not `!` (compare with ==, !=, <, <=, > or >=; a flag is `tries == true`)";
        a_number_that_is_none: ["\"tries < 3\"" => "\"tries < 3x\""] says "m.toml:33:17: `3x` is not a number (a number is 0 to 9223372036854775807)";
        deep_parentheses: ["\"tries < 3\"" => "'((((((((((((((((((tries < 3))))))))))))))))))'"] says "m.toml:33:25: too many parentheses in parentheses (16 are the most)";
        an_update_that_is_none: ["\"tries + 1\"" => "\"tries + most\""] says "m.toml:34:27: `tries`: a number is wanted after `+`, not `most` (write `field + 1`: only a number stands there, never a field)";
        an_update_by_a_call: ["\"tries + 1\"" => "\"next(Tries)\""] says "m.toml:34:19: `tries`: `Tries` is not a field's name (name a field with one_of: `next(field)`)";
    }
}

mod names {
    use super::said;

    cases! {
        a_phase_with_the_method_of_every_machine: ["[phases.open]" => "[phases.stop]", "start = \"open\"" => "start = \"stop\"", "from = \"open\"\nto   = \"closed\"" => "from = \"stop\"\nto = \"closed\"", "from = \"open\"\nto   = \"same\"" => "from = \"stop\"\nto = \"same\""] says "m.toml:20:9: the phase `stop` would be the method `OnStop::stop`, which every machine has (rename the phase)";
        a_phase_with_the_type_of_an_iterator: ["[phases.closed]" => "[phases.phase_iter]", "to   = \"closed\"" => "to = \"phase_iter\""] says "m.toml:23:9: the phase `phase_iter` and the type `PhaseIter` that every module has both give the Rust type `PhaseIter` (rename the phase)";
        a_phase_with_the_type_of_a_fields_iterator: ["[phases.closed]" => "[phases.color_iter]", "to   = \"closed\"" => "to = \"color_iter\""] says "m.toml:16:1: the field `color` and the phase `color_iter` both give the Rust type `ColorIter` (rename the field)";
        a_transition_named_like_a_trait_that_derives_name: ["[[transitions.shut]]" => "[[transitions.iterator]]", "written = \"shut\"" => "written = \"iterator\""] says "m.toml:26:15: the transition `iterator` and the type `Iterator` that every module has both give the Rust type `Iterator` (rename the transition)";
        unknown_target: ["to   = \"closed\"" => "to = \"closd\""] says "m.toml:28:6: no phase is named `closd` (did you mean `closed`?)";
        unknown_source: ["from = \"open\"\nto   = \"closed\"" => "from = [\"open\", \"opened\"]\nto = \"closed\""] says "m.toml:27:17: no phase is named `opened` (did you mean `open`?)";
        unknown_start: ["start = \"open\"" => "start = \"opne\""] says "m.toml:5:9: no phase is named `opne` (did you mean `open`?)";
        unknown_persona: ["require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" }" => "review = { subject = \"KEY\", round = \"tries\", personas = [\"sceptc\"], clean = \"shut\", findings = \"remind\", failed = \"shut\" }", "[phases.closed]" => "[personas.sceptic]\nlabel = \"Sceptic\"\nprompt = \"sceptic.md\"\n[phases.closed]"] says "m.toml:21:70: no persona is named `sceptc` (did you mean `sceptic`?)";
        persona_without_a_label: ["[phases.closed]" => "[personas.sceptic]\nprompt = \"/etc/sceptic.md\"\nfocus = \"all\"\n[phases.closed]"] says "m.toml:23:11: the persona `sceptic` has no `label` (add `label = \"Security review\"`) & m.toml:24:10: `prompt` cannot be \"/etc/sceptic.md\" (it is a relative path without .., with / between its parts) & m.toml:25:9: `focus` cannot be \"all\" (there are `engineering`, `security` and `operations`)";
        unknown_field_in_a_guard: ["\"tries < 3\"" => "\"tires < 3\""] says "m.toml:33:9: no field is named `tires` (did you mean `tries`?)";
        unknown_field_in_an_update: ["tries = \"tries + 1\"" => "tries = \"tires + 1\""] says "m.toml:34:18: no field is named `tires` (did you mean `tries`?)";
        unknown_field_set: ["{ tries = \"tries + 1\" }" => "{ tries = \"tries + 1\", colour = \"red\" }"] says "m.toml:34:31: no field is named `colour` (did you mean `color`?)";
        unknown_field_in_a_parameter: ["\"KEY\"" => "\"{ownr}/KEY\""] says "m.toml:21:37: no field is named `ownr` (did you mean `owner`?)";
        unknown_field_in_a_mode: ["start = \"open\"" => "start = \"open\"\ninitial = { mst = 1 }"] says "m.toml:6:13: no field is named `mst` (did you mean `most`?)";
        unknown_transition: ["missing = \"remind\"" => "missing = [\"remnd\"]"] says "m.toml:21:73: no transition is named `remnd` (did you mean `remind`?)";
        unknown_argument: ["tries = \"tries + 1\"" => "tries = \"args.by\""] says r#"m.toml:34:18: `remind` has no argument `by` (add `args = { by = "text" }`)"#;
        no_holder: ["session  = { holds = \"session\" }" => ""] says r#"m.toml:2:8: no field holds the session (add `session = { holds = "session" }` to [fields])"#;
        held_twice: ["machine  = { holds = \"machine\" }" => "machine = { holds = \"machine\" }\nmachine2 = { holds = \"machine\" }"] says "m.toml:14:1: `machine2` holds the machine a second time (it is in `machine`; leave one of them out)";
        two_names_of_one_type: [
            "[phases.closed]" => "[phases.a_1]\nterminal = true\n[phases.a1]", "to   = \"closed\"" => "to = \"a1\"\nwhen = \"tries < 1\"\n[[transitions.shut]]\nfrom = \"open\"\nto = \"a_1\"\nwhen = \"tries > 0\"",
        ] says "m.toml:25:9: the phase `a1` and the phase `a_1` both give the Rust type `A1` (rename the phase)";
        a_field_named_as_a_generated_type: ["color    = " => "loop = "] says "nothing";
        a_field_of_words_that_is_called_phase: ["phase    = { holds = \"phase\" }" => "where    = { holds = \"phase\" }\nphase = { one_of = [\"a\", \"b\"] }"] says "nothing";
        two_fields_of_one_type: ["color    = " => "mode_word = { one_of = [\"a\"] }\nmode = { one_of = [\"b\"] }\ncolor    = "] says "m.toml:17:1: the field `mode` and the field `mode_word` both give the Rust type `ModeWordIter` (rename the field) & m.toml:17:1: the field `mode` and the field `mode_word` both give the Rust type `ModeWord` (rename the field)";
        a_phase_named_as_a_generated_type: ["[phases.closed]" => "[phases.any_loop]", "to   = \"closed\"" => "to = \"any_loop\""] says "m.toml:23:9: the phase `any_loop` and the type `AnyLoop` that every module has both give the Rust type `AnyLoop` (rename the phase)";
        a_phase_named_as_the_machine: ["name = \"door\"" => "name = \"closed\""] says "m.toml:23:9: the phase `closed` and the machine `closed` both give the Rust type `Closed` (the other one: line 2; rename the phase)";
        a_phase_named_same: ["[phases.closed]" => "[phases.same]\nterminal = true\n[phases.closed]"] says r#"m.toml:23:9: a phase is named `same` (`to = "same"` means the source; rename the phase)"#;
        a_phase_named_as_a_type_of_rust: ["[phases.closed]" => "[phases.option]", "to   = \"closed\"" => "to = \"option\""] says "m.toml:23:9: the phase `option` and the type `Option` that every module has both give the Rust type `Option` (rename the phase)";
        a_phase_named_as_where_a_transition_leads: [
            "[phases.closed]" => "[phases.shut_next]", "to   = \"closed\"" => "to = \"shut_next\"\nwhen = \"quick == true\"",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"same\"\nwhen = \"quick == false\"\nset = { quick = true }\n",
        ] says "m.toml:26:15: the transition `shut` and the phase `shut_next` both give the Rust type `ShutNext` (rename the transition)";
        an_argument_that_verbs_have: ["" => "[[transitions.slam]]\nfrom = \"open\"\nto = \"closed\"\nby = [\"agent\"]\nargs = { id = \"text\" }\n"] says "m.toml:39:10: the argument `id` is one that verbs have already (rename the argument)";
        a_mode_given_at_the_start: ["quick    = { type = \"flag\" }" => "mode = { type = \"flag\", at_start = \"optional\" }"] says "m.toml:18:1: a start takes a `mode` already (rename the field, or leave `at_start` out)";
        a_word_of_rust: ["quick " => "self "] says "m.toml:18:1: the field `self` is a word of Rust that nothing can be named (rename the field)";
        a_field_may_be_named_as_a_method: ["quick " => "phase2 ", "phase " => "next_phase ", "owner " => "folder "] says "nothing";
        a_field_named_as_a_transition: ["quick " => "shut "] says "m.toml:26:15: the transition `shut` and the field `shut` have one name (rename the transition)";
        a_transition_named_as_a_method: [
            "[[transitions.shut]]" => "[[transitions.reload]]", "\"shut\"" => "\"reload\"",
        ] says "m.toml:26:15: the transition `reload` and the method `reload` that every module has both give the Rust method `reload` (rename the transition)";
        a_verb_of_the_command_line: [
            "" => "[[transitions.stop]]\nfrom = \"open\"\nto = \"closed\"\nby = [\"agent\"]\n",
        ] says "m.toml:35:15: the transition `stop` would be the verb `stop`, which the command line has (rename it, or leave `by` out; taken are `start`, `run`, `review`, `status`, `list`, `adopt`, `journal`, `explain`, `report`, `sweep`, `doctor`, `machine`, `config`, `stop`, `prompt`, `answer`, `session_start`, `hooks`, `plugin`, `rollback`, `personas`, `import`, `use`, `state`, `statusline`, `completions`, `man`, `help` and `resume`)";
        resume_is_a_persons: ["" => "[[transitions.resume]]\nfrom = \"open\"\nto = \"same\"\nby = [\"person\"]\n"] says "nothing";
        resume_is_not_an_agents: ["" => "[[transitions.resume]]\nfrom = \"open\"\nto = \"same\"\nby = [\"agent\", \"person\"]\nwhen = \"tries < 2\"\nset = { tries = \"tries + 1\" }"] says r#"m.toml:35:15: the transition `resume` would be the verb `resume`, which the command line has (the command line’s resume is a person’s: write by = ["person"], or rename it)"#;
        words_of_one_variant: ["\"green\"" => "\"green\", \"g-1\", \"g1\""] says "m.toml:16:47: the word `g1` and the word `g-1` both give the Rust variant `G1` (rename the word)";
        a_word_without_a_variant: ["\"green\"" => "\"2nd\", \"--\""] says "m.toml:16:38: the word `--` of `color` gives no Rust variant (write a word with a letter, and not `self`)";
        stored_twice: ["[phases.open]" => "[phases.open]\nstored = \"closed\""] says "m.toml:24:9: the phases `open` and `closed` are both stored as `closed` (give one of them another `stored`)";
    }
}

mod types {
    use super::said;

    cases! {
        a_word_that_the_field_has_not: ["\"tries < 3\"" => "'tries < 3 and color == \"gren\"'"] says r#"m.toml:33:23: `color` has no word "gren" (did you mean `green`?)"#;
        a_count_compared_with_a_word: ["\"tries < 3\"" => "'tries < \"red\"'"] says r#"m.toml:33:9: `tries` is a count, and "red" is none (give a whole number from 0)"#;
        a_flag_compared_with_a_number: ["\"tries < 3\"" => "'tries < 3 and quick == 1'"] says "m.toml:33:23: `quick` is a flag, and 1 is none (give true or false, without quotes)";
        words_have_no_order: ["\"tries < 3\"" => "'tries < 3 and color < \"green\"'"] says "m.toml:33:23: `color` is one of some words, which has no order (compare it with == or !=)";
        nothing_is_added_to_a_flag: ["\"tries < 3\"" => "'tries < 3 and quick + 1 == 1'"] says "m.toml:33:23: `quick` is a flag: nothing can be added to it (only a count and a time take + and -)";
        fields_of_two_types: ["\"tries < 3\"" => "'tries < 3 and tries == quick'"] says "m.toml:33:32: `tries` is a count and `quick` is a flag (compare fields of one type)";
        two_constants: ["\"tries < 3\"" => "'tries < 3 and 1 < 2'"] says "m.toml:33:8: a guard compares two constants (compare a field with something)";
        a_guard_on_what_the_engine_holds: ["\"tries < 3\"" => "'tries < 3 and revision < 9'"] says "m.toml:33:23: `revision` is the engine's: only the engine writes it, and no guard reads it (use a field of the machine's own)";
        an_update_of_what_the_engine_holds: ["{ tries = \"tries + 1\" }" => "{ tries = \"tries + 1\", phase = \"open\" }"] says "m.toml:34:31: `phase` is the engine's: only the engine writes it, and no guard reads it (use a field of the machine's own)";
        a_word_set_that_the_field_has_not: ["{ tries = \"tries + 1\" }" => "{ tries = \"tries + 1\", color = \"blue\" }"] says r#"m.toml:34:39: `color` has no word "blue" (there are `red` and `green`)"#;
        a_quoted_constant_is_read_all_the_same: ["{ tries = \"tries + 1\" }" => "{ tries = \"tries + 1\", quick = \"true\" }"] says "nothing";
        a_count_set_to_a_flag: ["{ tries = \"tries + 1\" }" => "{ tries = \"tries + 1\", most = true }"] says "m.toml:34:38: `most` is a count, and true is none (give a whole number from 0)";
        the_next_of_a_count: ["{ tries = \"tries + 1\" }" => "{ tries = \"tries + 1\", color = \"next(most)\" }"] says "m.toml:34:39: `color` cannot take the next word of `most` (next() goes from a one_of to a field with the same words)";
        an_argument_of_another_type: ["to   = \"closed\"" => "to = \"closed\"\nby = [\"agent\"]\nargs = { why = \"text\" }\nset = { most = \"args.why\" }", "written = \"shut\"" => "written = \"remind\""] says "m.toml:31:16: `most` is a count, and the argument `why` is a text (a text or a path goes into either, a count into a count, a flag into a flag, an id into an id or a text, a word into a one_of or a text)";
        an_initial_word_that_the_field_has_not: ["[\"red\", \"green\"]" => "[\"red\", \"green\"], initial = \"grene\""] says r#"m.toml:16:51: `color` has no word "grene" (did you mean `green`?)"#;
        an_initial_value_of_another_type: ["initial = 3" => "initial = \"three\""] says r#"m.toml:15:40: `most` is a count, and "three" is none (give a whole number from 0)"#;
        a_modes_initial_value_of_another_type: ["start = \"open\"" => "start = \"open\"\ninitial = { most = true }"] says "m.toml:6:20: `most` is a count, and true is none (give a whole number from 0)";
        a_modes_initial_value_of_the_engines: ["start = \"open\"" => "start = \"open\"\ninitial = { id = \"x\" }"] says "m.toml:6:13: `id` is the engine's: only the engine writes it, and no guard reads it (use a field of the machine's own)";
        a_round_that_is_no_count: [
            "require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" }" => "review = { subject = \"x\", round = \"owner\", clean = \"shut\", findings = \"shut\", failed = \"remind\" }",
        ] says "m.toml:21:47: `round` names a count, and `owner` is none (there are `tries` and `most`)";
    }
}

mod graph {
    use super::said;

    cases! {
        no_terminal_phase: ["terminal = true" => ""] says "m.toml:2:8: no phase is terminal (add a phase with `terminal = true`, and an edge to it)";
        an_edge_from_a_terminal_phase: ["from = \"open\"\nto   = \"closed\"" => "from = [\"open\", \"closed\"]\nto = \"closed\""] says "m.toml:27:17: `shut` leaves `closed`, which is terminal (a loop that is over stays so: take it out of `from`)";
        a_terminal_phase_with_a_behaviour: ["terminal = true" => "terminal = true\non_stop = { approve = { then = \"shut\" } }"] says "m.toml:25:13: `closed` is terminal and has an `on_stop` (no stop reaches a loop that is over: leave `on_stop` or `terminal` out)";
        a_mode_that_starts_at_the_end: ["start = \"open\"" => "start = \"open\"\n[modes.over]\nstart = \"closed\""] says "m.toml:7:9: the mode `over` starts in `closed`, which is terminal (terminal: line 25; start in a phase that goes on)";
        an_unreachable_phase: ["[phases.closed]" => "[phases.lost]\nterminal = true\n[phases.closed]"] says r#"m.toml:23:9: no loop reaches `lost` (add a transition with `to = "lost"`, or take the phase out)"#;
        a_phase_without_a_way_out: [
            "[phases.closed]" => "[phases.stuck]\n[phases.closed]",
            "" => "[[transitions.jam]]\nfrom = \"open\"\nto = \"stuck\"\nby = [\"agent\"]\n",
        ] says "m.toml:23:9: nothing leads from `stuck` to a terminal phase (add a transition from `stuck` that leads to `closed`)";
        the_same_edge_twice: ["" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\n"] says "m.toml:35:15: `shut` leaves `open` twice without a guard (give each a `when` of its own, or take one out)";
        the_same_guard_twice: ["" => "[[transitions.remind]]\nfrom = \"open\"\nto = \"closed\"\nwhen = \"tries  <  3\"\n"] says "m.toml:35:15: `remind` leaves `open` twice with the same guard (give each a `when` of its own, or take one out)";
        edges_that_differ_in_who_takes_them: [
            "to   = \"closed\"" => "to = \"closed\"\nwhen = \"quick == true\"",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = \"quick == false\"\nby = [\"agent\"]\n",
        ] says "m.toml:36:15: the entries of `shut` differ in `by` (one transition is one method: write the same `by` in each)";
        edges_that_differ_in_evidence_and_arguments: [
            "to   = \"closed\"" => "to = \"closed\"\nwhen = \"quick == true\"",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = \"quick == false\"\nrequires = \"settled\"\nargs = { why = \"text\" }\n",
        ] says "m.toml:36:15: the entries of `shut` differ in `requires` (one transition is one method: write the same `requires` in each) & m.toml:36:15: the entries of `shut` differ in `args` (one transition is one method: write the same `args` in each)";
        a_star_without_a_source: ["" => "[[transitions.shut]]\nfrom = \"*\"\nto = \"closed\"\n"] says "m.toml:36:8: `*` leaves `shut` no source (every phase has an edge of its own of this transition: take this entry out)";
        an_outcome_without_an_edge: [
            "[phases.closed]" => "[phases.ajar]\non_stop = { approve = { then = \"shut\" } }\n[phases.closed]",
            "" => "[[transitions.pull]]\nfrom = \"open\"\nto = \"ajar\"\nby = [\"agent\"]\n[[transitions.push]]\nfrom = \"ajar\"\nto = \"closed\"\nby = [\"agent\"]\n",
        ] says "m.toml:24:32: `shut` does not leave `ajar` (it leaves `open`; add `ajar` to its `from`, or name another transition)";
        an_outcome_without_the_evidence: ["to   = \"closed\"" => "to = \"closed\"\nrequires = \"reviewed\""] says "m.toml:21:54: `written` has no evidence for `shut`, which requires reviewed (name another transition; of `review`, `clean` gives settled and reviewed, `findings` and `stalled` give reviewed; of `verify`, `passed` gives verified; other outcomes give nothing)";
        findings_do_not_settle: [
            "require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" }" => "review = { subject = \"x\", round = \"tries\", clean = \"shut\", findings = \"shut\", failed = \"remind\" }",
            "to   = \"closed\"" => "to = \"closed\"\nrequires = \"settled\"",
        ] says "m.toml:21:83: `findings` has no evidence for `shut`, which requires settled (name another transition; of `review`, `clean` gives settled and reviewed, `findings` and `stalled` give reviewed; of `verify`, `passed` gives verified; other outcomes give nothing)";
        what_is_settled_is_reviewed: [
            "require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" }" => "review = { subject = \"x\", round = \"tries\", clean = \"shut\", findings = \"shut\", failed = \"remind\" }",
            "to   = \"closed\"" => "to = \"closed\"\nrequires = \"reviewed\"",
        ] says "nothing";
        a_behaviour_has_no_arguments: ["to   = \"closed\"" => "to = \"closed\"\nargs = { why = \"text\" }"] says "m.toml:21:54: `shut` takes `why`, and `written` does not give it (write `{ then = \"shut\", with = { why = ... } }`, or name another transition)";
        an_outcome_is_the_hooks_to_take: ["to   = \"closed\"" => "to = \"closed\"\nby = [\"agent\"]"] says "m.toml:21:54: `shut` is not the hook's to take (name a transition without `by`, or take `by` off this one)";
        an_edge_that_nothing_takes: ["" => "[[transitions.slam]]\nfrom = \"open\"\nto = \"closed\"\n"] says "m.toml:36:8: nothing takes `slam` from `open` (name it in an outcome of `open`'s `on_stop`, open it with `by`, or take it out)";
        rust_may_take_any_edge: [
            "on_stop = { require-file = { path = \"KEY\", written = \"shut\", missing = \"remind\" } }" => "",
            "" => "[[transitions.slam]]\nfrom = \"open\"\nto = \"closed\"\n",
        ] says "nothing";
    }
}

mod guards {
    use super::said;

    const SHUT: &str = "to   = \"closed\"";

    cases! {
        // The solver tries texts of its own: whatever texts a guard names, there are others.
        texts_that_leave_a_gap: [
            SHUT => "to = \"closed\"\nwhen = 'owner == \"text 1\"'",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = 'owner == \"text 2\"'\n",
        ] says r#"m.toml:26:15: no edge of `shut` from `open` is open when owner = "text 3" (widen a guard, or add an edge for what is left)"#;
        counts_that_overlap: [
            SHUT => "to = \"closed\"\nwhen = \"tries <= most\"",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = \"tries >= most\"\n",
        ] says "m.toml:39:8: two edges of `shut` from `open` are open at once when most = 0 and tries = 0 (let one guard be the opposite of the other)";
        counts_that_leave_a_gap: [
            SHUT => "to = \"closed\"\nwhen = \"tries < most - 1\"",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = \"tries >= most\"\n",
        ] says "m.toml:26:15: no edge of `shut` from `open` is open when most = 1 and tries = 0 (widen a guard, or add an edge for what is left)";
        what_all_guards_ask_for_is_no_gap: [
            SHUT => "to = \"closed\"\nwhen = '(most == 0 or quick == true) and tries < 3'",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = 'tries >= 3 and (most == 0 or quick == true)'\n",
        ] says "nothing";
        a_gap_beside_what_all_guards_ask_for: [
            SHUT => "to = \"closed\"\nwhen = 'quick == true and tries < 3'",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = 'quick == true and tries > 3'\n",
        ] says "m.toml:26:15: no edge of `shut` from `open` is open when quick = true and tries = 3 (widen a guard, or add an edge for what is left)";
        a_gap_far_out: [
            SHUT => "to = \"closed\"\nwhen = \"tries < 1000000000\"",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = \"tries > 1000000000\"\n",
        ] says "m.toml:26:15: no edge of `shut` from `open` is open when tries = 1000000000 (widen a guard, or add an edge for what is left)";
        counts_that_divide: [
            SHUT => "to = \"closed\"\nwhen = \"tries + 2 < most\"",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = \"most <= tries + 2\"\n",
        ] says "nothing";
        an_edge_without_a_guard_overlaps: [
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = \"quick == true\"\n",
        ] says "m.toml:38:8: two edges of `shut` from `open` are open at once when quick = true (let one guard be the opposite of the other)";
        words_that_leave_a_gap: [
            "[\"red\", \"green\"]" => "[\"red\", \"green\", \"blue\"]",
            SHUT => "to = \"closed\"\nwhen = 'color == \"red\"'",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = 'color == \"green\"'\n",
        ] says r#"m.toml:26:15: no edge of `shut` from `open` is open when color = "blue" (widen a guard, or add an edge for what is left)"#;
        words_that_divide: [
            SHUT => "to = \"closed\"\nwhen = 'color == \"red\"'",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = 'color == \"green\"'\n",
        ] says "nothing";
        three_edges_that_divide: [
            SHUT => "to = \"closed\"\nwhen = 'color == \"red\" and tries < 3'",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = 'color == \"red\" and (tries == 3 or tries > 3)'\n[[transitions.shut]]\nfrom = \"open\"\nto = \"same\"\nwhen = 'color != \"red\" and tries != 9'\nset = { color = \"red\" }\n[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = 'color != \"red\" and tries == 9'\n",
        ] says "nothing";
        texts_have_no_end: [
            SHUT => "to = \"closed\"\nwhen = 'owner == \"me\"'",
            "" => "[[transitions.shut]]\nfrom = \"open\"\nto = \"closed\"\nwhen = 'owner == \"you\"'\n",
        ] says r#"m.toml:26:15: no edge of `shut` from `open` is open when owner = "text 1" (widen a guard, or add an edge for what is left)"#;
        a_guard_that_never_holds: [SHUT => "to = \"closed\"\nwhen = \"tries < most and most < tries + 1\""] says "m.toml:29:8: no values make this guard of `shut` hold (counts begin at 0; loosen the guard, or take the edge out)";
        a_count_is_never_below_zero: [SHUT => "to = \"closed\"\nwhen = \"most < 0\""] says "m.toml:29:8: no values make this guard of `shut` hold (counts begin at 0; loosen the guard, or take the edge out)";
    }
}
