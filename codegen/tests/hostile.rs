//! Whatever a file holds, reading it ends soon, with a machine or with findings, and never with a panic.

use std::time::{Duration, Instant};

use claudex_build::{Diagnostics, check_source, line_of};
use proptest::prelude::*;

const PLAN: &str = include_str!("../../machine.toml");

/// Debug builds on a busy machine are slow; a quadratic walk over a megabyte is far slower.
const SOON: Duration = Duration::from_secs(60);

fn check(source: &str) -> Result<(), Diagnostics> {
    let result = check_source("m.toml", source).map(drop);
    if let Err(found) = &result {
        assert!(!found.list.is_empty());
        assert_eq!(found.cargo_lines().count(), found.list.len());
        assert!(
            found
                .list
                .iter()
                .all(|one| source.get(one.span.clone()).is_some()),
            "{found}"
        );
        assert!(
            found
                .cargo_lines()
                .all(|line| !line.chars().any(char::is_control)),
            "{found}"
        );
        let mut picture = String::new();
        miette::NarratableReportHandler::new()
            .render_report(&mut picture, found)
            .unwrap();
    }
    result
}

fn refused_soon(source: &str) -> Diagnostics {
    let begun = Instant::now();
    let found = check(source).unwrap_err();
    assert!(begun.elapsed() < SOON, "took {:?}", begun.elapsed());
    found
}

fn codes(found: &Diagnostics) -> Vec<&str> {
    found.list.iter().map(|one| one.code).collect()
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(source in any::<String>()) {
        let _ = check(&source);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = check(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn toml_like_text_is_read_or_refused(
        parts in prop::collection::vec(prop::sample::select(vec![
            "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", "\"", "'", "'''", "\"\"\"", " ", "#", "\\", "name",
            "phases", "modes", "fields", "transitions", "a", "on_stop", "when", "set", "from", "to", "1", "-1", "true", "é",
        ]), 0..60)
    ) {
        let _ = check(&parts.concat());
    }

    #[test]
    fn a_damaged_machine_is_read_or_refused(
        at in 0..PLAN.len(), length in 0_usize..40, put in "[a-z\\[\\]{}=.\"'\\\\\n\u{0}\u{202e}é<>()+ -]{0,6}",
    ) {
        let start = (0..=at).rev().find(|&at| PLAN.is_char_boundary(at)).unwrap();
        let end = (start + length).min(PLAN.len());
        let end = (end..=PLAN.len()).find(|&at| PLAN.is_char_boundary(at)).unwrap();
        let _ = check(&format!("{}{put}{}", &PLAN[..start], &PLAN[end..]));
    }

    #[test]
    fn lines_of_a_machine_in_any_order_are_read_or_refused(seed in any::<u64>(), keep in 1_usize..120) {
        let mut lines: Vec<&str> = PLAN.lines().collect();
        let mut state = seed | 1;
        for at in (1..lines.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            lines.swap(at, (state >> 33) as usize % (at + 1));
        }
        lines.truncate(keep);
        let _ = check(&lines.join("\n"));
    }

    #[test]
    fn any_guard_is_read_or_refused(guard in "[a-z_<>=!()&|+ 0-9\"-]{0,60}|((round|plan|failures|decision_signal|3|\"none\"|and|or|<|==|>=|\\(|\\)|\\+|-) ?){0,20}") {
        let _ = check(&PLAN.replacen("\"round < max_rounds\"", &format!("'{guard}'"), 1));
    }
}

#[test]
fn an_empty_file_says_what_is_missing() {
    let found = refused_soon("");
    assert_eq!(codes(&found), ["claudex::machine::missing_key"; 5]);
}

#[test]
fn a_file_of_ten_megabytes_is_refused() {
    assert_eq!(
        codes(&refused_soon(&"#\n".repeat(5_000_000))),
        ["claudex::machine::too_large"]
    );
}

#[test]
fn too_many_phases_are_refused() {
    let mut source = PLAN.to_owned();
    (0..5_000).for_each(|at| source.push_str(&format!("\n[phases.p{at}]")));
    let found = refused_soon(&source);
    assert!(
        found
            .to_string()
            .contains("there are 5006 phases (4096 are the most)"),
        "{found}"
    );
}

#[test]
fn many_phases_from_which_everything_leads_are_refused() {
    let mut source = PLAN.to_owned();
    (0..3_000).for_each(|at| source.push_str(&format!("\n[phases.p{at}]")));
    (0..3_000).for_each(|at| {
        source.push_str(&format!(
            "\n[[transitions.t{at}]]\nfrom = \"*\"\nto = \"done\"\n"
        ))
    });
    assert!(codes(&refused_soon(&source)).contains(&"claudex::machine::too_large"));
}

#[test]
fn a_hundred_findings_are_enough() {
    let source = format!(
        "{PLAN}\n{}",
        (0..20_000)
            .map(|at| format!("[junk{at}]\n"))
            .collect::<String>()
    );
    let found = refused_soon(&source);
    assert_eq!(found.list.len(), 101);
    assert_eq!(found.list[100].message, "19900 more findings are not shown");
}

#[test]
fn a_key_given_a_hundred_thousand_times_is_refused() {
    assert!(
        codes(&refused_soon(&"name = \"a\"\n".repeat(90_000)))
            .contains(&"claudex::machine::syntax")
    );
}

#[test]
fn many_long_names_that_are_nearly_right_are_refused() {
    let long = |at: usize| format!("{}{at:05}", "p".repeat(33));
    let phases: String = (0..300)
        .map(|at| format!("[phases.{}]\n", long(at)))
        .collect();
    let one: Vec<String> = (0..12_000)
        .map(|at| format!("\"{}\"", long(at + 1_000)))
        .collect();
    let list = format!(
        "{PLAN}\n{phases}[[transitions.x]]\nfrom = [{}]\nto = \"same\"\n",
        one.join(",")
    );
    assert!(codes(&refused_soon(&list)).contains(&"claudex::machine::unknown_phase"));
    let many = (0..9_000).map(|at| {
        format!(
            "[[transitions.x]]\nfrom = \"*\"\nto = \"{}\"\n",
            long(at + 1_000)
        )
    });
    let many = format!("{PLAN}\n{phases}{}", many.collect::<String>());
    assert!(codes(&refused_soon(&many)).contains(&"claudex::machine::unknown_phase"));
}

/// On a small stack, as a thread of a build has it.
#[test]
fn deep_nesting_is_refused() {
    let deep = [
        format!("a = {}", "[".repeat(400_000)),
        format!("a = {}", "{ b = ".repeat(100_000)),
        format!("[{}b]", "a.".repeat(400_000)),
        format!(
            "a = {}1{}",
            format!("{{ {}c = ", "b.".repeat(70)).repeat(70),
            "}".repeat(70)
        ),
        format!(
            "[phases.x.meta]\na = {}1{}",
            format!("{{ {}c = ", "b.".repeat(75)).repeat(75),
            "}".repeat(75)
        ),
    ];
    let run = move || deep.iter().for_each(|source| drop(refused_soon(source)));
    std::thread::Builder::new()
        .stack_size(1 << 20)
        .spawn(run)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn guards_that_would_take_for_ever_are_refused() {
    let pairs: Vec<String> = (0..40)
        .map(|at| format!("(round != {at} or failures != {at})"))
        .collect();
    let source = PLAN.replacen(
        "\"round < max_rounds\"",
        &format!("'{}'", pairs.join(" and ")),
        1,
    );
    refused_soon(&source);
    let ors: Vec<String> = (0..100).map(|at| format!("plan == \"{at}\"")).collect();
    refused_soon(&PLAN.replacen(
        "\"round < max_rounds\"",
        &format!("'{}'", ors.join(" or ")),
        1,
    ));
}

#[test]
fn what_a_file_says_cannot_end_a_line_or_colour_a_terminal() {
    let source = PLAN.replace(
        "start   = \"drafting\"",
        "start = \"a\\n\\u001b[31m\\u202Ecargo::warning=x\"",
    );
    let found = check(&source).unwrap_err();
    let lines: Vec<String> = found.cargo_lines().collect();
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].contains("no phase is named `a\\n\\u{1b}[31m\\u{202e}cargo::warning=x`"),
        "{}",
        lines[0]
    );
    assert!(!found.to_string().contains(['\n', '\u{1b}', '\u{202e}']));
}

#[test]
fn carriage_returns_and_wide_characters_count_as_people_count() {
    let source = PLAN.replace('\n', "\r\n").replace(
        "{ holds = \"mode\", doc",
        "{ doc = \"größe 漢字\", hold = \"mode\", dco",
    );
    let line = line_of(&source, source.find("hold = ").unwrap());
    let found = check(&source).unwrap_err();
    let lines: Vec<String> = found.cargo_lines().collect();
    let expected =
        format!("m.toml:{line}:40: error[claudex::machine::unknown_key]: unknown key `hold`");
    assert!(lines[1].starts_with(&expected), "{lines:#?}");
}

#[test]
fn a_byte_is_on_a_line() {
    assert_eq!(
        [0, 1, 2, 3, 99].map(|at| line_of("a\nb", at)),
        [1, 1, 2, 2, 2]
    );
    assert_eq!(line_of("", 0), 1);
}

#[test]
fn what_is_shown_of_a_file_moves_no_cursor_and_is_in_its_place() {
    let source = "a\u{1b}[31m\0 \u{85}\u{202e}é\r\n\tb\rc\n";
    let shown = claudex_build::diagnostic::shown(source);
    assert_eq!(shown, "a?[31m? \u{bf}\u{fffd}é\r\n\tb?c\n");
    assert_eq!(shown.len(), source.len());
    let found = check("name = \"\u{1b}[31m\u{202e}\"\n").unwrap_err();
    let mut picture = String::new();
    miette::NarratableReportHandler::new()
        .render_report(&mut picture, &found)
        .unwrap();
    assert!(!picture.contains(['\u{1b}', '\u{202e}']), "{picture}");
}

#[test]
fn what_is_said_of_a_machine_moves_no_cursor_and_keeps_its_tables() {
    let doc = "doc = \"\\u001b[31m\\u202e | a\\r\\nb\"\n";
    let source = PLAN
        .replacen("doc     = \"The agent writes the plan.\"\n", doc, 1)
        .replacen("doc      = \"An agent", "doc = \"\\u0000 An agent", 1);
    let machine = check_source("m.toml", &source).unwrap();
    let said = claudex_build::spec(&machine, &source, "m.toml");
    assert!(
        said.contains("| `drafting` | \\u{1b}[31m\\u{202e} \\| a b | "),
        "{said}"
    );
    assert!(said.contains("`m.toml`. \\u{0} An agent"), "{said}");
}

#[test]
fn names_and_values_that_nobody_could_read_are_said_without_their_middle() {
    let long = "ä".repeat(300_000);
    for (source, place) in [
        ("a".repeat(10 << 20), "machine.toml:1:1"),
        (format!("name = \"{long}\"\n"), "machine.toml:1:8"),
        (
            format!("name = \"x\"\ndoc = \"{long}\" oops\n"),
            "machine.toml:2:300010",
        ),
        (
            format!("name = \"x\"\n{} = 1\n", "b".repeat(500_000)),
            "machine.toml:2:1",
        ),
        (
            format!("name = \"x\"\nnope = [{}]\n", "\"c\", ".repeat(100_000)),
            "machine.toml:2:1",
        ),
    ] {
        let found = claudex_build::check_source("machine.toml", &source).expect_err("it is wrong");
        let shown: String = found.cargo_lines().collect();
        assert!(shown.len() < 8_000, "{} bytes", shown.len());
        assert!(
            shown.contains(place),
            "{place}: {}",
            &shown[..shown.floor_char_boundary(2_000)]
        );
    }
}
