//! Secrets in added lines: private keys, tokens of known form, passwords as literals. What is found is never shown whole.

use super::hit::FileHit;
use super::patch::{PatchFile, Role};
use crate::Severity;

/// How many characters of a secret are shown.
const SHOWN: usize = 6;

/// `-----BEGIN ... PRIVATE KEY-----`
pub(super) fn keys(file: &PatchFile) -> Option<FileHit> {
    let is_key = |line: &str| {
        let rest = line
            .find("-----BEGIN ")
            .map(|at| &line[at + "-----BEGIN ".len()..]);
        let kind = rest
            .and_then(|rest| rest.split_once("-----"))
            .map(|(kind, _)| kind);
        kind.is_some_and(|kind| {
            (kind.ends_with("PRIVATE KEY") || kind == "PGP PRIVATE KEY BLOCK")
                && kind.len() < 40
                && kind.chars().all(|c| c.is_ascii_uppercase() || c == ' ')
        })
    };
    let mut places = Vec::new();
    for hunk in &file.hunks {
        for (at, line) in hunk.lines.iter().enumerate() {
            if !line.added || !is_key(line.text()) {
                continue;
            }
            // Code that looks for keys names the header; a key has its body below it, or after it on the same line.
            let text = line.text();
            let below = hunk
                .lines
                .get(at + 1)
                .is_some_and(|next| is_body(next.text()));
            let behind = text
                .split("PRIVATE KEY-----")
                .nth(1)
                .is_some_and(|rest| is_body(rest.trim_start_matches("\\n")));
            if below || behind {
                places.push((line.number, "a private key begins here".to_owned()));
            }
        }
    }
    let lenient = matches!(file.role, Role::Test | Role::Document);
    (!places.is_empty()).then(|| FileHit {
        check: "DIFF-PRIVATE-KEY",
        severity: if lenient {
            Severity::Low
        } else {
            Severity::High
        },
        what: "a private key is added".to_owned(),
        add: "take it out, and replace the key if it was ever in use: git keeps what was committed",
        places,
        patch: None,
    })
}

/// Returns whether a line looks like the inside of a key.
fn is_body(line: &str) -> bool {
    let body = line.trim_matches(|c: char| c.is_whitespace() || "\"'+,\\".contains(c));
    let body = body.split("\\n").next().unwrap_or(body);
    body.starts_with("Proc-Type:")
        || body.len() >= 32
            && body
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
            && !placeholder(body)
}

/// A kind of token whose form is known.
struct Form {
    name: &'static str,
    /// How it begins.
    start: &'static str,
    /// Which bytes follow.
    allowed: fn(u8) -> bool,
    /// How many at least and at most.
    least: usize,
    most: usize,
}

const fn form(
    name: &'static str,
    start: &'static str,
    allowed: fn(u8) -> bool,
    least: usize,
    most: usize,
) -> Form {
    Form {
        name,
        start,
        allowed,
        least,
        most,
    }
}

const FORMS: [Form; 20] = [
    form("AWS access key", "AKIA", upper, 16, 16),
    form("AWS access key", "ASIA", upper, 16, 16),
    form("GitHub token", "ghp_", word, 36, 255),
    form("GitHub token", "gho_", word, 36, 255),
    form("GitHub token", "ghu_", word, 36, 255),
    form("GitHub token", "ghs_", word, 36, 255),
    form("GitHub token", "ghr_", word, 36, 255),
    form("GitHub token", "github_pat_", word, 40, 255),
    form("GitLab token", "glpat-", dashed, 20, 64),
    form("Slack token", "xoxb-", dashed, 20, 255),
    form("Slack token", "xoxp-", dashed, 20, 255),
    form("Stripe key", "sk_live_", word, 16, 255),
    form("Stripe key", "rk_live_", word, 16, 255),
    form("Google API key", "AIza", dashed, 35, 35),
    form("Anthropic key", "sk-ant-", dashed, 24, 255),
    form("OpenAI key", "sk-proj-", dashed, 24, 255),
    form("npm token", "npm_", word, 36, 36),
    form("PyPI token", "pypi-AgEI", dashed, 40, 512),
    form("Hugging Face token", "hf_", word, 34, 34),
    form("DigitalOcean token", "dop_v1_", word, 64, 64),
];

fn upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn dashed(byte: u8) -> bool {
    word(byte) || byte == b'-'
}

/// Tokens whose form is known.
pub(super) fn tokens(file: &PatchFile) -> Option<FileHit> {
    let mut kind = "";
    let mut places = Vec::new();
    for line in file.added() {
        for form in FORMS {
            if let Some(token) = token(line.text(), &form) {
                kind = if kind.is_empty() { form.name } else { kind };
                places.push((line.number, format!("{}, {}", form.name, redacted(token))));
                break;
            }
        }
    }
    (!places.is_empty()).then(|| FileHit {
        check: "DIFF-TOKEN",
        severity: Severity::High,
        what: format!("what looks like a token is added ({kind})"),
        add: "take it out and revoke it: git keeps what was committed",
        places,
        patch: None,
    })
}

fn token<'a>(line: &'a str, form: &Form) -> Option<&'a str> {
    line.match_indices(form.start).find_map(|(at, start)| {
        let before = line[..at].bytes().next_back();
        let rest = &line[at + start.len()..];
        // One more than fits: what goes on for ever is not counted to its end.
        let length = rest
            .bytes()
            .take(form.most + 1)
            .take_while(|byte| (form.allowed)(*byte))
            .count();
        let token = line.get(at..at + start.len() + length)?;
        let whole =
            before.is_none_or(|byte| !word(byte)) && (form.least..=form.most).contains(&length);
        (whole && !placeholder(token) && mixed(&rest[..length])).then_some(token)
    })
}

/// Returns whether a text looks drawn by lot: more than a few different characters, and digits among letters.
fn mixed(text: &str) -> bool {
    let different: std::collections::BTreeSet<u8> = text.bytes().collect();
    different.len() >= 8
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Returns whether a text says itself that it is none.
fn placeholder(text: &str) -> bool {
    const SAID: [&str; 15] = [
        "example",
        "sample",
        "dummy",
        "fake",
        "placeholder",
        "changeme",
        "change_me",
        "redacted",
        "xxxx",
        "your_",
        "your-",
        "test",
        "foobar",
        "1234567",
        "abcdef",
    ];
    let lower = text.to_ascii_lowercase();
    SAID.iter().any(|said| lower.contains(said))
}

/// `password = "..."` with a literal that looks drawn by lot, or long.
pub(super) fn passwords(file: &PatchFile) -> Option<FileHit> {
    if matches!(file.role, Role::Test | Role::Document | Role::Generated) {
        return None;
    }
    let bare = matches!(
        file.extension.as_str(),
        "env" | "ini" | "properties" | "conf" | "cfg" | "yml" | "yaml" | "toml"
    ) || file.name().starts_with(".env");
    let mut drawn = false;
    let places: Vec<_> = file
        .added()
        .filter_map(|line| {
            let (value, by_lot) = assigned(line.text(), bare)?;
            drawn |= by_lot;
            Some((
                line.number,
                format!("a value that begins with {}", redacted(value)),
            ))
        })
        .collect();
    (!places.is_empty()).then(|| FileHit {
        check: "DIFF-PASSWORD",
        // A short one may be a stand-in that only its writer knows to be none.
        severity: if drawn {
            Severity::High
        } else {
            Severity::Medium
        },
        what: "what looks like a password or key is written into the file".to_owned(),
        add: "read it from the environment or a secret store, and replace it if it was ever in use",
        places,
        patch: None,
    })
}

/// Returns the secret that a line assigns, and whether it looks drawn by lot.
fn assigned(line: &str, bare: bool) -> Option<(&str, bool)> {
    const NAMES: [&str; 11] = [
        "password",
        "passwd",
        "passphrase",
        "secret",
        "secret_key",
        "client_secret",
        "api_key",
        "apikey",
        "access_key",
        "auth_token",
        "access_token",
    ];
    let trimmed = line.trim_start();
    if ["//", "#", "*", "--", "<!--", ";"]
        .iter()
        .any(|mark| trimmed.starts_with(mark))
    {
        return None;
    }
    let at = line.find(['=', ':'])?;
    let name = line[..at]
        .trim_end_matches([' ', '\t', '"', '\'', ':', '?', ']', '!'])
        .to_ascii_lowercase()
        .replace('-', "_");
    let ends = |known: &&str| {
        name.strip_suffix(*known).is_some_and(|rest| {
            rest.bytes()
                .next_back()
                .is_none_or(|byte| !byte.is_ascii_alphabetic())
        })
    };
    NAMES.iter().find(|known| ends(known))?;
    let value = line[at + 1..].trim_start_matches(['=', ':', '>', ' ', '\t']);
    let quoted = ['"', '\''].into_iter().find_map(|mark| {
        let (value, rest) = value.strip_prefix(mark)?.split_once(mark)?;
        // What goes on after the literal is put together, or is a call.
        rest.trim_start()
            .bytes()
            .next()
            .is_none_or(|next| b",;)}#/".contains(&next))
            .then_some(value)
    });
    let value = match quoted {
        Some(value) => value,
        None if bare && !value.starts_with(['"', '\'']) => value.split_whitespace().next()?,
        None => return None,
    };
    let refers = [
        "$", "{", "<", "%", "(", "env", "ENC[", "!", "/", "http", "vault", "secret", "file:",
    ];
    let by_lot = value.len() >= 10 && mixed(value);
    let is_secret = (6..=200).contains(&value.len())
        && value.is_ascii()
        && !value.contains([' ', '{', '$', '<', '('])
        && !refers.iter().any(|start| value.starts_with(start))
        && !placeholder(value)
        && value.bytes().any(|byte| byte.is_ascii_digit())
        && value.bytes().any(|byte| byte.is_ascii_alphabetic())
        && (by_lot || quoted.is_some())
        // A name, a path of names, a version or a date is no secret.
        && !value.split(['.', '_', '-', '/', ':']).all(|part| part.bytes().all(|byte| byte.is_ascii_alphabetic()) || part.bytes().all(|byte| byte.is_ascii_digit()));
    is_secret.then_some((value, by_lot))
}

/// Returns whether a line holds anything that one of these checks takes for a secret, wherever the file lies.
pub(super) fn holds(line: &str) -> bool {
    line.contains("PRIVATE KEY-----")
        || is_body(line)
        || assigned(line, true).is_some()
        || FORMS.iter().any(|form| token(line, form).is_some())
}

/// Returns the beginning of a secret, for whoever has to find it.
fn redacted(secret: &str) -> String {
    let shown: String = secret.chars().take(SHOWN.min(secret.len() / 3)).collect();
    format!("\"{shown}...\"")
}

/// Quotes a line in a finding: whole it would repeat a secret that another check does not show whole.
pub(super) fn quote(line: &str) -> String {
    if holds(line) {
        "(not shown: it holds what looks like a secret)".to_owned()
    } else {
        crate::quote::quote(line)
    }
}
