//! Measures the costs of claudex beside the same work done otherwise, and prints one table of ratios: machines differ, ratios
//! hardly do.
//!
//! `docs/dev/performance.md` has the command and a table with its machine and date. With `ROW` behind it, only rows whose names
//! contain that are measured.

mod commit;
mod counter;
mod many;
mod pair;
#[path = "../../tests/support/seal.rs"]
mod seal;
mod stop;

#[expect(clippy::print_stdout, reason = "the table is the output")]
fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    if filter == stop::WRITE {
        return stop::write();
    }
    println!("| what | beside | ratio | wanted |\n|---|---|---|---|");
    for (name, measure) in commit::rows()
        .into_iter()
        .chain(stop::rows())
        .chain(many::rows())
    {
        if name.contains(&filter) {
            let row = measure();
            println!(
                "| {name} | {} | {:.2} | ≤ {} |",
                row.beside, row.ratio, row.most
            );
        }
    }
}
