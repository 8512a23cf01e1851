//! A layered layout: where boxes stand and which way lines take between them. Knows boxes and lines, and nothing of
//! machines or of SVG.
//!
//! The usual four steps: lines that close a cycle are turned round, every box gets a layer, the boxes of a layer are
//! ordered so that few lines cross, and places are chosen so that lines are straight. A label is a box on its line, and a
//! line that passes a layer has a narrow box in it; lines bend in the gaps between layers alone. So nothing can lie on
//! anything else, whatever the graph. Ties are broken by the order given, so that the same graph is the same picture.

mod order;
mod place;

/// What a box takes: left and right of its axis, and in height.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Size {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) height: f64,
    /// How far its lines may end from its axis.
    pub(super) reach: f64,
}

/// A line from a box to another one.
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    /// What its label takes; a line without one is short.
    pub(super) label: Option<Size>,
}

/// A place, in pixels from the left and the top.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: f64,
}

/// Where everything is.
pub(super) struct Layout {
    /// The middle of each box's axis.
    pub(super) boxes: Vec<Point>,
    pub(super) routes: Vec<Route>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// The way of a line, in its own direction. Between two points it is straight where they stand above one another, and
/// else a curve that begins and ends upright.
pub(super) struct Route {
    /// One piece, or two with the label between them.
    pub(super) pieces: Vec<Vec<Point>>,
    /// The middle of the label.
    pub(super) label: Option<Point>,
}

/// What stands in a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Box,
    Label,
    Bend,
}

/// A thing in a layer.
struct Vertex {
    kind: Kind,
    size: Size,
    layer: usize,
    /// Neighbours in the layer above and in the one below.
    above: Vec<usize>,
    below: Vec<usize>,
    x: f64,
}

/// The most things in layers that a picture can have and still be read.
const MOST_VERTICES: usize = 3_000;

/// Lays a graph out; None where it is too large for a picture. Lines from a box to itself are not for this.
pub(super) fn layout(sizes: &[Size], links: &[Link]) -> Option<Layout> {
    let turned = turned(sizes.len(), links);
    let layers = layers(sizes.len(), links, &turned);
    let span = |link: &Link| layers[link.from].abs_diff(layers[link.to]);
    if sizes.len() + links.iter().map(span).sum::<usize>() > MOST_VERTICES {
        return None;
    }
    let mut vertices: Vec<Vertex> = Vec::new();
    for (at, size) in sizes.iter().enumerate() {
        vertices.push(Vertex::new(Kind::Box, *size, layers[at]));
    }
    // The vertices that each line passes, downwards, its ends included.
    let mut chains: Vec<Vec<usize>> = Vec::new();
    for (link, turned) in links.iter().zip(&turned) {
        let (top, bottom) = if *turned {
            (link.to, link.from)
        } else {
            (link.from, link.to)
        };
        let between = layers[top] + 1..layers[bottom];
        // Labels keep off the layers of boxes, which are an even number of steps from any box.
        let middle = layers[top] + ((between.len() / 2) | 1);
        let mut chain = vec![top];
        for layer in between {
            let vertex = match link.label {
                Some(size) if layer == middle => Vertex::new(Kind::Label, size, layer),
                _ => Vertex::new(Kind::Bend, Size::default(), layer),
            };
            chain.push(vertices.len());
            vertices.push(vertex);
        }
        chain.push(bottom);
        for pair in chain.windows(2) {
            vertices[pair[0]].below.push(pair[1]);
            vertices[pair[1]].above.push(pair[0]);
        }
        chains.push(chain);
    }
    let order = order::order(&vertices);
    place::across(&mut vertices, &order, &chains);
    Some(place::down(
        &vertices,
        &order,
        &chains,
        &turned,
        sizes.len(),
    ))
}

impl Vertex {
    fn new(kind: Kind, size: Size, layer: usize) -> Self {
        let (above, below) = (Vec::new(), Vec::new());
        Self {
            kind,
            size,
            layer,
            above,
            below,
            x: 0.0,
        }
    }
}

/// Which lines go back to a box that the search is still below of, in the order given.
fn turned(boxes: usize, links: &[Link]) -> Vec<bool> {
    let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); boxes];
    for (at, link) in links.iter().enumerate() {
        leaving[link.from].push(at);
    }
    let mut turned = vec![false; links.len()];
    let (mut seen, mut open) = (vec![false; boxes], vec![false; boxes]);
    for root in 0..boxes {
        if seen[root] {
            continue;
        }
        (seen[root], open[root]) = (true, true);
        let mut path = vec![(root, 0)];
        while let Some((at, next)) = path.last_mut() {
            let here = *at;
            let Some(&link) = leaving[here].get(*next) else {
                open[here] = false;
                path.pop();
                continue;
            };
            *next += 1;
            let to = links[link].to;
            if open[to] {
                turned[link] = true;
            } else if !seen[to] {
                (seen[to], open[to]) = (true, true);
                path.push((to, 0));
            }
        }
    }
    turned
}

/// The layer of each box: as far up as its lines allow, and a box that nothing leads to just above what it leads to.
fn layers(boxes: usize, links: &[Link], turned: &[bool]) -> Vec<usize> {
    let mut leaving: Vec<Vec<(usize, usize)>> = vec![Vec::new(); boxes];
    let mut waits = vec![0_usize; boxes];
    for (link, turned) in links.iter().zip(turned) {
        let (top, bottom) = if *turned {
            (link.to, link.from)
        } else {
            (link.from, link.to)
        };
        leaving[top].push((bottom, if link.label.is_some() { 2 } else { 1 }));
        waits[bottom] += 1;
    }
    let roots: Vec<usize> = (0..boxes).filter(|at| waits[*at] == 0).collect();
    let mut layers = vec![0_usize; boxes];
    let mut ready = roots.clone();
    // A root with a short line is one step above a box; two steps keep boxes and labels on layers of their own.
    while let Some(at) = ready.pop() {
        for &(to, steps) in &leaving[at] {
            let steps = steps + (layers[at] + steps) % 2;
            layers[to] = layers[to].max(layers[at] + steps);
            waits[to] -= 1;
            if waits[to] == 0 {
                ready.push(to);
            }
        }
    }
    for root in roots {
        let nearest = leaving[root]
            .iter()
            .map(|(to, steps)| layers[*to].saturating_sub(*steps));
        layers[root] = nearest.min().unwrap_or(0);
    }
    let first = layers.iter().copied().min().unwrap_or(0);
    layers.iter_mut().for_each(|layer| *layer -= first);
    layers
}
