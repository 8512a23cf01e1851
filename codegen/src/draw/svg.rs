//! An SVG picture that stands alone: its own colours for light and for dark ground, no fonts or scripts from elsewhere.
//!
//! It has no empty line and its first line is one tag, so that it can stand in Markdown (and so in rustdoc) as it is. What belongs to an
//! edge has the class `edge`, and one with its place in `Machine::edges` (`e12`), by which a page shows the edges that a loop took.

use std::fmt::Write as _;

use super::layout::{Layout, Link, Point, Size, layout};
use super::picture::{Arrow, Kind, Label, Node, Picture, Shape};
use crate::diagnostic::one_line;

/// Classes and colours. Every rule names the picture, so that none reaches the page around it.
const STYLE: &str = include_str!("svg.css");

/// Around everything.
const MARGIN: f64 = 20.0;
/// The width of a column of the labels' type, which is of one width: 12 px.
const COLUMN: f64 = 7.3;
/// The same for a phase's name: 14 px, bold.
const NAME_COLUMN: f64 = 8.6;
/// A label's line.
const LINE: f64 = 16.0;
/// How far a line from a phase to itself swings out.
const SWING: f64 = 34.0;
/// An arrow's head.
const HEAD: f64 = 9.0;
/// Where a guard is broken, in columns, and after how many lines it is cut.
const GUARD_COLUMNS: usize = 40;
const GUARD_LINES: usize = 4;
/// The most edges that are listed as never taken.
const LISTED: usize = 60;

pub(super) fn write(picture: &Picture) -> String {
    let blocks: Vec<Block> = picture.arrows.iter().map(Block::new).collect();
    let boxes: Vec<Phase<'_>> = (0..picture.phases.len())
        .map(|at| Phase::new(picture, &blocks, at))
        .collect();
    let mut sizes: Vec<Size> = boxes.iter().map(|phase| phase.size).collect();
    let mut links = Vec::new();
    for (mode, start) in &picture.entries {
        let half = (columns(mode) * COLUMN + 28.0) / 2.0;
        links.push(Link {
            from: sizes.len(),
            to: *start,
            label: None,
        });
        sizes.push(Size {
            left: half,
            right: half,
            height: 26.0,
            reach: 0.0,
        });
    }
    let others = || {
        (0..picture.arrows.len()).filter(|at| picture.arrows[*at].from != picture.arrows[*at].to)
    };
    links.extend(others().map(|at| Link {
        from: picture.arrows[at].from,
        to: picture.arrows[at].to,
        label: Some(blocks[at].centred()),
    }));
    let mut canvas = Canvas::default();
    let Some(layout) = layout(&sizes, &links) else {
        canvas.say(&[
            format!(
                "{} and {}:",
                super::count(picture.number(), "phase"),
                super::count(picture.arrows.len(), "arrow")
            ),
            "more than a picture can show. A layout program may still make something of the format dot."
                .to_owned(),
        ]);
        return canvas.finish(picture);
    };
    canvas.take(layout.width, layout.height);
    for (at, phase) in boxes.iter().enumerate() {
        phase.draw(&mut canvas, layout.boxes[at], picture, &blocks);
    }
    for (at, (mode, _)) in picture.entries.iter().enumerate() {
        entry(
            &mut canvas,
            layout.boxes[picture.phases.len() + at],
            mode,
            sizes[picture.phases.len() + at],
        );
    }
    lines(&mut canvas, &layout, picture, &blocks, others());
    legend(&mut canvas, picture);
    canvas.finish(picture)
}

/// What is drawn so far, and how much room it takes.
#[derive(Default)]
struct Canvas {
    text: String,
    width: f64,
    height: f64,
}

impl Canvas {
    fn take(&mut self, width: f64, height: f64) {
        self.width = self.width.max(width);
        self.height = self.height.max(height);
    }

    /// A line of text.
    fn text(&mut self, class: &str, x: f64, y: f64, text: &str) {
        let (x, y, text) = (number(x), number(y), escaped(text));
        let _ = writeln!(
            self.text,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
        );
    }

    /// Lines of text below everything.
    fn say(&mut self, lines: &[String]) {
        for line in lines {
            self.height += LINE;
            let y = self.height;
            self.text("label", 0.0, y, line);
            self.take(columns(line) * COLUMN, y);
        }
    }

    /// A line through points, with a head at its end if it is the last piece of its arrow.
    fn line(&mut self, class: &str, points: &[Point], ends: bool) {
        let mut points = points.to_vec();
        let mut head = None;
        if let (true, [first, .., tip]) = (ends, points.as_mut_slice()) {
            let down = if tip.y >= first.y { 1.0 } else { -1.0 };
            head = Some((*tip, down));
            tip.y -= down * HEAD;
        }
        let Some((first, rest)) = points.split_first() else {
            return;
        };
        let mut path = format!("M{} {}", number(first.x), number(first.y));
        let mut last = *first;
        for point in rest {
            let (x, y) = (number(point.x), number(point.y));
            let _ = if (point.x - last.x).abs() < 0.05 {
                write!(path, "V{y}")
            } else {
                let half = number(f64::midpoint(last.y, point.y));
                write!(path, "C{} {half} {x} {half} {x} {y}", number(last.x))
            };
            last = *point;
        }
        let _ = writeln!(self.text, "<path class=\"line {class}\" d=\"{path}\"/>");
        if let Some((tip, down)) = head {
            let (x, y, base) = (number(tip.x), number(tip.y), number(tip.y - down * HEAD));
            let (left, right) = (number(tip.x - 4.5), number(tip.x + 4.5));
            let _ = writeln!(
                self.text,
                "<path class=\"head {class}\" d=\"M{x} {y}L{left} {base}H{right}Z\"/>"
            );
        }
    }

    fn finish(self, picture: &Picture) -> String {
        let (width, height) = (
            number(self.width + 2.0 * MARGIN),
            number(self.height + 2.0 * MARGIN),
        );
        let name = escaped(&picture.name);
        let mut said = vec![format!(
            "State diagram of the {name} machine: {}, {}.",
            super::count(picture.number(), "phase"),
            super::count(
                picture.arrows.iter().map(|arrow| arrow.labels.len()).sum(),
                "edge"
            ),
        )];
        said.extend((!picture.doc.is_empty()).then(|| escaped(&picture.doc)));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"claudex-machine\" viewBox=\"0 0 {width} {height}\" \
             width=\"{width}\" height=\"{height}\" role=\"img\" aria-labelledby=\"{name}-title {name}-desc\">\n\
             <title id=\"{name}-title\">The {name} machine</title>\n<desc id=\"{name}-desc\">{}</desc>\n\
             <style>\n{STYLE}</style>\n<rect class=\"ground\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>\n\
             <g transform=\"translate({} {})\">\n{}</g>\n</svg>\n",
            said.join(" "),
            number(MARGIN),
            number(MARGIN),
            self.text,
        )
    }
}

/// The label of an arrow.
struct Block {
    /// Each line with its class.
    lines: Vec<(String, String)>,
    /// What was left out of the lines.
    whole: Option<String>,
    width: f64,
}

impl Block {
    fn new(arrow: &Arrow) -> Self {
        let mut lines = Vec::new();
        let mut whole = Vec::new();
        for label in &arrow.labels {
            let edges = edge_classes(std::slice::from_ref(label));
            lines.push((format!("{}{edges}", kind_or_coverage(arrow)), label.head()));
            let Some(guard) = &label.guard else { continue };
            let mut broken = broken(guard);
            if broken.len() > GUARD_LINES {
                broken.truncate(GUARD_LINES);
                broken.push("...".to_owned());
                whole.push(format!("{}: {guard}", label.transition));
            }
            lines.extend(
                broken
                    .into_iter()
                    .map(|line| (format!("guard{edges}"), line)),
            );
        }
        let widest = lines
            .iter()
            .map(|(_, line)| columns(line))
            .fold(0.0, f64::max);
        Self {
            lines,
            whole: (!whole.is_empty()).then(|| whole.join("\n")),
            width: widest * COLUMN,
        }
    }

    fn height(&self) -> f64 {
        self.lines.len() as f64 * LINE
    }

    fn centred(&self) -> Size {
        let half = self.width / 2.0;
        Size {
            left: half,
            right: half,
            height: self.height() + 4.0,
            reach: 0.0,
        }
    }

    /// Writes it: beginning at `x`, or with its middle there.
    fn draw(&self, canvas: &mut Canvas, x: f64, middle: f64, anchor: &str) {
        canvas.text.push_str("<g>\n");
        if let Some(whole) = &self.whole {
            let _ = writeln!(canvas.text, "<title>{}</title>", escaped(whole));
        }
        let top = middle - self.height() / 2.0;
        for (at, (class, line)) in self.lines.iter().enumerate() {
            let y = top + at as f64 * LINE + 12.0;
            canvas.text(&format!("label {anchor} {class}"), x, y, line);
        }
        canvas.text.push_str("</g>\n");
    }
}

/// A phase's box, with the arrows that lead back to it at its right.
struct Phase<'p> {
    node: &'p Node,
    size: Size,
    half: f64,
    /// Arrows by index, and the middle of each, from the box's middle.
    loops: Vec<(usize, f64)>,
}

impl<'p> Phase<'p> {
    fn new(picture: &'p Picture, blocks: &[Block], at: usize) -> Self {
        let node = &picture.phases[at];
        let wide = (columns(&node.name) * NAME_COLUMN).max(columns(&node.stop) * COLUMN);
        let half = (wide + 36.0).max(100.0) / 2.0;
        let own: Vec<usize> = (0..picture.arrows.len())
            .filter(|arrow| picture.arrows[*arrow].from == at && picture.arrows[*arrow].to == at)
            .collect();
        let room = |arrow: &usize| blocks[*arrow].height().max(28.0) + 10.0;
        let all: f64 = own.iter().map(room).sum();
        let plain = if node.stop.is_empty() { 38.0 } else { 50.0 };
        let height = if own.is_empty() {
            plain
        } else {
            f64::max(plain, all + 8.0)
        };
        let mut top = -all / 2.0;
        let mut loops = Vec::new();
        let mut right = half;
        for arrow in own {
            let room = room(&arrow);
            loops.push((arrow, top + room / 2.0));
            top += room;
            right = right.max(half + SWING + blocks[arrow].width);
        }
        let size = Size {
            left: half,
            right,
            height,
            reach: half - 16.0,
        };
        Self {
            node,
            size,
            half,
            loops,
        }
    }

    fn draw(&self, canvas: &mut Canvas, middle: Point, picture: &Picture, blocks: &[Block]) {
        let rect = |canvas: &mut Canvas, class: &str, inset: f64| {
            let (x, y) = (
                middle.x - self.half + inset,
                middle.y - self.size.height / 2.0 + inset,
            );
            let _ = writeln!(
                canvas.text,
                "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
                number(x),
                number(y),
                number(2.0 * (self.half - inset)),
                number(self.size.height - 2.0 * inset),
                number(9.0 - inset),
            );
        };
        canvas.text.push_str("<g>\n");
        if !self.node.doc.is_empty() {
            let _ = writeln!(canvas.text, "<title>{}</title>", escaped(&self.node.doc));
        }
        match self.node.shape {
            Shape::Phase => rect(canvas, "phase", 0.0),
            Shape::Terminal => {
                rect(canvas, "phase terminal", 0.0);
                rect(canvas, "terminal inner", 4.0);
            }
            Shape::Anywhere => rect(canvas, "phase anywhere", 0.0),
        }
        let below = if self.node.stop.is_empty() { 5.0 } else { -3.0 };
        canvas.text("name", middle.x, middle.y + below, &self.node.name);
        if !self.node.stop.is_empty() {
            canvas.text(
                "label middle stop",
                middle.x,
                middle.y + 14.0,
                &self.node.stop,
            );
        }
        canvas.text.push_str("</g>\n");
        for (arrow, at) in &self.loops {
            let (x, y) = (middle.x + self.half, middle.y + at);
            let class = class(&picture.arrows[*arrow]);
            let out = number(x + SWING);
            let (start, end) = (number(y - 9.0), number(y + 9.0));
            let (left, base) = (number(x), number(x + HEAD));
            let _ = writeln!(
                canvas.text,
                "<path class=\"line {class}\" d=\"M{left} {start}C{out} {start} {out} {end} {base} {end}\"/>\n\
                 <path class=\"head {class}\" d=\"M{left} {end}L{base} {}V{}Z\"/>",
                number(y + 4.5),
                number(y + 13.5),
            );
            blocks[*arrow].draw(canvas, x + SWING, y, "start");
        }
    }
}

/// A mode: where a loop begins.
fn entry(canvas: &mut Canvas, middle: Point, mode: &str, size: Size) {
    let _ = writeln!(
        canvas.text,
        "<rect class=\"mode\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"13\"/>",
        number(middle.x - size.left),
        number(middle.y - size.height / 2.0),
        number(2.0 * size.left),
        number(size.height),
    );
    canvas.text("label middle begins", middle.x, middle.y + 4.0, mode);
}

/// The lines between boxes: those of modes first, then the arrows.
fn lines(
    canvas: &mut Canvas,
    layout: &Layout,
    picture: &Picture,
    blocks: &[Block],
    arrows: impl Iterator<Item = usize>,
) {
    let (modes, routes) = layout.routes.split_at(picture.entries.len());
    for route in modes {
        canvas.line("hook", &route.pieces.concat(), true);
    }
    for (route, arrow) in routes.iter().zip(arrows) {
        let class = class(&picture.arrows[arrow]);
        for (at, piece) in route.pieces.iter().enumerate() {
            canvas.line(&class, piece, at + 1 == route.pieces.len());
        }
        if let Some(middle) = route.label {
            blocks[arrow].draw(canvas, middle.x, middle.y, "middle");
        }
    }
}

/// What the kinds of lines mean, and which edges were never taken.
fn legend(canvas: &mut Canvas, picture: &Picture) {
    canvas.height += 18.0;
    let rows: Vec<(&str, &str)> = match picture.taken {
        Some(_) => vec![("taken", "taken, and how often"), ("missed", "never taken")],
        None => picture
            .kinds()
            .map(|(kind, words)| (kind_class(kind), words))
            .collect(),
    };
    for (class, words) in rows {
        canvas.height += LINE + 4.0;
        let y = canvas.height - 4.0;
        let _ = writeln!(
            canvas.text,
            "<path class=\"line {class}\" d=\"M0 {}H40\"/>",
            number(y)
        );
        canvas.text("label key", 50.0, y + 4.0, words);
        canvas.take(50.0 + columns(words) * COLUMN, y);
    }
    if let Some(coverage) = picture.coverage() {
        canvas.height += 10.0;
        let more = picture.missed.len().saturating_sub(LISTED);
        let listed = picture
            .missed
            .iter()
            .take(LISTED)
            .map(|line| format!("- {line}"));
        let mut lines: Vec<_> = std::iter::once(coverage).chain(listed).collect();
        lines.extend((more > 0).then(|| format!("and {more} more")));
        canvas.say(&lines);
    }
}

/// Returns the classes of an arrow's lines.
fn class(arrow: &Arrow) -> String {
    format!("{}{}", kind_or_coverage(arrow), edge_classes(&arrow.labels))
}

fn edge_classes(labels: &[Label]) -> String {
    let edges = labels.iter().flat_map(|label| &label.edges);
    edges.fold(" edge".to_owned(), |classes, edge| {
        format!("{classes} e{edge}")
    })
}

fn kind_or_coverage(arrow: &Arrow) -> &'static str {
    match arrow.taken {
        Some(false) => "missed",
        Some(true) => "taken",
        None => kind_class(arrow.kind),
    }
}

fn kind_class(kind: Kind) -> &'static str {
    match kind {
        Kind::Hook => "hook",
        Kind::Agent => "agent",
        Kind::Person => "person",
        Kind::Answer => "person answer",
    }
}

/// A guard in lines, broken between words; a word that is longer than a line is broken too.
fn broken(guard: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in guard.split(' ') {
        let mut word: &str = word;
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > GUARD_COLUMNS {
            lines.push(std::mem::take(&mut line));
        }
        while let Some((end, _)) = word.char_indices().nth(GUARD_COLUMNS) {
            lines.push(word[..end].to_owned());
            word = &word[end..];
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

/// How many columns a text takes; characters of East Asia take two.
fn columns(text: &str) -> f64 {
    text.chars()
        .map(|character| if character < '\u{1100}' { 1.0 } else { 2.0 })
        .sum()
}

/// A length with one digit at most.
fn number(value: f64) -> String {
    let tenths = (value * 10.0).round();
    let whole = tenths / 10.0;
    // A zero may have a sign.
    if tenths == 0.0 {
        "0".to_owned()
    } else {
        format!("{whole}")
    }
}

/// Text in XML, on one line, without characters that XML does not know.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in one_line(text).chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            other => safe.push(other),
        }
    }
    safe
}
