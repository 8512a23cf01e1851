//! The commands on a page of docs/, and the installation of its plugin.

use std::collections::BTreeSet;
use std::path::Path;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::Value;

/// Reads a file of the repository.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

/// Returns a page's commands with these beginnings, from its blocks, or also from its prose.
pub(crate) fn commands(markdown: &str, begins: &[&str], in_prose: bool) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut in_block = false;
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        let text = match &event {
            Event::Start(Tag::CodeBlock(_)) => {
                in_block = true;
                continue;
            }
            Event::End(TagEnd::CodeBlock) => {
                in_block = false;
                continue;
            }
            Event::Code(text) if in_prose => text,
            Event::Text(text) if in_block => text,
            _ => continue,
        };
        for line in text.lines() {
            let line = line.split_once("  #").map_or(line, |(line, _)| line).trim();
            if begins.iter().any(|begin| line.starts_with(begin)) {
                found.insert(line.to_owned());
            }
        }
    }
    found
}

/// Checks that the marketplace has this plugin, and that its page installs it from there.
pub(crate) fn check_marketplace(plugin: &str) {
    let marketplace: Value =
        serde_json::from_str(&read(".claude-plugin/marketplace.json")).unwrap();
    let plugins = marketplace["plugins"].as_array().unwrap();
    let ours = plugins.iter().find(|one| one["name"] == plugin).unwrap();
    assert_eq!(ours["source"], format!("./{plugin}/plugin"));
    let line = format!(
        "/plugin install {plugin}@{}",
        marketplace["name"].as_str().unwrap()
    );
    assert!(read(&format!("docs/{plugin}.md")).contains(&line), "{line}");
}
