//! A table for a terminal: columns as wide as their cells, and a last one that takes what room is left.

use super::screen;

/// A last column that gets fewer columns than this stands on a line of its own.
const LAST: usize = 12;

/// The lines of a table for a terminal of so many columns, or for a file. The first row is the head; each row's last cell is
/// cut to what room is left, or stands below its row.
pub fn lines<const N: usize>(rows: &[([String; N], String)], columns: Option<usize>) -> Vec<String> {
    let widths: Vec<usize> = (0..N)
        .map(|column| {
            let cells = rows.iter().map(|(cells, _)| screen::width(&cells[column]));
            cells.max().unwrap_or(0)
        })
        .collect();
    let taken: usize = widths.iter().sum::<usize>() + 2 * widths.len();
    let room = columns.map(|columns| columns.saturating_sub(taken));
    let beside = room.is_none_or(|room| room >= LAST);
    let mut lines = Vec::new();
    for (at, (cells, last)) in rows.iter().enumerate() {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            line.push_str(cell);
            line.push_str(&" ".repeat(width - screen::width(cell) + 2));
        }
        if beside {
            line.push_str(&screen::cut(last, room));
        }
        lines.push(screen::cut(line.trim_end(), columns));
        if !beside && at > 0 && !last.is_empty() {
            let below = columns.map(|columns| columns.saturating_sub(4));
            lines.push(format!("    {}", screen::cut(last, below)));
        }
    }
    lines
}
