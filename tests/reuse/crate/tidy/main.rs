use tidy::{AnyLoop, OnStop};

#[derive(Debug, Clone, Copy)]
struct Tidy;

impl OnStop for Tidy {
    fn violations(&self, held: &AnyLoop) -> Vec<String> {
        let stray = |name: &&str| held.raw().root().join(name).exists();
        let names = ["a.tmp", "b.tmp"].into_iter().filter(stray);
        names.map(|name| format!("{name} is in the way.")).collect()
    }
}

claudex_loop::main!(tidy, Tidy);
