//! Charts as SVG whose colours follow the light or dark style of the page.

mod cells;
mod colour;
mod figure;
mod legend;
mod line;
mod lines;
mod map;
mod palette;
mod plane;
mod rows;
mod scale;
mod svg;

pub(crate) use cells::{CellsChart, experiences_of_a_cell};
pub use colour::Colour;
pub use figure::Figure;
pub(crate) use legend::swatch;
pub use legend::{Legend, floor_legend};
pub use line::Line;
pub use lines::LineChart;
pub(crate) use map::{MapPanel, legend as map_legend};
pub use palette::Palette;
pub use rows::{ChartRow, RowChart};
pub use scale::{AxisScale, Linear, multiples};
pub use svg::{WIDTH, frame, listed};
