//! Findings as miette's diagnostics, which a program's reports show in the lines of the file.

use std::fmt;
use std::ops::Range;

use miette::{LabeledSpan, MietteError, MietteSpanContents, SourceCode, SpanContents};

use super::{Diagnostic, Diagnostics, one_line};

/// The most bytes of a file that a picture shows with the lines around a place.
const WHOLE: usize = 4_096;
/// The bytes on either side of a place that are shown of longer lines.
const AROUND: usize = 100;
/// The most bytes that a label underlines.
const UNDERLINED: usize = 1_000;

impl miette::Diagnostic for Diagnostic {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new(self.code))
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help
            .as_deref()
            .map(|help| Box::new(one_line(help)) as Box<dyn fmt::Display>)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let place = |label: &str, span: &Range<usize>| {
            let label = (!label.is_empty()).then(|| one_line(label));
            LabeledSpan::new(label, span.start, underlined(span))
        };
        let own = LabeledSpan::new_primary_with_span(
            (!self.label.is_empty()).then(|| one_line(&self.label)),
            (self.span.start, underlined(&self.span)),
        );
        let others = self
            .related
            .iter()
            .map(move |(span, label)| place(label, span));
        Some(Box::new(std::iter::once(own).chain(others)))
    }
}

/// Limits how many bytes of a place are underlined.
fn underlined(span: &Range<usize>) -> usize {
    span.end.saturating_sub(span.start).min(UNDERLINED)
}

/// The picture's frame: the file is the source of every finding, and each finding is a picture of its own below it.
impl miette::Diagnostic for Diagnostics {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("claudex::machine"))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(self)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn miette::Diagnostic> + 'a>> {
        Some(Box::new(
            self.list
                .iter()
                .map(|found| found as &dyn miette::Diagnostic),
        ))
    }
}

impl SourceCode for Diagnostics {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let inner = self.source.read_span(span, before, after)?;
        let whole = inner.span().offset()..inner.span().offset() + inner.data().len();
        let contents = if inner.data().len() <= WHOLE {
            MietteSpanContents::new_named(
                self.name.clone(),
                inner.data(),
                *inner.span(),
                inner.line(),
                inner.column(),
                inner.line_count(),
            )
        } else {
            // Lines that nobody could read are shown around the place alone.
            let start = self
                .source
                .floor_char_boundary(span.offset().saturating_sub(AROUND));
            let end = self
                .source
                .ceil_char_boundary(span.offset() + span.len() + AROUND);
            let (start, end) = (start.max(whole.start), end.min(whole.end));
            let text = &self.source[start..end];
            let left_out = &self.source[whole.start..start];
            let column = left_out
                .rfind('\n')
                .map_or(inner.column() + left_out.len(), |at| {
                    left_out.len() - at - 1
                });
            MietteSpanContents::new_named(
                self.name.clone(),
                text.as_bytes(),
                (start, text.len()).into(),
                inner.line() + left_out.matches('\n').count(),
                column,
                text.lines().count(),
            )
        };
        Ok(Box::new(contents.with_language("TOML")))
    }
}
