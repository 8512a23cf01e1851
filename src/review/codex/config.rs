//! The part of the user's Codex configuration that a review needs: the MCP servers to switch off, and the key's variable.
//!
//! Codex would start those servers outside of its sandbox, and has no flag that turns all of them off. This file reads, and is
//! tolerant: what it cannot read, Codex reports itself.

use std::path::PathBuf;

use camino::Utf8PathBuf;
use toml::{Table, Value};

/// The result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UserConfig {
    /// The names of the MCP servers.
    pub(super) servers: Vec<String>,
    /// The variable with the key of the configured provider.
    pub(super) key: Option<String>,
}

impl UserConfig {
    /// Reads the file that the client will read.
    pub(super) fn read() -> Self {
        let folder = |name: &str| {
            std::env::var_os(name)
                .map(PathBuf::from)
                .filter(|folder| folder.is_absolute())
        };
        let home = folder("CODEX_HOME").or_else(|| folder("HOME").map(|home| home.join(".codex")));
        let file = home.and_then(|home| Utf8PathBuf::from_path_buf(home.join("config.toml")).ok());
        let text = file.and_then(|file| crate::files::read_to_string(&file).ok());
        text.map_or_else(Self::default, |text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let Ok(config) = text.parse::<Table>() else {
            return Self::default();
        };
        let table = |name: &str| config.get(name).and_then(Value::as_table);
        let servers = table("mcp_servers")
            .into_iter()
            .flat_map(Table::keys)
            .filter(|name| is_bare(name))
            .cloned()
            .collect();
        let provider = config.get("model_provider").and_then(Value::as_str);
        let key = provider
            .and_then(|name| {
                table("model_providers")?
                    .get(name)?
                    .get("env_key")?
                    .as_str()
            })
            .map(str::to_owned);
        Self { servers, key }
    }
}

/// Returns whether a name can stand in a dotted key as it is; Codex allows no others for servers.
fn is_bare(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_the_keys_variable_are_found() {
        let config = UserConfig::parse(
            "model_provider = \"mine\"\n[mcp_servers.one]\ncommand = \"x\"\n[mcp_servers.\"b c\"]\ncommand = \"x\"\n\
             [mcp_servers.two-2]\nurl = \"https://x\"\n[model_providers.mine]\nenv_key = \"MY_KEY\"\n\
             [model_providers.other]\nenv_key = \"NOT_THIS\"\n",
        );
        assert_eq!(config.servers, ["one", "two-2"]);
        assert_eq!(config.key.as_deref(), Some("MY_KEY"));
    }

    #[test]
    fn what_cannot_be_read_is_left_to_codex() {
        for text in [
            "",
            "model = [",
            "mcp_servers = 3\nmodel_provider = 4\n",
            "model_provider = \"gone\"",
        ] {
            assert_eq!(UserConfig::parse(text), UserConfig::default(), "{text}");
        }
    }
}
