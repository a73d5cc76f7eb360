//! The console and the panel are built apart from this and taken in as they lie there: build again when
//! they have changed.

fn main() {
    println!("cargo::rerun-if-changed=../../web/dist");
    println!("cargo::rerun-if-changed=../../clients/elements/dist");
    println!("cargo::rerun-if-changed=build.rs");
}
