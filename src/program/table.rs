//! A table for a terminal: columns as wide as their cells, and a last one that takes what room is left.

use super::screen;

/// A last column that gets fewer columns than this stands on a line of its own.
const LAST: usize = 12;

/// The lines of a table for a terminal of so many columns, or for a file. The first row is the head; each row's last cell is
/// cut to what room is left, or stands below its row.
pub fn lines(rows: &[(Vec<String>, String)], columns: Option<usize>) -> Vec<String> {
    let columns_of = rows.first().map_or(0, |(cells, _)| cells.len());
    let widths: Vec<usize> = (0..columns_of)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(topics: &[&str]) -> Vec<(Vec<String>, String)> {
        let cells = |cells: [&str; 6]| cells.map(str::to_owned).to_vec();
        let head = (
            cells(["LOOP", "MODE", "PHASE", "ROUND", "H/M/L", "AGE"]),
            "TOPIC".to_owned(),
        );
        let row = |topic: &&str| {
            let row = [
                "20261122-005333-0a1b2c",
                "plan",
                "summarizing*",
                "3/3",
                "1/22/0",
                "2h",
            ];
            (cells(row), (*topic).to_owned())
        };
        std::iter::once(head)
            .chain(topics.iter().map(row))
            .collect()
    }

    #[test]
    fn a_row_is_one_line_that_fits_the_terminal_in_whatever_script_its_topic_is() {
        let rows = rows(&[
            "Move the queue to Postgres before winter",
            "計画を".repeat(40).as_str(),
            "",
        ]);
        let lines = lines(&rows, Some(80));
        assert_eq!(lines.len(), 4, "{lines:#?}");
        assert!(
            lines.iter().all(|line| screen::width(line) <= 80),
            "{lines:#?}"
        );
        assert!(lines[0].starts_with("LOOP ") && lines[0].ends_with("TOPIC"));
        let wanted =
            "20261122-005333-0a1b2c  plan  summarizing*  3/3    1/22/0  2h   Move the queu...";
        assert_eq!(lines[1], wanted);
        let whole = super::lines(&rows, None);
        assert!(whole[1].ends_with("before winter"), "a file gets all of it");
    }

    #[test]
    fn on_a_narrow_terminal_the_topic_stands_below_its_row() {
        let lines = lines(
            &rows(&["Move the queue to Postgres before winter"]),
            Some(60),
        );
        assert_eq!(lines.len(), 3, "{lines:#?}");
        assert!(
            lines.iter().all(|line| screen::width(line) <= 60),
            "{lines:#?}"
        );
        assert_eq!(lines[2], "    Move the queue to Postgres before winter");
    }
}
