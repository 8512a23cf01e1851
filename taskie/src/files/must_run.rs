//! A bullet of a task file, and its commands: the code spans outside of sentences, and fences.

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

/// The words between two commands of a line.
const BETWEEN: [&str; 9] = [
    "and", "then", "also", "run", "or", "plus", "after", "that", "finally",
];
/// The words that say that there is no command.
const NONE: [&str; 3] = ["none", "no", "not"];

/// A bullet `- **Name**: value`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bullet {
    /// The text in bold.
    name: String,
    /// The text after it.
    value: String,
    /// The commands that the value names.
    pub(super) commands: Vec<String>,
    /// The whole bullet, as the file has it.
    pub(super) source: String,
}

impl Bullet {
    pub(super) fn parse(source: &str) -> Self {
        let mut bullet = Self {
            source: source.to_owned(),
            ..Self::default()
        };
        let mut is_in_name = false;
        let mut fence: Option<String> = None;
        // The text since the last command of the line, and whether there is one.
        let mut prose = String::new();
        let mut follows_command = false;
        for event in Parser::new(source) {
            match event {
                Event::Start(Tag::Strong) => {
                    let is_first = ["", "[ ]", "[x]"].contains(&bullet.value.trim());
                    is_in_name = bullet.name.is_empty() && is_first;
                    if is_in_name {
                        bullet.value.clear();
                    }
                }
                Event::End(TagEnd::Strong) => is_in_name = false,
                Event::Text(text) if is_in_name => bullet.name.push_str(&text),
                Event::Start(Tag::CodeBlock(_)) => fence = Some(String::new()),
                Event::End(TagEnd::CodeBlock) => {
                    let lines = fence.take().unwrap_or_default();
                    bullet.commands.extend(fence_commands(&lines));
                    prose.clear();
                    follows_command = true;
                }
                Event::Text(text) => match &mut fence {
                    Some(fence) => fence.push_str(&text),
                    None => {
                        bullet.value.push_str(&text);
                        prose.push_str(&text);
                    }
                },
                Event::Code(span) if is_command(&span, &prose, follows_command) => {
                    bullet.commands.push(span.trim().to_owned());
                    prose.clear();
                    follows_command = true;
                }
                Event::Code(span) => {
                    bullet.value.push_str(&span);
                    // Whatever follows belongs to the same sentence.
                    prose.push_str("span");
                }
                Event::SoftBreak => {
                    bullet.value.push('\n');
                    prose.push(' ');
                }
                Event::HardBreak | Event::Start(Tag::Item | Tag::Paragraph) => {
                    bullet.value.push('\n');
                    prose.clear();
                    follows_command = false;
                }
                _ => {}
            }
        }
        // The name may be plain text.
        if bullet.name.is_empty()
            && let Some((name, value)) = bullet.value.split_once(':')
        {
            bullet.name = name.to_owned();
            bullet.value = value.to_owned();
        }
        bullet
    }

    pub(super) fn is(&self, name: &str) -> bool {
        let own = self.name.trim().trim_end_matches(':').trim_end();
        own.eq_ignore_ascii_case(name)
    }

    pub(super) fn first_line(&self) -> &str {
        let value = self.value.trim_start().trim_start_matches(':');
        value.trim().lines().next().unwrap_or_default().trim_end()
    }
}

/// Returns whether a code span after this text is a command: the first one of its line, be it after
/// words such as “Run”, or one after another command, but none in parentheses or in a sentence.
fn is_command(span: &str, prose: &str, follows_command: bool) -> bool {
    let prose = prose.rsplit(')').next().unwrap_or_default();
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

/// Returns the commands of a fence. A comment is no command, and a prompt no part of one.
fn fence_commands(text: &str) -> Vec<String> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().map(str::trim);
    let commands = lines.map(|line| line.strip_prefix("$ ").unwrap_or(line).trim());
    let is_command = |line: &&str| !line.is_empty() && !line.starts_with('#');
    commands.filter(is_command).map(str::to_owned).collect()
}
