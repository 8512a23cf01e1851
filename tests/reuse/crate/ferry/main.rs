#![deny(warnings)]
use claudex_loop::behaviours::ask::{Answer, Asked};

use ferry::{Choosing, Counting, Drafting, Loop, Transition};

struct Questions;

impl ferry::OnStop for Questions {
    // The method that docs/behaviours.md shows is inserted here.

    fn choosing_asks(&self, held: &Loop<Choosing>) -> Result<Option<Asked>, String> {
        let text = std::fs::read_to_string(held.raw().path("LABELS")).map_err(|error| error.to_string())?;
        let labels = text.split_terminator('\u{0}').map(str::trim);
        let options = labels.map(|label| Answer::new(label, Transition::Pick { what: label.to_owned() })).collect();
        Ok(Some(Asked::new("Which of these?", "Choice", options)))
    }

    fn counting_asks(&self, held: &Loop<Counting>) -> Result<Option<Asked>, String> {
        let version = held.fields().version.clone();
        let count = |label: &str, times: &str, quick: bool| {
            Answer::new(label, "count").argument("times_more", times).argument("quick", quick)
        };
        Ok(Some(Asked::new(format!("How often does {version} go out?"), "Times", vec![
            count("Once", "1", false).description("One `time`\nonly."),
            count("Twice", "2", true).argument("why", "--it's \"quick\""),
            count("Many times", "many", false),
            Answer::new("Choose anew", Transition::Leave),
        ])))
    }
}

claudex_loop::main!(ferry, Questions);
