//! Reading YAML of the user's within bounds of time and memory.

use std::collections::HashSet;

use serde_json::Value as Json;

use super::document::DocumentError;

/// The most that the YAML reader is given of one document, in bytes.
const MAX_YAML_BYTES: usize = 256 * 1024;
/// The most brackets that are open at once. The reader's time grows with their number for each byte; it accepts 128 of them.
const MAX_OPEN_BRACKETS: usize = 128;
/// The most uses of anchors. Each repeats what the anchor names, which may itself use anchors.
const MAX_ALIASES: usize = 8;

/// Checks that YAML is read in little time and memory. Text in quotes counts also, because only the reader knows what is one.
pub(super) fn check_yaml(yaml: &str) -> Result<(), DocumentError> {
    if yaml.len() > MAX_YAML_BYTES {
        return Err(DocumentError(format!(
            "has more than {MAX_YAML_BYTES} bytes of YAML"
        )));
    }
    let mut open = 0_usize;
    for byte in yaml.bytes() {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => continue,
        }
        if open > MAX_OPEN_BRACKETS {
            let why = format!("more than {MAX_OPEN_BRACKETS} brackets are open at once");
            return Err(DocumentError::syntax(why));
        }
    }

    let is_in_token = |c: char| c.is_ascii_alphanumeric() || "_-&*".contains(c);
    let tokens = || yaml.split(|c: char| !is_in_token(c));
    let anchors: HashSet<&str> = tokens()
        .filter_map(|token| token.strip_prefix('&'))
        .collect();
    let aliases = tokens().filter_map(|token| token.strip_prefix('*'));
    if aliases.filter(|name| anchors.contains(name)).count() > MAX_ALIASES {
        let why = format!("anchors are used more than {MAX_ALIASES} times");
        return Err(DocumentError::syntax(why));
    }
    Ok(())
}

/// Converts YAML. What JSON cannot hold, such as a map with lists as keys, becomes null.
pub(super) fn from_yaml(yaml: &serde_yaml::Value) -> Json {
    serde_json::to_value(yaml).unwrap_or_default()
}
