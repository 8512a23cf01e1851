//! Compares the costs of claudex with those of the same work done otherwise. It prints one table of
//! ratios, because these hardly differ between machines.
//!
//! `docs/dev/performance.md` has the command and a table with its machine and date. With an
//! argument `ROW`, only rows whose names contain it are measured.

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
