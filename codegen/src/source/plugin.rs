//! `[plugin]`: the plugin of a client that calls the machine's program.

use super::key_name;
use super::read::{Key, Keys, Reader, Value, in_order};
use crate::diagnostic::Diagnostic;
use crate::format;
use crate::model::{Plugin, PluginCommand};

pub(super) fn plugin(reader: &mut Reader<'_>, keys: &Keys<'_>) -> Option<Plugin> {
    let (key, value) = keys.get("plugin")?;
    let table = reader.table("plugin", value)?;
    let keys = reader.known(table, &format::PLUGIN);
    let Some(name) = keys.value("name") else {
        reader.missing(key.span(), "name", "[plugin]", "name = \"release-train\"");
        return None;
    };
    let name = reader.string("name", name)?;
    let rest = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if !name.value.starts_with(|c: char| c.is_ascii_lowercase())
        || !name.value.bytes().all(rest)
        || name.value.len() > 64
    {
        let message = format!("a plugin’s `name` cannot be {:?}", name.value);
        let found = Diagnostic::new("claudex::machine::bad_name", name.span.clone(), message);
        reader.note(found.help("a name is a-z, then a-z, 0-9 and -, at most 64 characters"));
    }
    let commands = keys
        .value("commands")
        .and_then(|value| reader.table("commands", value))
        .map(in_order);
    let commands = commands.unwrap_or_default().into_iter();
    let commands = commands
        .filter_map(|(key, value)| command(reader, key, value))
        .collect();
    let files = keys
        .value("files")
        .map(|value| reader.strings("files", value))
        .unwrap_or_default()
        .into_iter()
        .map(|path| reader.relative("files", path, false))
        .collect();
    let permits = keys.value("permits");
    let permits = permits.map(|value| reader.strings("permits", value));
    Some(Plugin {
        name,
        commands,
        files,
        permits: permits.unwrap_or_default(),
    })
}

fn command(reader: &mut Reader<'_>, key: Key<'_>, value: Value<'_>) -> Option<PluginCommand> {
    let name = key_name(reader, "a slash command", key);
    let table = reader.table(&name.value, value)?;
    let keys = reader.known(table, &format::PLUGIN_COMMAND);
    let mut text = |key| keys.value(key).and_then(|value| reader.string(key, value));
    let (doc, arguments, text) = (text("doc"), text("arguments"), text("text"));
    Some(PluginCommand {
        name,
        doc: doc.map(|doc| doc.value).unwrap_or_default(),
        arguments: arguments.map(|arguments| arguments.value),
        text: text.map(|path| reader.relative("text", path, false)),
    })
}
