//! The part of the user's Codex configuration that a review needs: the MCP servers to switch off, and the key's variable.
//!
//! Codex would start those servers outside of its sandbox, and has no flag that turns all of them off. This file reads, and is
//! tolerant: what it cannot read, Codex reports itself.

use std::collections::BTreeMap;
use std::path::PathBuf;

use camino::Utf8PathBuf;
use serde::Deserialize;
use serde::de::IgnoredAny;

/// The result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UserConfig {
    /// The names of the MCP servers.
    pub(super) servers: Vec<String>,
    /// The variable with the key of the configured provider.
    pub(super) key: Option<String>,
}

/// The tables of the file that matter here.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Tables {
    mcp_servers: BTreeMap<String, IgnoredAny>,
    model_provider: Option<String>,
    model_providers: BTreeMap<String, Provider>,
}

#[derive(Deserialize)]
struct Provider {
    env_key: Option<String>,
}

impl UserConfig {
    /// Reads the file that the client will read.
    pub(super) fn read() -> Self {
        let folder = |name: &str| {
            let folder = std::env::var_os(name).map(PathBuf::from);
            folder.filter(|folder| folder.is_absolute())
        };
        let home = folder("CODEX_HOME").or_else(|| folder("HOME").map(|home| home.join(".codex")));
        let file = home.and_then(|home| Utf8PathBuf::from_path_buf(home.join("config.toml")).ok());
        let text = file.and_then(|file| crate::files::read_to_string(&file).ok());
        text.map_or_else(Self::default, |text| Self::parse(&text))
    }

    fn parse(text: &str) -> Self {
        let mut tables: Tables = toml::from_str(text).unwrap_or_default();
        let provider = tables.model_provider.unwrap_or_default();
        let provider = tables.model_providers.remove(&provider);
        let servers = tables.mcp_servers.into_keys();
        Self {
            servers: servers.filter(|name| is_bare(name)).collect(),
            key: provider.and_then(|provider| provider.env_key),
        }
    }
}

/// Returns whether a name can stand in a dotted key as it is; Codex allows no others for servers.
fn is_bare(name: &str) -> bool {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    !name.is_empty() && name.bytes().all(is_bare)
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
