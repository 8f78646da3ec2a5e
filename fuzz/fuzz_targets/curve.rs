//! Inputs of the format `curve`, which cargo-fuzz generates.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: icl_fuzz::Case| icl_fuzz::check("curve", &case));
