//! The commands of a bullet: the code spans outside of sentences, and fences.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The words between two commands of a line.
const BETWEEN: [&str; 9] = [
    "and", "then", "also", "run", "or", "plus", "after", "that", "finally",
];
/// The words that mean that there is no command.
const NONE: [&str; 3] = ["none", "no", "not"];

/// Returns the commands that a bullet names.
pub(super) fn commands(bullet: &str) -> Vec<String> {
    let mut commands = Vec::new();
    // The text since the last command of the line, and whether a command was found.
    let mut text = String::new();
    let mut follows_command = false;
    for event in Parser::new(bullet) {
        match event {
            Event::Start(Tag::CodeBlock(_)) => text.clear(),
            Event::End(TagEnd::CodeBlock) => {
                commands.extend(fence_commands(&text));
                text.clear();
                follows_command = true;
            }
            Event::Text(part) => text.push_str(&part),
            Event::Code(span) if is_command(&span, &text, follows_command) => {
                commands.push(without_prompt(&span).to_owned());
                text.clear();
                follows_command = true;
            }
            // The rest belongs to the same sentence.
            Event::Code(_) => text.push_str(" span"),
            Event::SoftBreak => text.push(' '),
            Event::HardBreak | Event::Start(Tag::Item | Tag::Paragraph) => {
                text.clear();
                follows_command = false;
            }
            _ => {}
        }
    }
    commands
}

/// Returns whether a code span after this text is a command: the first one of its line, even after
/// words such as “Run”, or one after another command, but none in parentheses or in a sentence.
fn is_command(span: &str, text: &str, follows_command: bool) -> bool {
    let prose = text.rsplit(')').next().unwrap_or_default();
    let parts = prose.split(|letter: char| !letter.is_alphanumeric());
    let mut words = parts.filter(|part| !part.is_empty()).map(str::to_lowercase);
    if span.trim().is_empty() || prose.contains('(') {
        false
    } else if follows_command {
        words.all(|word| BETWEEN.contains(&&*word))
    } else {
        !words.any(|word| NONE.contains(&&*word))
    }
}

/// Returns a command without the prompt of a shell in front.
fn without_prompt(line: &str) -> &str {
    let line = line.trim();
    line.strip_prefix("$ ").unwrap_or(line).trim()
}

/// Returns the commands of a fence. A comment is no command.
fn fence_commands(text: &str) -> Vec<String> {
    let joined = text.split("\\\n").map(str::trim);
    let joined = joined.collect::<Vec<_>>().join(" ");
    let commands = joined.lines().map(without_prompt);
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
    commands.filter(is_command).map(str::to_owned).collect()
}
