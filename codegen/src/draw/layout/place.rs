//! From orders to places: across, so that lines are straight; down, so that curves have room; and the routes of lines.

use super::{Kind, Layout, Point, Route, Vertex};

/// Between two things of a layer.
const GAP: f64 = 28.0;
/// Between two layers, at least; where lines go far to the side, up to [`WIDEST_STEP`].
const STEP: f64 = 26.0;
const WIDEST_STEP: f64 = 84.0;
/// Between two lines that end at the same side of a box, at most.
const PORT: f64 = 30.0;
/// How often places are improved.
const ROUNDS: usize = 240;
/// How often lines are straightened after that, since one line's way is another one's room.
const STRAIGHTENINGS: usize = 3;

/// Chooses `x`: each layer is moved as near to its neighbours above and below as the order and the sizes allow.
pub(super) fn across(vertices: &mut [Vertex], order: &[Vec<usize>], chains: &[Vec<usize>]) {
    for layer in order {
        let mut x = 0.0;
        for (place, &at) in layer.iter().enumerate() {
            if place > 0 {
                x += apart(&vertices[layer[place - 1]], &vertices[at]);
            }
            vertices[at].x = x;
        }
    }
    for round in 0..ROUNDS {
        let downwards = round % 2 == 0;
        // At first one side alone, so that boxes come to stand below what leads to them; then both.
        let both = round >= ROUNDS / 3;
        for step in 0..order.len() {
            let layer = if downwards {
                &order[step]
            } else {
                &order[order.len() - 1 - step]
            };
            settle(vertices, layer, both || !downwards, both || downwards);
        }
    }
    for _ in 0..STRAIGHTENINGS {
        chains
            .iter()
            .for_each(|chain| straighten(vertices, order, chain));
    }
    let left = vertices.iter().map(|vertex| vertex.x - vertex.size.left);
    let left = left.fold(f64::INFINITY, f64::min);
    vertices.iter_mut().for_each(|vertex| vertex.x -= left);
}

/// Gives as many successive things of a line as possible the same `x`, within the room that their neighbours leave.
fn straighten(vertices: &mut [Vertex], order: &[Vec<usize>], chain: &[usize]) {
    let inner = chain.get(1..chain.len() - 1).unwrap_or_default();
    let room = |at: usize, vertices: &[Vertex]| {
        let layer = &order[vertices[at].layer];
        let place = layer
            .iter()
            .position(|other| *other == at)
            .unwrap_or_default();
        let left = place.checked_sub(1).map(|left| &vertices[layer[left]]);
        let right = layer.get(place + 1).map(|right| &vertices[*right]);
        let least = left.map_or(f64::NEG_INFINITY, |left| {
            left.x + apart(left, &vertices[at])
        });
        let most = right.map_or(f64::INFINITY, |right| right.x - apart(&vertices[at], right));
        (least.min(vertices[at].x), most.max(vertices[at].x))
    };
    let mut start = 0;
    while start < inner.len() {
        let (mut least, mut most) = room(inner[start], vertices);
        let mut end = start + 1;
        while let Some(&next) = inner.get(end) {
            let (low, high) = room(next, vertices);
            if low.max(least) > high.min(most) {
                break;
            }
            (least, most) = (low.max(least), high.min(most));
            end += 1;
        }
        let run = &inner[start..end];
        let middle = run.iter().map(|at| vertices[*at].x).sum::<f64>() / run.len() as f64;
        let x = middle.clamp(least, most);
        run.iter().for_each(|at| vertices[*at].x = x);
        start = end;
    }
}

/// How far the axes of two neighbours have to be apart.
fn apart(left: &Vertex, right: &Vertex) -> f64 {
    left.size.right + GAP + right.size.left
}

/// How much a line between two things wants to be straight.
fn pull(one: Kind, other: Kind) -> f64 {
    match (one, other) {
        (Kind::Box, Kind::Box) => 1.0,
        (Kind::Box, _) | (_, Kind::Box) => 2.0,
        _ => 8.0,
    }
}

/// Moves the things of a layer to the places that are nearest to where they want to be, their order and distances kept:
/// neighbours that want into each other become a block that stands where its members want to be on the whole.
fn settle(vertices: &mut [Vertex], layer: &[usize], below: bool, above: bool) {
    struct Block {
        wish: f64,
        weight: f64,
        members: usize,
    }
    let (mut blocks, mut offset): (Vec<Block>, f64) = (Vec::new(), 0.0);
    let mut offsets = Vec::with_capacity(layer.len());
    for (place, &at) in layer.iter().enumerate() {
        if place > 0 {
            offset += apart(&vertices[layer[place - 1]], &vertices[at]);
        }
        offsets.push(offset);
        let vertex = &vertices[at];
        let near = [(above, &vertex.above), (below, &vertex.below)];
        let near = near
            .into_iter()
            .filter(|(looks, _)| *looks)
            .flat_map(|(_, near)| near);
        let (mut sum, mut weight) = (0.0, 0.0);
        for &other in near {
            let pull = pull(vertex.kind, vertices[other].kind);
            sum += pull * vertices[other].x;
            weight += pull;
        }
        let (wish, weight) = if weight > 0.0 {
            (sum / weight, weight)
        } else {
            (vertex.x, 0.1)
        };
        blocks.push(Block {
            wish: wish - offset,
            weight,
            members: 1,
        });
        while let [.., left, right] = blocks.as_slice() {
            if left.wish <= right.wish {
                break;
            }
            let weight = left.weight + right.weight;
            let wish = (left.wish * left.weight + right.wish * right.weight) / weight;
            let members = left.members + right.members;
            blocks.truncate(blocks.len() - 2);
            blocks.push(Block {
                wish,
                weight,
                members,
            });
        }
    }
    let wishes = blocks
        .iter()
        .flat_map(|block| std::iter::repeat_n(block.wish, block.members));
    for ((&at, offset), wish) in layer.iter().zip(offsets).zip(wishes) {
        vertices[at].x = wish + offset;
    }
}

/// Chooses `y`, and the routes.
pub(super) fn down(
    vertices: &[Vertex],
    order: &[Vec<usize>],
    chains: &[Vec<usize>],
    turned: &[bool],
    boxes: usize,
) -> Layout {
    let ports = Ports::new(vertices, chains);
    let mut tops = Vec::with_capacity(order.len());
    let mut y = 0.0;
    for layer in order {
        let height = layer
            .iter()
            .map(|at| vertices[*at].size.height)
            .fold(0.0, f64::max);
        tops.push((y, y + height));
        let far = layer.iter().flat_map(|at| {
            let below = &vertices[*at].below;
            below
                .iter()
                .map(|to| (vertices[*to].x - vertices[*at].x).abs())
        });
        y += height + (STEP + 0.12 * far.fold(0.0, f64::max)).min(WIDEST_STEP);
    }
    let middle = |at: usize| {
        let (top, bottom) = tops[vertices[at].layer];
        Point {
            x: vertices[at].x,
            y: f64::midpoint(top, bottom),
        }
    };
    let mut routes = Vec::with_capacity(chains.len());
    for (link, chain) in chains.iter().enumerate() {
        let (mut pieces, mut piece) = (Vec::new(), Vec::new());
        let mut label = None;
        for (place, &at) in chain.iter().enumerate() {
            let (top, bottom) = tops[vertices[at].layer];
            let half = vertices[at].size.height / 2.0;
            let here = middle(at);
            let point = |x, y| Point { x, y };
            if place == 0 {
                let x = ports.leaving[link];
                piece.extend([point(x, here.y + half), point(x, bottom)]);
            } else if place == chain.len() - 1 {
                let x = ports.reaching[link];
                piece.extend([point(x, top), point(x, here.y - half)]);
            } else if vertices[at].kind == Kind::Label {
                piece.extend([point(here.x, top), point(here.x, here.y - half)]);
                pieces.push(std::mem::take(&mut piece));
                label = Some(here);
                piece.extend([point(here.x, here.y + half), point(here.x, bottom)]);
            } else {
                piece.extend([point(here.x, top), point(here.x, bottom)]);
            }
        }
        pieces.push(piece);
        if turned[link] {
            pieces.reverse();
            pieces.iter_mut().for_each(|piece| piece.reverse());
        }
        pieces.iter_mut().for_each(|piece| piece.dedup());
        routes.push(Route { pieces, label });
    }
    Layout {
        boxes: (0..boxes).map(middle).collect(),
        routes,
        width: vertices
            .iter()
            .map(|vertex| vertex.x + vertex.size.right)
            .fold(0.0, f64::max),
        height: tops.last().map_or(0.0, |(_, bottom)| *bottom),
    }
}

/// Where each line leaves the box above and reaches the box below: side by side, in the order of where they go.
struct Ports {
    leaving: Vec<f64>,
    reaching: Vec<f64>,
}

impl Ports {
    fn new(vertices: &[Vertex], chains: &[Vec<usize>]) -> Self {
        let mut below: Vec<Vec<(f64, usize)>> = vec![Vec::new(); vertices.len()];
        let mut above = below.clone();
        for (link, chain) in chains.iter().enumerate() {
            let [top, second, ..] = chain[..] else {
                continue;
            };
            let [.., last, bottom] = chain[..] else {
                continue;
            };
            below[top].push((vertices[second].x, link));
            above[bottom].push((vertices[last].x, link));
        }
        let spread = |sides: Vec<Vec<(f64, usize)>>| {
            let mut places = vec![0.0; chains.len()];
            for (at, mut ends) in sides.into_iter().enumerate() {
                ends.sort_by(|a, b| a.0.total_cmp(&b.0));
                let room = 2.0 * vertices[at].size.reach / ends.len().max(1) as f64;
                let step = room.min(PORT);
                for (place, (_, link)) in ends.iter().enumerate() {
                    let middle = (ends.len() - 1) as f64 / 2.0;
                    places[*link] = vertices[at].x + (place as f64 - middle) * step;
                }
            }
            places
        };
        Self {
            leaving: spread(below),
            reaching: spread(above),
        }
    }
}
