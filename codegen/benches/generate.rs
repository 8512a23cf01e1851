//! What the generator costs in a build: reading, checking and writing machines of several sizes, beside parsing the same
//! text as TOML and doing nothing with it.
//!
//! `cargo bench -p claudex-build`

use std::hint::black_box;

use claudex_build::{check_source, generate};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

#[path = "../tests/scale/machine.rs"]
mod machine;

fn sizes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("generate");
    group.sample_size(10);
    for phases in [10, 100, 1000] {
        let source = machine::machine(phases);
        group.bench_with_input(
            BenchmarkId::new("toml", phases),
            &source,
            |bencher, source| {
                bencher.iter(|| black_box(source.parse::<toml::Table>()));
            },
        );
        group.bench_with_input(
            BenchmarkId::new("check", phases),
            &source,
            |bencher, source| {
                bencher.iter(|| black_box(check_source("machine.toml", source)));
            },
        );
        group.bench_with_input(
            BenchmarkId::new("rust", phases),
            &source,
            |bencher, source| {
                bencher.iter(|| black_box(generate("machine.toml", source)));
            },
        );
    }
    group.finish();
}

criterion_group!(benches, sizes);
criterion_main!(benches);
