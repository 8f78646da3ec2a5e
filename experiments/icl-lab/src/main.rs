//! The program `icl-lab`.

fn main() {}
