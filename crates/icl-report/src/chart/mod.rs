//! Charts as SVG whose colours follow the light or dark style of the page.

mod bars;
mod cells;
mod colour;
mod curves;
mod dots;
mod figure;
mod functions;
mod legend;
mod map;
mod palette;
mod scale;
mod sequence;
mod shades;
mod svg;
mod sweep;

pub(crate) use bars::{Bar, BarChart};
pub(crate) use cells::{CellsChart, experiences_of_a_cell};
pub(crate) use colour::Colour;
pub(crate) use curves::{Curve, CurveChart, Height};
pub(crate) use dots::{DotChart, DotRow, floor_legend};
pub(crate) use figure::{Figure, Layout};
pub(crate) use functions::{AxisScale, FunctionChart, FunctionLine, Stroke};
pub(crate) use legend::{Legend, swatch};
pub(crate) use map::{MapPanel, legend as map_legend};
pub(crate) use palette::Palette;
pub(crate) use sequence::{SequenceChart, SequenceLine};
pub(crate) use shades::ShadesPanel;
pub(crate) use sweep::{SweepChart, SweepLine, SweepPoint};
