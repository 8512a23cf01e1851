//! A machine's docs as the text of doc comments.
//!
//! They are plain text for people, who see them in help and tables too. In a doc comment a name such as `repo_root` is
//! code, and Markdown would take its underscores for emphasis.

/// A doc as the text of a doc comment, with the space that stands after the slashes.
pub(super) fn comment(doc: &str) -> String {
    let doc = &balanced(&visible(doc));
    let mut text = String::with_capacity(doc.len() + 8);
    let mut is_code = false;
    for (at, part) in doc.split('`').enumerate() {
        if at > 0 {
            text.push('`');
        }
        if is_code {
            text.push_str(part);
        } else {
            part.split_inclusive(char::is_whitespace)
                .for_each(|word| push(&mut text, word));
        }
        is_code = !is_code;
    }
    if text.starts_with(char::is_whitespace) || text.is_empty() {
        text
    } else {
        format!(" {text}")
    }
}

/// A doc as the text of a doc comment; the name where there is no doc.
pub(super) fn doc_of(doc: &str, name: &str) -> String {
    if doc.is_empty() {
        format!(" `{name}`")
    } else {
        comment(doc)
    }
}

/// With characters that reorder what is shown as their code points, which rustc does not take in a comment; and without
/// tabs, which mean nothing in a text.
fn visible(doc: &str) -> String {
    let mut text = String::with_capacity(doc.len());
    for character in doc.chars() {
        if character == '\t' {
            text.push(' ');
        } else if matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}') {
            text.push_str(&format!("U+{:04X}", u32::from(character)));
        } else {
            text.push(character);
        }
    }
    text
}

/// With a backtick that has no partner in its line as an apostrophe, and its line's others too: Markdown would look for the
/// partner further down.
fn balanced(doc: &str) -> String {
    let mut text = String::with_capacity(doc.len());
    for line in doc.split_inclusive('\n') {
        if line.matches('`').count() % 2 == 0 {
            text.push_str(line);
        } else {
            text.push_str(&line.replace('`', "'"));
        }
    }
    text
}

/// Adds a word, in backticks where it is a name of a program's.
fn push(text: &mut String, word: &str) {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':');
    let Some(start) = word.find(|c: char| c.is_alphanumeric() || c == '_') else {
        return text.push_str(word);
    };
    let rest = &word[start..];
    let name = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
    let name = name.trim_end_matches(':');
    if is_name(name) {
        text.push_str(&word[..start]);
        text.push('`');
        text.push_str(name);
        text.push('`');
        text.push_str(&word[start + name.len()..]);
    } else {
        text.push_str(word);
    }
}

/// `repo_root`, `a::b`, `GraphHash`.
fn is_name(word: &str) -> bool {
    let humps = word.chars().zip(word.chars().skip(1));
    let humps = humps.filter(|(before, after)| before.is_lowercase() && after.is_uppercase());
    word.contains("::") || word.trim_matches('_').contains('_') || humps.count() > 0
}

#[cfg(test)]
mod tests {
    use super::comment;

    #[test]
    fn names_of_programs_become_code_and_the_rest_stays() {
        for (doc, expected) in [
            ("from repo_root: the plan", " from `repo_root`: the plan"),
            ("one\ttwo", " one two"),
            ("`one\n`two`", " 'one\n`two`"),
            (
                "(see max_rounds), or `max_rounds`",
                " (see `max_rounds`), or `max_rounds`",
            ),
            ("GraphHash and a::b, é_ü", " `GraphHash` and `a::b`, `é_ü`"),
            ("ISO 8601, UTC: PLAN.md", " ISO 8601, UTC: PLAN.md"),
            ("one ` alone_here", " one ' `alone_here`"),
            ("", ""),
            ("\u{202e}gnp.exe", " U+202Egnp.exe"),
        ] {
            assert_eq!(comment(doc), expected);
        }
    }
}
