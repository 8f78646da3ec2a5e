//! Rows of the table of images: dividing the data, training, evaluation.

mod divided_images;
mod rows;

pub use divided_images::DividedImages;
pub use rows::ImageRowWork;
