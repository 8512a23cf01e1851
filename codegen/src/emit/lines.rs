//! Generated code as text: an item, a statement, a field on a line of its own, indented by its braces.
//!
//! The compiler quotes such lines to people, so they should be readable; they need not be what rustfmt would write. A parser
//! and a printer of all of Rust (syn, prettyplease) cost a build script more than all the rest of this crate.

use std::iter::Peekable;

use proc_macro2::{Delimiter, Group, Spacing, TokenStream, TokenTree, token_stream};

/// Returns the tokens as text. Parsed, it gives the same tokens.
pub(super) fn text(tokens: TokenStream) -> String {
    let mut lines = Lines {
        text: String::new(),
        last: Last::Nothing,
        depth: 0,
        angles: 0,
    };
    lines.stream(tokens, true);
    lines.end_line();
    lines.text
}

/// Tells what stands before the next token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The begin of a line, or an opening bracket.
    Nothing,
    /// A name, a literal, or a closing bracket.
    Word,
    Keyword,
    /// The first part of an operator such as `::`, by its character.
    Joint(char),
    /// What belongs to its right side: `::`, `.`, `<`, `&`, `!`, `#`.
    Prefix,
    Operator,
}

struct Lines {
    text: String,
    last: Last,
    depth: usize,
    /// How many `<` are open, by a guess: a comma within them ends no line.
    angles: usize,
}

impl Lines {
    /// Writes tokens. In a block, lines end at semicolons, commas and closing braces.
    fn stream(&mut self, tokens: TokenStream, block: bool) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let ends = match token {
                TokenTree::Group(group) => self.group(group, &mut tokens),
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    if block && name == "where" {
                        self.end_line();
                    }
                    let known = matches!(
                        name.as_str(),
                        "as" | "dyn"
                            | "else"
                            | "for"
                            | "if"
                            | "impl"
                            | "in"
                            | "match"
                            | "mut"
                            | "pub"
                            | "return"
                            | "use"
                    );
                    self.word(&name, if known { Last::Keyword } else { Last::Word });
                    false
                }
                TokenTree::Literal(literal) => {
                    self.word(&literal.to_string(), Last::Word);
                    false
                }
                TokenTree::Punct(punct) => {
                    self.punct(punct.as_char(), punct.spacing());
                    punct.as_char() == ';' || punct.as_char() == ',' && self.angles == 0
                }
            };
            if ends && block {
                self.end_line();
            }
        }
    }

    fn word(&mut self, word: &str, then: Last) {
        let apart = !matches!(self.last, Last::Nothing | Last::Joint(_) | Last::Prefix);
        // A path may follow a lifetime, and does not belong to it.
        let lifetime = self.last == Last::Joint('\'');
        self.write(word, apart, if lifetime { Last::Keyword } else { then });
    }

    fn punct(&mut self, character: char, spacing: Spacing) {
        let (last, joint) = (self.last, spacing == Spacing::Joint);
        let continues = matches!(last, Last::Joint(_));
        let arrow = matches!(last, Last::Joint('-' | '='));
        let follows = match character {
            ',' | ';' | '?' | '<' | '>' => true,
            '.' => !joint,
            // After a name: a macro; a path, or its type.
            '!' => !joint && last == Last::Word,
            ':' => !joint || last == Last::Word,
            _ => false,
        };
        match character {
            '<' if !joint && !continues => self.angles += 1,
            '>' if !arrow => self.angles = self.angles.saturating_sub(1),
            ';' => self.angles = 0,
            _ => {}
        }
        let then = match character {
            _ if joint => Last::Joint(character),
            ':' if last == Last::Joint(':') => Last::Prefix,
            '>' if !arrow => Last::Word,
            '.' | '<' | '!' | '#' => Last::Prefix,
            '&' | '*' if !continues => Last::Prefix,
            _ => Last::Operator,
        };
        let apart = !follows && !continues && !matches!(last, Last::Nothing | Last::Prefix);
        self.write(character.encode_utf8(&mut [0; 4]), apart, then);
    }

    /// Writes a group; returns whether a line of a block ends with it.
    fn group(&mut self, group: Group, rest: &mut Peekable<token_stream::IntoIter>) -> bool {
        let (delimiter, inner) = (group.delimiter(), group.stream());
        let (open, close) = match delimiter {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::None => ("", ""),
        };
        let is_brace = |token: TokenTree| matches!(token, TokenTree::Group(inside) if inside.delimiter() == Delimiter::Brace);
        let attribute = delimiter == Delimiter::Bracket && self.text.ends_with('#');
        let block = !inner.is_empty()
            && (delimiter == Delimiter::Brace
                || delimiter == Delimiter::Bracket && inner.clone().into_iter().any(is_brace));
        let apart = match self.last {
            Last::Nothing | Last::Prefix | Last::Joint(_) => false,
            Last::Word => delimiter == Delimiter::Brace,
            Last::Keyword | Last::Operator => true,
        };
        let angles = std::mem::take(&mut self.angles);
        self.write(open, apart, Last::Nothing);
        if block {
            self.depth += 1;
            self.end_line();
            self.stream(inner, true);
            self.depth -= 1;
            self.end_line();
        } else {
            self.stream(inner, false);
            self.last = Last::Nothing;
        }
        self.write(close, false, Last::Word);
        if delimiter != Delimiter::Brace {
            self.angles = angles;
        }
        // What goes on after a brace stays on its line.
        let goes_on = match rest.peek() {
            Some(TokenTree::Punct(punct)) => matches!(punct.as_char(), ',' | ';' | '.' | '?'),
            Some(TokenTree::Ident(ident)) => ident == "else",
            _ => false,
        };
        attribute || delimiter == Delimiter::Brace && !goes_on
    }

    fn write(&mut self, token: &str, apart: bool, then: Last) {
        if self.text.is_empty() || self.text.ends_with('\n') {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
        } else if apart {
            self.text.push(' ');
        }
        self.text.push_str(token);
        self.last = then;
    }

    fn end_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.last = Last::Nothing;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_what_a_person_would_write() {
        let written = "\
#[doc = \"Ends.\"]
pub fn end<N>(self, home: &'a ::rt::Home) -> Result<N, rt::Refused<Self>>
where P: End<Next = N>,
{
    if !ok && x == 1 {
        return Err(self.0.x?);
    } else {
        let y = vec![0; 3];
    }
    f(Place {
        a: 1,
        b: m!(\"b\", ..),
    })
}
";
        let tokens: TokenStream = written.parse().unwrap();
        assert_eq!(text(tokens), written);
    }
}
