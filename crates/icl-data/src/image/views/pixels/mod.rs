//! Operations on the pixels of a view: resizing, changes of colour, blur, normalisation.

mod blur;
mod canvas;
mod colour;
mod hue;
mod normalisation;
mod resample;

pub(super) use canvas::Canvas;
pub(super) use normalisation::Normalisation;
pub(super) use resample::SourceRegion;
