//! Small files of images in the IDX format, made by a formula.

use std::fs;
use std::path::Path;

/// Grey images of two classes, bars that stand (`1`) and bars that lie (`7`), at places and of
/// brightnesses that vary.
#[derive(Debug, Clone, Copy)]
pub struct Digits {
    pub n: usize,
    pub side: usize,
    /// The classes of even and of odd samples.
    pub classes: [u8; 2],
}

impl Digits {
    /// Writes `train-images-idx3-ubyte` and its labels into the folder `name` of `at`.
    pub fn write(self, at: &Path, name: &str) {
        let Self { n, side, classes } = self;
        let folder = at.join(name);
        fs::create_dir_all(&folder).unwrap();
        let mut images = vec![0, 0, 8, 3];
        for number in [n, side, side] {
            images.extend(u32::try_from(number).unwrap().to_be_bytes());
        }
        let mut labels = vec![0, 0, 8, 1];
        labels.extend(u32::try_from(n).unwrap().to_be_bytes());
        for sample in 0..n {
            labels.push(classes[sample % 2]);
            let place = sample / 2 % side;
            for y in 0..side {
                for x in 0..side {
                    let along = if sample % 2 == 0 { x } else { y };
                    let is_bar = along.abs_diff(place) <= 1;
                    let grain = (sample * 37 + y * 11 + x * 5) % 40;
                    images.push(if is_bar {
                        200 + grain as u8
                    } else {
                        grain as u8
                    });
                }
            }
        }
        fs::write(folder.join("train-images-idx3-ubyte"), images).unwrap();
        fs::write(folder.join("train-labels-idx1-ubyte"), labels).unwrap();
    }
}
