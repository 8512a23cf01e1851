//! What holds of a machine file, whatever it says. A fuzzer calls it, too.

use std::time::{Duration, Instant};

use claudex_build::{Format, Generated, check_source, draw, generate, migrations, shape, spec};

/// For one input, in a debug build on a busy machine. How fast it is in earnest is the benches' part.
pub(crate) const SOON: Duration = Duration::from_secs(10);

/// What holds for the pictures of a machine and for what is said of it: each is well-formed, whatever its texts.
fn shown(source: &str) {
    let machine = check_source("m.toml", source).unwrap();
    let svg = draw(&machine, Format::Svg, None);
    if let Err(error) = roxmltree::Document::parse(&svg) {
        panic!("{error} in the picture of\n{source}\n{svg}");
    }
    // Every string ends on its line.
    for line in draw(&machine, Format::Dot, None).lines() {
        let plain = line.replace("\\\\", "").replace("\\\"", "");
        assert!(plain.matches('"').count() % 2 == 0, "{line}\n{source}");
    }
    let said = draw(&machine, Format::Mermaid, None) + &spec(&machine, source, "m.toml");
    let obeyed = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}');
    assert!(!said.contains(obeyed), "{said:?}");
    let shape = shape(&machine) + &migrations(&machine);
    assert!(!shape.contains(obeyed), "{shape:?}");
}

/// What holds for every input. The code where it is a machine.
pub(crate) fn holds(source: &str) -> Option<Generated> {
    let begun = Instant::now();
    let result = generate("m.toml", source);
    assert!(
        begun.elapsed() < SOON,
        "{:?} for\n{source}",
        begun.elapsed()
    );
    match result {
        Ok(generated) => {
            let again = generate("m.toml", source).unwrap();
            assert_eq!(generated, again, "the same machine gives the same code");
            if let Err(error) = syn::parse_file(&generated.rust) {
                panic!("{error} in the code of\n{source}");
            }
            shown(source);
            Some(generated)
        }
        Err(found) => {
            assert!(!found.list.is_empty());
            for one in &found.list {
                let span = one.span.clone();
                assert!(
                    source.get(span.clone()).is_some(),
                    "{span:?} of {one:?} is not in the file\n{source}"
                );
            }
            // The picture slices the text by the spans, too.
            let mut picture = String::new();
            miette::NarratableReportHandler::new()
                .render_report(&mut picture, &found)
                .unwrap();
            None
        }
    }
}
