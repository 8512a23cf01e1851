//! A document that is Markdown below YAML: a line `---`, the fields as [`lines`](super::lines), a line `---`, and text.
//!
//! People write such files, so what is theirs stays byte for byte: the text below, comments, line ends, a byte-order mark, and keys that
//! no machine knows. A field may stand below other keys; its name in the machine and its place in the file are a pair of [`Keys`].

use super::document::{Document, DocumentError, MAX_BYTES};
use super::json::Data;
use super::lines::{Lines, Style, text_of};
use super::value::Value;

/// Fields that stand below other keys, each with where: `("phase", "loop.phase")`.
pub(super) type Keys = &'static [(&'static str, &'static str)];

/// A document of frontmatter.
#[derive(Debug, Clone)]
pub(super) struct Frontmatter {
    keys: Keys,
    data: Data,
    /// The first fence.
    open: String,
    lines: Lines,
    /// The second fence, and the text.
    rest: String,
}

impl Frontmatter {
    pub(super) fn parse(keys: Keys, data: Data, bytes: &[u8]) -> Result<Self, DocumentError> {
        let text = text_of(bytes)?;
        let (open, lines, rest) = parts(text).ok_or(DocumentError::NotFrontmatter)?;
        let lines = Lines::read(lines, Style::Theirs, false).map_err(|error| match error {
            DocumentError::NotLines => DocumentError::NotFrontmatter,
            other => other,
        })?;
        Ok(Self::of((keys, data), open, lines, rest))
    }

    pub(super) fn empty(keys: Keys, data: Data) -> Self {
        Self::of((keys, data), "---\n", Lines::default(), "---\n")
    }

    fn of((keys, data): (Keys, Data), open: &str, mut lines: Lines, rest: &str) -> Self {
        lines.style = Style::Theirs;
        lines.crlf = open.ends_with("\r\n");
        Self {
            keys,
            data,
            open: open.to_owned(),
            lines,
            rest: rest.to_owned(),
        }
    }

    /// Returns where a field stands.
    fn path<'a>(&self, field: &'a str) -> &'a str {
        let placed = self.keys.iter().find(|(name, _)| *name == field);
        placed.map_or(field, |(_, path)| path)
    }

    /// Returns which field stands there; `None` where a key has the name of a field that stands elsewhere.
    fn name<'a>(&self, path: &'a str) -> Option<&'a str> {
        match self.keys.iter().find(|(_, placed)| *placed == path) {
            Some((name, _)) => Some(name),
            None => (self.path(path) == path).then_some(path),
        }
    }
}

impl Document for Frontmatter {
    fn get(&self, field: &str) -> Option<Value> {
        if self.data.contains(&field) {
            return self.lines.data(self.path(field)).map(Value::of_json);
        }
        self.lines.get(self.path(field))
    }

    fn set(&mut self, field: &str, value: &Value) {
        if self.data.contains(&field) {
            return self.lines.set_data(self.path(field), &value.to_json());
        }
        self.lines.set(self.path(field), value);
    }

    fn append(&mut self, text: &str) {
        let ending = if self.lines.crlf { "\r\n" } else { "\n" };
        if !self.rest.ends_with('\n') {
            self.rest.push_str(ending);
        }
        for line in text.lines() {
            self.rest.push_str(line);
            self.rest.push_str(ending);
        }
    }

    fn remove(&mut self, field: &str) {
        self.lines.remove(self.path(field));
    }

    fn fields(&self) -> Vec<(String, Value)> {
        let is_data = |path: &str| {
            let mut data = self.data.iter().map(|field| self.path(field));
            data.any(|data| {
                path.strip_prefix(data)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let fields = self.lines.fields().into_iter();
        let fields = fields.filter(|(path, _)| !is_data(path));
        let fields = fields.filter_map(|(path, value)| Some((self.name(&path)?.to_owned(), value)));
        let data = self
            .data
            .iter()
            .filter_map(|field| Some(((*field).to_owned(), self.get(field)?)));
        fields.chain(data).collect()
    }

    fn to_bytes(&self) -> Vec<u8> {
        [
            self.open.as_bytes(),
            &self.lines.to_bytes(),
            self.rest.as_bytes(),
        ]
        .concat()
    }

    fn check(&self) -> Result<(), DocumentError> {
        self.lines.check()?;
        if self.to_bytes().len() > MAX_BYTES {
            return Err(DocumentError::TooLarge);
        }
        Ok(())
    }

    fn boxed_clone(&self) -> Box<dyn Document> {
        Box::new(self.clone())
    }
}

/// Splits a file into its first fence, the lines behind it, and the rest from the second fence on.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let first = text.find('\n')? + 1;
    if !is_fence(text[..first].trim_start_matches('\u{feff}')) {
        return None;
    }
    let mut at = first;
    for line in text[first..].split_inclusive('\n') {
        if is_fence(line) {
            return Some((&text[..first], &text[first..at], &text[at..]));
        }
        at += line.len();
    }
    None
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const KEYS: Keys = &[("phase", "loop.phase"), ("note", "loop.deep.note")];
    const DOCUMENT: &str = "\u{feff}---\n# What a person wrote.\nround: 1  # of three\n\"hide title\": yes\nallowed.tools: [Bash, Read]\nloop: # where it is\n    phase: 'drafting'   # moves\n    # theirs\n    hooks:\n        pre: |\n            ---\n            phase: no\n\n        all:\n        - {run: x}\ntags:\n- a\n- b\n\n---\n# Plan\n\n---\nphase: done\n";

    fn parse(text: &str) -> Frontmatter {
        Frontmatter::parse(KEYS, &[], text.as_bytes())
            .unwrap_or_else(|error| panic!("{error}: {text}"))
    }

    fn text(document: &Frontmatter) -> String {
        String::from_utf8(document.to_bytes()).unwrap()
    }

    fn word(text: &str) -> Value {
        Value::Word(text.into())
    }

    fn changed(document: &str) -> String {
        let mut changed = parse(document);
        changed.set("round", &Value::Count(2));
        changed.set("phase", &word("reviewing"));
        changed.set("note", &Value::Text("new: \"x\"".into()));
        changed.set("tags", &Value::List(vec!["c".into()]));
        changed.set("signal", &Value::Null);
        let written = text(&changed);
        assert_eq!(
            parse(&written).fields(),
            changed.fields(),
            "what is held is what is read"
        );
        written
    }

    #[test]
    fn a_change_leaves_comments_keys_of_others_and_the_text_byte_for_byte() {
        let document = parse(DOCUMENT);
        assert_eq!(text(&document), DOCUMENT);
        assert_eq!(
            document.fields(),
            [
                ("round".to_owned(), Value::Count(1)),
                ("phase".to_owned(), word("drafting")),
                ("loop.hooks.pre".to_owned(), word("---\nphase: no\n")),
                ("tags".to_owned(), Value::List(vec!["a".into(), "b".into()])),
            ]
        );
        let expected = DOCUMENT
            .replace("round: 1  #", "round: 2  #")
            .replace("'drafting'   #", "\"reviewing\"   #")
            .replace(
                "run: x}\n",
                "run: x}\n    deep:\n      note: \"new: \\\"x\\\"\"\n",
            )
            .replace(
                "tags:\n- a\n- b\n\n---",
                "tags: [\"c\"]\n\nsignal: null\n---",
            );
        assert_eq!(changed(DOCUMENT), expected);
        let crlf = DOCUMENT.replace('\n', "\r\n");
        assert_eq!(text(&parse(&crlf)), crlf);
        assert_eq!(changed(&crlf), expected.replace('\n', "\r\n"));
        for end in ["---\nphase: a\n---", "---\nphase: a\n---\nno end"] {
            assert_eq!(text(&parse(end)), end);
        }
    }

    #[test]
    fn keys_below_keys_come_and_go_with_the_key_above() {
        let mut document = Frontmatter::empty(KEYS, &[]);
        document.set("note", &word("a"));
        document.set("round", &Value::Count(1));
        document.set("phase", &word("b"));
        let whole = "---\nloop:\n  deep:\n    note: a\n  phase: b\nround: 1\n---\n";
        assert_eq!(text(&document), whole);
        assert_eq!(parse(whole).fields(), document.fields());
        document.remove("note");
        assert_eq!(text(&document), "---\nloop:\n  phase: b\nround: 1\n---\n");
        document.remove("phase");
        assert_eq!(text(&document), "---\nround: 1\n---\n");
        for value in ["", " null", " x # y", " {phase: c}", " [1]", "\n- x"] {
            let mut document = parse(&format!("---\nloop:{value}\nround: 1\n---\n"));
            assert_eq!(document.get("phase"), None);
            document.set("phase", &word("b"));
            assert_eq!(
                text(&document),
                "---\nloop:\n  phase: b\nround: 1\n---\n",
                "{value}"
            );
        }
        let mut elsewhere = parse("---\nphase: theirs\nloop:\n  phase: ours\n---\n");
        assert_eq!(elsewhere.fields(), [("phase".to_owned(), word("ours"))]);
        elsewhere.set("loop", &Value::Null);
        assert_eq!(text(&elsewhere), "---\nphase: theirs\nloop: null\n---\n");
    }

    #[test]
    fn a_comment_stays_only_where_it_is_one() {
        for (line, after) in [
            ("a: x#y # z", "a: b # z"),
            ("a: it's # z", "a: b # z"),
            ("a:   # z", "a: b   # z"),
            ("a: \"x # y\"\t# z", "a: \"b\"\t# z"),
            ("a: 'x # y'", "a: \"b\""),
            ("a: \"x\n  y\" # z", "a: \"b\""),
            ("a: >\n  x # y", "a: b"),
            ("a: {x: 1} # y", "a: b"),
            ("\"a\": x # y", "a: b # y"),
        ] {
            let mut document = parse(&format!("---\n{line}\n---\n"));
            document.set("a", &word("b"));
            assert_eq!(text(&document), format!("---\n{after}\n---\n"));
        }
        let mut lists = parse("---\na: [\"x # y\"] # z\nb: [x, y] # z\nc: [x, \"# y\"]\n---\n");
        for name in ["a", "b", "c"] {
            lists.set(name, &Value::List(vec!["b".into()]));
        }
        assert_eq!(
            text(&lists),
            "---\na: [\"b\"] # z\nb: [\"b\"] # z\nc: [\"b\"]\n---\n"
        );
    }

    #[test]
    fn what_is_no_frontmatter_is_refused() {
        for text in [
            "",
            "---",
            "---\n---\n",
            "---\n# only\n---\n",
            "text\n---\na: 1\n---\n",
            " ---\na: 1\n---\n",
            "---\na: 1\n --- \n",
            "---\na: 1\na: 2\n---\n",
            "---\n\"a\": 1\na: 2\n---\n",
            "---\nb:\n  a: 1\n  a: 2\n---\n",
            "---\nb: 1\nb:\n  a: 1\n---\n",
            "---\na: \"x\nb: 1\"\nc: 2\n---\n",
            "---\na: &x 1\nb: *x\n---\n",
            "---\na: 1\n...\n---\n",
            "---\n%YAML 1.2\na: 1\n---\n",
            "---\n? a\n: 1\n---\n",
            "---\n- a\n---\n",
            "---\n{a: 1}\n---\n",
            "---\na: 1\n\tb: 2\n---\n",
        ] {
            assert!(
                Frontmatter::parse(KEYS, &[], text.as_bytes()).is_err(),
                "{text}"
            );
        }
        let wrong =
            Frontmatter::parse(KEYS, &[], b"---\n# why\na: 1\nb:\n  c: d: e\n---\n").unwrap_err();
        assert!(wrong.to_string().contains("line 5"), "{wrong}");
    }

    #[test]
    fn what_the_reader_would_take_long_for_is_refused_by_its_shape() {
        for part in [
            "[",
            "{",
            "? ",
            "- ",
            "b,",
            "!",
            "&a ",
            "x\n",
            "%YAML 1.2\n",
            "--- \n",
            "#\n",
            "k: v\n",
            "*a,",
            "  ",
        ] {
            for begin in [
                "",
                "a: ",
                "a: [",
                "a: [it's ",
                "a: [\"x\" ",
                "a: [b:\"",
                "a:\n- b, \"\n- ",
                "a: ['it''s, ', ",
                "a: {\"a\":\"b, \", ",
                "a:\n  b: [\"x\n  c: \", ",
                "a: [x, # , \"\n ",
                "# \r[\"x\nb: \", ",
                "a: [\n# \r",
                "a: [\n# \u{85}",
                "%YAML 1.2\r[\"x\nb: \", ",
                "a:\n b:\n  c:\n   d:\n    e:\n     f: ",
                "\"a\": \"",
                "a: |\n ",
            ] {
                let text = format!("---\n{begin}{}", part.repeat(1_000_000 / part.len()));
                for end in ["", "\n---\n"] {
                    let text = format!("{text}{end}");
                    let begun = std::time::Instant::now();
                    let read = Frontmatter::parse(KEYS, &[], text.as_bytes());
                    let blank = part == "  " || part == "--- \n";
                    assert!(blank || read.is_err(), "{begin}{part}");
                    // A debug build on a busy machine takes a second; brackets took the reader a minute.
                    assert!(
                        begun.elapsed().as_secs() < 20,
                        "{begin}{part}: {:?}",
                        begun.elapsed()
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn any_lines_are_read_or_refused_and_a_set_changes_one_field(
            lines in "( {0,2}([a-c]|\"a\"|a b|\\{a|!a a|- a|--- a): ?[a-z\"'#|>\\-{}\\[\\]&*!: ]{0,6}(\n|\r\n)( {0,4}[a-z:\\-\\]\"#]{0,4}\n)?){0,6}",
            below in any::<String>(),
            field in "[a-c](\\.[a-c]){0,2}",
        ) {
            let whole = format!("---\n{lines}---\n{below}");
            if let Ok(mut document) = Frontmatter::parse(KEYS, &[], whole.as_bytes()) {
                prop_assert_eq!(text(&document), &whole[..]);
                let before = document.fields();
                document.set(&field, &Value::Text("new".into()));
                let written = text(&document);
                prop_assert!(written.ends_with(&format!("---\n{below}")), "{}", written);
                let after = parse(&written);
                prop_assert_eq!(after.fields(), document.fields());
                prop_assert_eq!(after.get(&field), Some(word("new")));
                let touches = |name: &str| name == field || name.starts_with(&format!("{field}.")) || field.starts_with(&format!("{name}."));
                for (name, value) in before.iter().filter(|(name, _)| !touches(name)) {
                    prop_assert_eq!(after.get(name), Some(value.clone()), "{}", name);
                }
                document.remove(&field);
                let left = document.fields().len();
                prop_assert!(parse_fields(&document).is_none_or(|fields| fields == left));
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused_and_come_back_unchanged(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for bytes in [bytes.clone(), [b"---\na: 1\n", &bytes[..], b"\n---\n"].concat(), [b"---\na: 1\n---\n", &bytes[..]].concat()] {
                if let Ok(document) = Frontmatter::parse(KEYS, &[], &bytes) {
                    prop_assert_eq!(document.to_bytes(), &bytes[..]);
                }
            }
        }
    }

    fn parse_fields(document: &Frontmatter) -> Option<usize> {
        Some(
            Frontmatter::parse(KEYS, &[], &document.to_bytes())
                .ok()?
                .fields()
                .len(),
        )
    }
}
