//! Performance of the control interface, each figure with a baseline from the same run.
//!
//! `cargo bench -p papertick --bench http [rates|events|patches]` prints a table; nothing is compared with other runs.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark"
)]

mod client;
mod events;
mod patches;
mod rates;
mod rig;

fn main() {
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    if let [role, address, clients] = wanted.as_slice()
        && role == "followers"
    {
        return events::follow(address, clients.parse().unwrap());
    }
    let runs = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    if runs("rates") {
        runtime.block_on(rates::run());
    }
    if runs("events") {
        runtime.block_on(events::run());
    }
    if runs("patches") {
        runtime.block_on(patches::run());
    }
}
