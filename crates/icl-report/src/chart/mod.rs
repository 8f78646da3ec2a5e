//! The pictures of the report: SVG whose colours follow the page's light or dark style.

mod curves;
mod dots;
mod map;
mod palette;
mod scale;
mod sweep;

pub(crate) use curves::{Curve, CurveChart};
pub(crate) use dots::{DotChart, DotRow, floor_legend};
pub(crate) use map::{MapPanel, legend as map_legend};
pub(crate) use palette::Palette;
pub(crate) use sweep::{SweepChart, SweepLine, SweepPoint};
