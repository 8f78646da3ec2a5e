//! Inputs of the format `parquet`, which cargo-fuzz generates.

#![no_main]

libfuzzer_sys::fuzz_target!(|case: icl_fuzz::Case| icl_fuzz::check("parquet", &case));
