//! The pictures of the report: SVG whose colours follow the page's light or dark style.

mod curves;
mod dots;
mod map;
mod palette;
mod scale;
mod sweep;

pub(super) use curves::{Curve, CurveChart};
pub(super) use dots::{DotChart, DotRow, floor_legend};
pub(super) use map::{MapPanel, legend as map_legend};
pub(super) use palette::Palette;
pub(super) use sweep::{SweepChart, SweepLine, SweepPoint};
