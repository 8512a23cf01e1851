//! The order of each layer, from left to right, so that few lines cross.

use super::Vertex;

/// How often the layers are gone through. More did not change any machine that was tried.
const ROUNDS: usize = 24;

/// The vertices of each layer in their order.
pub(super) fn order(vertices: &[Vertex]) -> Vec<Vec<usize>> {
    let deepest = vertices
        .iter()
        .map(|vertex| vertex.layer)
        .max()
        .map_or(0, |layer| layer + 1);
    let mut layers = vec![Vec::new(); deepest];
    for at in walk(vertices) {
        layers[vertices[at].layer].push(at);
    }
    let mut best = layers.clone();
    let mut fewest = crossings(vertices, &layers);
    for round in 0..ROUNDS {
        if fewest == 0 {
            break;
        }
        let downwards = round % 2 == 0;
        for step in 1..layers.len() {
            let (at, beside) = if downwards {
                (step, step - 1)
            } else {
                (deepest - 1 - step, deepest - step)
            };
            let places = places(vertices.len(), &layers[beside]);
            let mut keyed: Vec<(f64, usize)> = layers[at]
                .iter()
                .enumerate()
                .map(|(own, vertex)| {
                    let near = if downwards {
                        &vertices[*vertex].above
                    } else {
                        &vertices[*vertex].below
                    };
                    (mean(near, &places).unwrap_or(own as f64), *vertex)
                })
                .collect();
            keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
            layers[at] = keyed.into_iter().map(|(_, vertex)| vertex).collect();
        }
        swap(vertices, &mut layers);
        let now = crossings(vertices, &layers);
        if now < fewest {
            (best, fewest) = (layers.clone(), now);
        }
    }
    best
}

/// Every vertex, each after the one that it was reached from: what belongs together begins side by side.
fn walk(vertices: &[Vertex]) -> Vec<usize> {
    let mut roots: Vec<usize> = (0..vertices.len()).collect();
    roots.sort_by_key(|at| vertices[*at].layer);
    let mut seen = vec![false; vertices.len()];
    let mut walked = Vec::with_capacity(vertices.len());
    for root in roots {
        let mut open = vec![root];
        while let Some(at) = open.pop() {
            if std::mem::replace(&mut seen[at], true) {
                continue;
            }
            walked.push(at);
            open.extend(vertices[at].below.iter().rev().filter(|next| !seen[**next]));
        }
    }
    walked
}

/// For each vertex, its place in the layer, if it stands in it.
fn places(vertices: usize, layer: &[usize]) -> Vec<usize> {
    let mut places = vec![0; vertices];
    for (place, vertex) in layer.iter().enumerate() {
        places[*vertex] = place;
    }
    places
}

fn mean(near: &[usize], places: &[usize]) -> Option<f64> {
    let sum: usize = near.iter().map(|at| places[*at]).sum();
    (!near.is_empty()).then(|| sum as f64 / near.len() as f64)
}

/// Swaps neighbours wherever that takes crossings away.
fn swap(vertices: &[Vertex], layers: &mut [Vec<usize>]) {
    for at in 0..layers.len() {
        let above = at
            .checked_sub(1)
            .map(|above| places(vertices.len(), &layers[above]));
        let below = layers
            .get(at + 1)
            .map(|below| places(vertices.len(), below));
        let cost = |left: usize, right: usize| {
            let mut cost = 0;
            if let Some(above) = &above {
                cost += crossed(&vertices[left].above, &vertices[right].above, above);
            }
            if let Some(below) = &below {
                cost += crossed(&vertices[left].below, &vertices[right].below, below);
            }
            cost
        };
        for place in 1..layers[at].len() {
            let (left, right) = (layers[at][place - 1], layers[at][place]);
            if cost(right, left) < cost(left, right) {
                layers[at].swap(place - 1, place);
            }
        }
    }
}

/// How many lines of one vertex cross lines of the one right of it.
fn crossed(left: &[usize], right: &[usize], places: &[usize]) -> usize {
    let over = |from: &usize| {
        right
            .iter()
            .filter(|to| places[**to] < places[*from])
            .count()
    };
    left.iter().map(over).sum()
}

/// How many lines cross, between all layers.
fn crossings(vertices: &[Vertex], layers: &[Vec<usize>]) -> usize {
    let mut all = 0;
    for pair in layers.windows(2) {
        let below = places(vertices.len(), &pair[1]);
        for (at, left) in pair[0].iter().enumerate() {
            let right = pair[0][at + 1..].iter();
            all += right
                .map(|right| crossed(&vertices[*left].below, &vertices[*right].below, &below))
                .sum::<usize>();
        }
    }
    all
}
