//! Inputs of the format `manifest`, which cargo-fuzz generates.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: icl_fuzz::Case| icl_fuzz::check("manifest", &case));
