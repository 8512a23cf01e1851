//! Diagrams: everything that the machine has is in them, nothing in them lies on anything else, and no text of a machine
//! file becomes markup.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use claudex_build::model::Machine;
use claudex_build::{Format, draw, parse};
use proptest::prelude::*;
use roxmltree::{Document, Node};

const PLAN: &str = include_str!("../../machine.toml");

fn machine(source: &str) -> Machine {
    parse("m.toml", source).unwrap_or_else(|found| panic!("{found}"))
}

/// A machine of phases `p0` and so on, the last one terminal; each edge is (from, to, by a person).
fn graph(phases: usize, edges: &[(usize, usize, bool)]) -> Machine {
    let mut source =
        "name = \"g\"\n[modes.g]\nstart = \"p0\"\n[fields]\nphase = { holds = \"phase\" }\n"
            .to_owned();
    for at in 0..phases {
        let terminal = if at + 1 == phases {
            "terminal = true"
        } else {
            ""
        };
        let _ = writeln!(source, "[phases.p{at}]\n{terminal}");
    }
    source.push_str("[transitions]\n");
    for (at, (from, to, person)) in edges.iter().enumerate() {
        let by = if *person { "by = [\"person\"]" } else { "" };
        let _ = writeln!(
            source,
            "[[transitions.t{at}]]\nfrom = \"p{from}\"\nto = \"p{to}\"\n{by}"
        );
    }
    machine(&source)
}

/// A rectangle: left, top, right, bottom.
type Area = [f64; 4];

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    let value = node
        .attribute(name)
        .unwrap_or_else(|| panic!("{name} of {node:?}"));
    value.parse().unwrap_or_else(|_| panic!("{name}={value}"))
}

fn has_class(node: Node<'_, '_>, class: &str) -> bool {
    node.attribute("class")
        .is_some_and(|all| all.split(' ').any(|one| one == class))
}

/// The boxes of a picture, and its labels that stand outside of boxes. Type of one width is 0.6 of its size wide.
fn areas(picture: &Document<'_>) -> Vec<(String, Area)> {
    let mut areas = Vec::new();
    for node in picture.descendants() {
        if node.has_tag_name("rect") && (has_class(node, "phase") || has_class(node, "mode")) {
            let (x, y) = (number(node, "x"), number(node, "y"));
            areas.push((
                "a box".to_owned(),
                [x, y, x + number(node, "width"), y + number(node, "height")],
            ));
        }
        let own = ["stop", "begins"]
            .iter()
            .any(|class| has_class(node, class));
        if node.has_tag_name("text") && has_class(node, "label") && !own {
            let text = node.text().unwrap_or_default();
            let wide = text.chars().count() as f64 * 7.2;
            let (x, y) = (number(node, "x"), number(node, "y"));
            let left = if has_class(node, "middle") {
                x - wide / 2.0
            } else {
                x
            };
            areas.push((text.to_owned(), [left, y - 10.0, left + wide, y + 3.0]));
        }
    }
    areas
}

/// Panics if anything of a picture lies on anything else, or beyond its edge.
fn is_tidy(svg: &str) {
    let picture = Document::parse(svg).unwrap_or_else(|error| panic!("{error}:\n{svg}"));
    let whole = picture.root_element();
    let (width, height) = (number(whole, "width"), number(whole, "height"));
    let areas = areas(&picture);
    for (at, (name, [left, top, right, bottom])) in areas.iter().enumerate() {
        assert!(*left >= -1.0 && *top >= -1.0, "{name} is cut off\n{svg}");
        assert!(
            *right <= width - 20.0 && *bottom <= height - 20.0,
            "{name} is cut off\n{svg}"
        );
        for (other, area) in &areas[at + 1..] {
            let apart =
                *right <= area[0] || area[2] <= *left || *bottom <= area[1] || area[3] <= *top;
            assert!(apart, "{name} lies on {other}\n{svg}");
        }
    }
}

fn words(svg: &str, class: &str) -> Vec<String> {
    let picture = Document::parse(svg).expect("the picture is XML");
    let texts = picture
        .descendants()
        .filter(|node| node.has_tag_name("text") && has_class(*node, class));
    texts
        .filter_map(|node| node.text().map(str::to_owned))
        .collect()
}

#[test]
fn our_machine_is_drawn_with_every_phase_mode_and_edge() {
    let plan = machine(PLAN);
    let svg = draw(&plan, Format::Svg, None);
    is_tidy(&svg);
    let phases: Vec<_> = plan
        .phases
        .iter()
        .map(|phase| phase.name.value.clone())
        .collect();
    assert_eq!(words(&svg, "name"), phases);
    assert_eq!(words(&svg, "begins"), ["plan", "review"]);
    let drawn = ["hook", "agent", "person"].map(|class| words(&svg, class).len());
    assert_eq!(drawn.iter().sum::<usize>(), plan.edges().len());
    assert!(words(&svg, "person").contains(&"more".to_owned()));
    assert_eq!(
        words(&svg, "guard"),
        ["round < max_rounds", "round >= max_rounds"]
    );
    assert_eq!(svg.matches("terminal inner").count(), 3);
    for (at, edge) in plan.edges().iter().enumerate() {
        let own = words(&svg, &format!("e{at}"));
        assert_eq!(own.first(), Some(&edge.declared.name.value), "edge {at}");
    }
    for format in [Format::Mermaid, Format::Dot] {
        let text = draw(&plan, format, None);
        for name in phases
            .iter()
            .map(String::as_str)
            .chain(plan.transition_names())
        {
            assert!(text.contains(name), "{name}\n{text}");
        }
    }
}

#[test]
fn a_picture_can_stand_in_markdown_and_says_what_it_is() {
    let svg = draw(&machine(PLAN), Format::Svg, None);
    assert!(
        svg.lines().all(|line| !line.trim().is_empty()),
        "an empty line ends markup in Markdown"
    );
    let first = svg.lines().next().expect("a line");
    assert!(first.starts_with("<svg ") && first.ends_with('>') && first.matches('<').count() == 1);
    let picture = Document::parse(&svg).expect("the picture is XML");
    let whole = picture.root_element();
    assert_eq!(whole.attribute("role"), Some("img"));
    assert!(whole.attribute("viewBox").is_some());
    for tag in ["title", "desc"] {
        let node = whole
            .children()
            .find(|node| node.has_tag_name(tag))
            .expect(tag);
        let named = whole.attribute("aria-labelledby").expect("it is labelled");
        assert!(named.split(' ').any(|id| Some(id) == node.attribute("id")));
    }
    assert!(svg.contains("prefers-color-scheme: dark"));
    let rules = svg
        .lines()
        .filter(|line| line.contains(" { ") && !line.starts_with('@'));
    assert!(rules.clone().count() > 20);
    for rule in rules {
        let (selectors, _) = rule.split_once(" { ").expect("a rule");
        let own = selectors.split(", ").all(|selector| {
            selector == ".claudex-machine" || selector.starts_with(".claudex-machine ")
        });
        assert!(own, "a rule reaches what is around the picture: {rule}");
    }
}

#[test]
fn edges_that_were_taken_have_their_number_and_the_others_are_listed() {
    let plan = machine(PLAN);
    let edges = plan.edges();
    let at = |name: &str| {
        edges
            .iter()
            .position(|edge| edge.declared.name.value == name)
            .expect(name)
    };
    let mut hits = vec![1; edges.len()];
    hits[at("begin")] = 12;
    hits[at("stall")] = 0;
    for (_, format) in Format::ALL {
        let text = draw(&plan, format, Some(&hits));
        assert!(text.contains("begin x12"), "{text}");
        assert!(!text.contains("stall x"), "{text}");
        let all = format!("{} of {} edges taken", edges.len() - 1, edges.len());
        assert!(text.contains(&all), "{text}");
        assert!(text.contains("stall: reviewing -"), "{text}");
    }
    let svg = draw(&plan, Format::Svg, Some(&hits));
    is_tidy(&svg);
    assert_eq!(words(&svg, "missed"), ["stall"]);
    hits[at("stall")] = 1;
    let svg = draw(&plan, Format::Svg, Some(&hits));
    assert!(words(&svg, "missed").is_empty());
    assert!(svg.contains(&format!("all {} edges were taken", edges.len())));
    assert_eq!(
        words(&draw(&plan, Format::Svg, Some(&[])), "taken"),
        Vec::<String>::new()
    );
}

#[test]
fn what_leaves_every_phase_is_one_arrow_where_there_are_many() {
    let mut source =
        "name = \"g\"\n[modes.g]\nstart = \"p0\"\n[fields]\n[phases.off]\nterminal = true\n"
            .to_owned();
    (0..9).for_each(|at| {
        let _ = writeln!(
            source,
            "[phases.p{at}]\n[[transitions.t{at}]]\nfrom = \"p{at}\"\nto = \"off\""
        );
    });
    source.push_str("[[transitions.stop]]\nfrom = \"*\"\nto = \"off\"\n");
    let machine = machine(&source);
    let svg = draw(&machine, Format::Svg, None);
    is_tidy(&svg);
    assert_eq!(
        words(&svg, "hook")
            .iter()
            .filter(|word| *word == "stop")
            .count(),
        1
    );
    assert!(words(&svg, "name").contains(&"any phase".to_owned()));
    let hits: Vec<u64> = machine.edges().iter().map(|_| 2).collect();
    assert!(
        words(&draw(&machine, Format::Svg, Some(&hits)), "taken").contains(&"stop x18".to_owned())
    );
}

#[test]
fn text_of_the_file_is_no_markup() {
    let nasty = "</title><script>alert(1)</script> \\\" & ]]> #quot; \\u202e\\u0000\\u001b[31m \\uFFFE\\n\\n\\n";
    let source = PLAN
        .replace("An agent drafts a plan,", nasty)
        .replace("The agent writes the plan.", nasty)
        .replace(
            "\"round < max_rounds\"",
            &format!("'''topic == \"{}\"'''", nasty.replace(['\\', '"'], "")),
        );
    assert_ne!(source, PLAN);
    let plan = machine(&source);
    let svg = draw(&plan, Format::Svg, None);
    is_tidy(&svg);
    assert!(!svg.contains("<script"), "{svg}");
    assert!(svg.lines().all(|line| !line.trim().is_empty()));
    for (_, format) in Format::ALL {
        let text = draw(&plan, format, None);
        let clean =
            |c: char| (c == '\n' || !c.is_control()) && !('\u{202a}'..='\u{202e}').contains(&c);
        assert!(text.chars().all(clean), "{text:?}");
    }
    let mermaid = draw(&plan, Format::Mermaid, None);
    assert!(!mermaid.contains("<script"), "{mermaid}");
}

#[test]
fn a_machine_that_no_picture_can_show_is_said_to_be_one_soon() {
    let begun = Instant::now();
    let edges: Vec<_> = (0..5_000_usize)
        .map(|at| (at % 999, (at * 7 + at / 999 + 1) % 1_000, at % 3 == 0))
        .collect();
    let large = graph(1_000, &edges);
    let svg = draw(&large, Format::Svg, None);
    assert!(
        svg.contains("more than a picture can show"),
        "{}",
        svg.len()
    );
    Document::parse(&svg).expect("the picture is XML");
    assert!(draw(&large, Format::Dot, None).lines().count() > 5_000);
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}

proptest! {
    #[test]
    fn nothing_lies_on_anything_else(
        phases in 1..24_usize,
        edges in prop::collection::vec((any::<usize>(), any::<usize>(), any::<bool>()), 0..48),
        covered in any::<bool>(),
    ) {
        let edges: Vec<_> = edges.iter().map(|(from, to, person)| (from % phases, to % phases, *person)).collect();
        let machine = graph(phases, &edges);
        let hits: Vec<u64> = (0..edges.len() as u64).map(|at| at % 4).collect();
        let hits = covered.then_some(hits.as_slice());
        let svg = draw(&machine, Format::Svg, hits);
        is_tidy(&svg);
        let drawn: usize = ["hook", "person", "taken", "missed"].iter().map(|class| words(&svg, class).len()).sum();
        prop_assert_eq!(drawn, edges.len());
        prop_assert_eq!(&svg, &draw(&machine, Format::Svg, hits));
    }
}

#[test]
fn what_only_an_answer_takes_has_a_line_of_its_own() {
    let machine = machine(PLAN);
    let mermaid = draw(&machine, Format::Mermaid, None);
    assert!(
        mermaid.contains("accept_incomplete (answer)") && mermaid.contains("cancel (verb)"),
        "{mermaid}"
    );
    let svg = draw(&machine, Format::Svg, None);
    assert!(
        svg.contains(">a person alone, by an answer<")
            && svg.contains("class=\"line person answer edge "),
        "{svg}"
    );
}
