//! A report as HTML. The template engine escapes every value, and the page's policy lets it load and run nothing.

use minijinja::value::Value;
use minijinja::{AutoEscape, Environment};

use super::Report;
use crate::message::{Message, MessageError, Render as _};
use crate::program::durations;
use crate::program::exit::{Exit, Failure};

const PAGE: Message = Message {
    name: "report/page.html",
    text: include_str!("page.html"),
};
const STYLE: &str = include_str!("page.css");

/// Renders the page.
pub(super) fn html(report: &Report) -> Result<String, Failure> {
    let with = |environment: &mut Environment<'static>| {
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_filter("elapsed", durations::elapsed);
        environment.add_global("style", Value::from_safe_string(STYLE.to_owned()));
        Ok(())
    };
    PAGE.render_in(with, report).map_err(failed)
}

fn failed(error: MessageError) -> Failure {
    Failure::new(Exit::Internal, error)
}
