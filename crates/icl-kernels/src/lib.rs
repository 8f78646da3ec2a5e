//! Operators with kernels of their own for some backends, each with a form composed of Burn's operators for all others.
