# Commands for contributors; CONTRIBUTING.md explains them.

# List the recipes
default:
    @just --list

# Format the code
fmt:
    cargo fmt --all

# Run clippy on everything, and on the bare library
lint:
    cargo clippy --workspace --all-targets -- -D warnings
    cargo clippy --no-default-features --lib -- -D warnings

# Run all tests, or those whose names contain NAME
test NAME="":
    cargo test --workspace -- {{ NAME }}

# Play one end-to-end scenario in the real client
e2e NAME:
    cargo xtask e2e --scenario {{ NAME }}

# Build the API documentation
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

# Measure all ratios, or those whose names contain ROW
bench ROW="":
    cargo xtask dist
    cargo run --release --target "$(rustc --print host-tuple)" -p claudex-benches --features sqlite -- "{{ ROW }}"

# Run what must pass before a change lands
ci:
    bash .ci/run
