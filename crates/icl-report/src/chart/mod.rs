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
mod svg;

pub use bars::{Bar, BarChart};
pub(crate) use cells::{CellsChart, experiences_of_a_cell};
pub use colour::Colour;
pub use curves::{Curve, CurveChart};
pub use dots::{DotChart, DotRow, floor_legend};
pub use figure::{Figure, Layout};
pub(crate) use functions::{FunctionChart, FunctionLine, Stroke};
pub use legend::Legend;
pub(crate) use legend::swatch;
pub(crate) use map::{MapPanel, legend as map_legend};
pub use palette::Palette;
pub use scale::{AxisScale, Linear, multiples};
pub(crate) use sequence::{SequenceChart, SequenceLine};
pub use svg::{frame, listed};
