//! What claudex costs, beside what the same work costs anyone. Prints one table of ratios: machines differ, a ratio hardly does.
//!
//! `docs/performance.md` has the command and a table with its machine and date; with `ROW` behind it, only rows whose name holds that are measured.

mod commit;
mod counter;
mod many;
mod pair;
mod step;
mod stop;

use pair::Row;

#[expect(clippy::print_stdout, reason = "the table is what this program is for")]
fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    if wanted == stop::WRITE {
        return stop::write();
    }
    println!("| what | beside | ratio | wanted |\n|---|---|---|---|");
    for (name, measure) in commit::rows()
        .into_iter()
        .chain(step::rows())
        .chain(stop::rows())
        .chain(many::rows())
    {
        if name.contains(&wanted) {
            let Row {
                beside,
                ratio,
                most,
            } = measure();
            println!("| {name} | {beside} | {ratio:.2} | ≤ {most} |");
        }
    }
}
