//! The rows of a table.

use super::item;
use super::severity::{is_rated_line, is_severity_name, label, severity_in};
use super::titles::{is_none, is_praise};
use super::words::is_number;
use crate::review::findings::Severity;

/// The text between two cells of a row.
pub(super) const CELL_GAP: &str = " \u{2014} ";

/// Returns the columns of a table that name severities.
pub(super) fn severity_columns(head: &str) -> Vec<usize> {
    let columns = cells(head).into_iter().enumerate();
    let named = columns.filter(|(_, cell)| is_severity_name(cell));
    named.map(|(column, _)| column).collect()
}

/// Returns the severity and the text of a row, which is empty if all cells are words for none.
pub(super) fn read(row: &str, columns: &[usize]) -> (Option<Severity>, String) {
    let cells = cells(row);
    let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
    let named = columns.iter().filter_map(|at| severity_in(cells.get(*at)?));
    let named = named.min();
    let others = cells.iter().filter_map(|cell| severity_in(cell));
    let others = others.filter(|_| named.is_none());
    let rated = cells
        .iter()
        .filter(|cell| named.is_none() || is_rated_line(cell));
    let labels = rated.filter_map(|cell| Some(label(cell)?.0));
    let severity = labels.chain(named).chain(others).min();

    let is_severity = |cell: &str| severity_in(cell).is_some();
    let (severities, mut texts): (Vec<&str>, Vec<&str>) =
        cells.iter().partition(|cell| is_severity(cell));
    let file = texts
        .windows(2)
        .position(|pair| item::named_file(pair[0]).is_some() && is_number(pair[1]));
    let place = file.map(|at| format!("{}:{}: ", texts.remove(at), texts.remove(at)));
    texts.retain(|cell| cell.contains(char::is_alphabetic) || is_praise(cell));
    if texts.is_empty() {
        // `High`, and `Must be fixed before merge` in the next cell.
        texts.extend(severities.iter().skip(1));
    }
    if texts.iter().all(|cell| is_none(cell)) {
        texts.clear();
    }
    texts.sort_by_key(|cell| !is_praise(cell));
    (severity, place.unwrap_or_default() + &texts.join(CELL_GAP))
}

/// Returns the cells of a row. A pipe behind a backslash is text.
fn cells(row: &str) -> Vec<String> {
    let row = row.trim().replace("\\|", "\0");
    let cells = row.trim_matches('|').split('|');
    cells.map(|cell| cell.trim().replace('\0', "|")).collect()
}
