//! A report as HTML and as Markdown. Every value is escaped by the template engine for the language that it is written in. The page loads
//! nothing, runs nothing, and has one style, which its policy names by its digest.

use data_encoding::BASE64;
use minijinja::value::Value;
use minijinja::{AutoEscape, Environment};
use sha2::{Digest as _, Sha256};

use super::Report;
use crate::machine::message::{Message, MessageError};
use crate::program::exit::{Exit, Failure};
use crate::program::words;

const PAGE: Message = Message {
    name: "report/page.html",
    text: include_str!("page.html"),
};
const STYLE: &str = include_str!("page.css");
const TEXT: Message = Message {
    name: "report/page.md",
    text: include_str!("page.md"),
};

/// Renders the page.
pub(super) fn html(report: &Report) -> Result<String, Failure> {
    let with = |environment: &mut Environment<'static>| {
        environment.set_auto_escape_callback(|_| AutoEscape::Html);
        environment.add_filter("elapsed", words::elapsed);
        environment.add_global("style_digest", BASE64.encode(&Sha256::digest(STYLE)));
        environment.add_global("style", Value::from_safe_string(STYLE.to_owned()));
        Ok(())
    };
    PAGE.render_in(with, report).map_err(failed)
}

pub(super) fn markdown(report: &Report) -> Result<String, Failure> {
    let with = |environment: &mut Environment<'static>| {
        environment.set_formatter(|out, _, value| {
            let text = value.to_string();
            let text = if value.is_safe() {
                text
            } else {
                escaped(&text)
            };
            out.write_str(&text).map_err(Into::into)
        });
        environment.add_filter("elapsed", words::elapsed);
        environment.add_filter("fenced", |text: &str, language: &str| {
            Value::from_safe_string(fenced(text, language))
        });
        Ok(())
    };
    TEXT.render_in(with, report).map_err(failed)
}

fn failed(error: MessageError) -> Failure {
    Failure::new(Exit::Internal, error)
}

/// Returns text in which nothing is Markdown or HTML. An underscore within a word is none.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut after_word = false;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let before_word = characters.peek().is_some_and(|next| next.is_alphanumeric());
        let opens_a_line = escaped.is_empty() && "#>-+".contains(character);
        let is_mark =
            "\\`*[]<&|~".contains(character) || character == '_' && !(after_word && before_word);
        if opens_a_line || is_mark {
            escaped.push('\\');
        }
        escaped.push(character);
        after_word = character.is_alphanumeric();
    }
    escaped
}

/// Returns text between fences that it cannot close.
fn fenced(text: &str, language: &str) -> String {
    let longest = text
        .split(|one| one != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobodys_words_are_markdown_and_a_name_stays_as_it_is() {
        assert_eq!(escaped("mark_done"), "mark_done");
        assert_eq!(
            escaped("[a](javascript:b) ![](c) <d> `e` _f_ **g** | &lt;"),
            r"\[a\](javascript:b) !\[\](c) \<d> \`e\` \_f\_ \*\*g\*\* \| \&lt;"
        );
        assert_eq!(escaped("# a # b -> c"), r"\# a # b -> c");
    }

    #[test]
    fn a_text_cannot_close_the_fence_around_it() {
        assert_eq!(fenced("a\n```\nb", "diff"), "````diff\na\n```\nb\n````");
        assert_eq!(fenced("a", ""), "```\na\n```");
    }
}
