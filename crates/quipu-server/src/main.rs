//! The edges. To come.
fn main() {}
