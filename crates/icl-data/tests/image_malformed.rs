//! Errors of malformed IDX and CIFAR files, which name the file.

use std::path::Path;

use crate::image_files::{cifar, gzip, idx, idx_images, idx_labels, write};
use icl_data::{ImageOptions, read_cifar, read_idx, read_image_folder, read_images};
use tempfile::{TempDir, tempdir};

/// Asserts that reading the folder fails with `message`, in which `P` stands for the folder.
#[track_caller]
pub fn assert_error(folder: &TempDir, message: &str) {
    assert_error_at(folder, "", message);
}

/// Asserts the same of a file or folder inside it.
#[track_caller]
fn assert_error_at(folder: &TempDir, name: &str, message: &str) {
    let path = if name.is_empty() {
        folder.path().to_path_buf()
    } else {
        folder.path().join(name)
    };
    let error = read_images(path, &ImageOptions::default()).unwrap_err();
    assert_eq!(without(&error.to_string(), folder.path()), message);
}

pub fn without(text: &str, folder: &Path) -> String {
    text.replace(&folder.display().to_string(), "P")
}

/// A folder of a pair of IDX files.
fn pair(images: &[u8], labels: &[u8]) -> TempDir {
    let folder = tempdir().unwrap();
    write(folder.path(), "x-images-idx3-ubyte", images);
    write(folder.path(), "x-labels-idx1-ubyte", labels);
    folder
}

#[test]
fn nothing_of_a_known_form_is_there() {
    let folder = tempdir().unwrap();
    assert_error_at(
        &folder,
        "no",
        "P/no: found no such file or folder, expected an IDX or CIFAR file or a folder of images",
    );
    let neither = "found neither an IDX file `NAME-images-idx3-ubyte` nor a CIFAR file `NAME.bin` \
                   (both plain or with `.gz`) nor a folder, expected one of them";
    for name in ["x.zip", "one.jpg", "x-labels-idx1-ubyte"] {
        write(folder.path(), name, b"?");
        assert_error_at(&folder, name, &format!("P/{name}: {neither}"));
    }
    let options = ImageOptions::default();
    let error = read_image_folder(folder.path().join("x.zip"), &options).unwrap_err();
    assert_eq!(
        without(&error.to_string(), folder.path()),
        format!("P/x.zip: {neither}")
    );
    let error = read_cifar(folder.path(), &options).unwrap_err();
    assert_eq!(
        without(&error.to_string(), folder.path()),
        format!("P: {neither}")
    );
    for path in [folder.path().to_path_buf(), folder.path().join("x.zip")] {
        let error = read_idx(&path, &options).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{}: found no IDX images, expected a file `NAME-images-idx3-ubyte`, \
                 plain or with `.gz`, or a folder of one",
                path.display()
            )
        );
    }
}

#[test]
fn idx_images_that_are_not() {
    let labels = idx_labels(&[0, 1]);
    let cases = [
        (
            vec![],
            "found 0 bytes, expected at least 16, the header of an IDX file of images",
        ),
        (
            idx_images(2)[..15].to_vec(),
            "found 15 bytes, expected at least 16, the header of an IDX file of images",
        ),
        (
            idx(0x801, &[2, 3, 2], &[0; 12]),
            "found magic number 0x00000801, expected 0x00000803, an IDX file of images",
        ),
        (
            idx(0xd03, &[2, 3, 2], &[0; 48]),
            "found magic number 0x00000d03, expected 0x00000803, an IDX file of images",
        ),
        (
            idx(0x803, &[0, 3, 2], &[]),
            "found 0 images in the header, expected at least 1",
        ),
        (
            idx(0x803, &[2, 0, 2], &[]),
            "found 0 rows in the header, expected at least 1",
        ),
        (
            idx(0x803, &[2, 3, 0], &[]),
            "found 0 columns in the header, expected at least 1",
        ),
        (
            idx(0x803, &[2, 3, 2], &[0; 11]),
            "found 27 bytes, expected 28 by its header",
        ),
        (
            idx(0x803, &[2, 3, 2], &[0; 13]),
            "found 29 bytes, expected 28 by its header",
        ),
        (
            idx(0x803, &[u32::MAX; 3], &[]),
            "found 16 bytes, expected 79228162458924105385300197391 by its header",
        ),
        (
            gzip(&[0; 100]),
            "found magic number 0x00000000, expected 0x00000803, an IDX file of images",
        ),
        (
            gzip(&idx_images(2))[..20].to_vec(),
            "found a cut or damaged gzip file, expected an intact one",
        ),
        (
            [gzip(&idx_images(2)), vec![7; 9]].concat(),
            "found a cut or damaged gzip file, expected an intact one",
        ),
    ];
    for (images, rest) in cases {
        let folder = pair(&images, &labels);
        assert_error(&folder, &format!("P/x-images-idx3-ubyte: {rest}"));
    }
    // A wrong checksum of the compressed file.
    let mut damaged = gzip(&idx_images(2));
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    assert_error(
        &pair(&damaged, &labels),
        "P/x-images-idx3-ubyte: found a cut or damaged gzip file, expected an intact one",
    );
    let many = idx(0x803, &[(1 << 25) + 1, 1, 1], &vec![0; (1 << 25) + 1]);
    assert_error(
        &pair(&gzip(&many), &labels),
        "P/x-images-idx3-ubyte: found 33554433 images, expected at most 33554432",
    );
}

#[test]
fn idx_labels_that_are_not() {
    let cases = [
        (
            idx_labels(&[0])[..7].to_vec(),
            "found 7 bytes, expected at least 8, the header of an IDX file of labels",
        ),
        (
            idx_images(2),
            "found magic number 0x00000803, expected 0x00000801, an IDX file of labels",
        ),
        (
            idx_labels(&[]),
            "found 0 labels in the header, expected at least 1",
        ),
        (
            idx(0x801, &[2], &[0; 3]),
            "found 11 bytes, expected 10 by its header",
        ),
        (
            idx_labels(&[0]),
            "found 1 labels, expected 2, one for each image",
        ),
        (
            idx_labels(&[0, 1, 2]),
            "found 3 labels, expected 2, one for each image",
        ),
    ];
    for (labels, rest) in cases {
        let folder = pair(&idx_images(2), &labels);
        assert_error(&folder, &format!("P/x-labels-idx1-ubyte: {rest}"));
    }
}

#[test]
fn idx_files_that_are_missing_or_too_many() {
    let folder = tempdir().unwrap();
    let images = "x-images-idx3-ubyte.gz";
    write(folder.path(), images, &gzip(&idx_images(2)));
    let missing = "P/x-labels-idx1-ubyte: found no such file, expected it next to \
                   \"x-images-idx3-ubyte.gz\"";
    assert_error(&folder, missing);
    assert_error_at(&folder, images, missing);
    write(folder.path(), "y-images.idx3-ubyte", &idx_images(2));
    assert_error(
        &folder,
        "P: found more than one data set, \"x-images-idx3-ubyte.gz\" and \
         \"y-images.idx3-ubyte\", expected one",
    );
}

#[test]
fn cifar_files() {
    let ten = cifar(&[[0], [9]]);
    let hundred = cifar(&[[19, 99], [0, 0]]);
    let mut beyond_ten = ten.clone();
    beyond_ten[3073] = 10;
    let (mut beyond_fine, mut beyond_coarse) = (hundred.clone(), hundred.clone());
    beyond_fine[3075] = 100;
    beyond_coarse[0] = 20;
    let cases = [
        (
            "a.bin",
            vec![],
            "found 0 bytes, expected one or more rows of 3073 (CIFAR-10) or 3074 (CIFAR-100) bytes",
        ),
        (
            "a.bin",
            ten[..3073 + 5].to_vec(),
            "found 3078 bytes, expected one or more rows of 3073 (CIFAR-10) or 3074 (CIFAR-100) bytes",
        ),
        (
            "cifar10.bin",
            hundred.clone(),
            "found 6148 bytes, expected one or more rows of 3073 bytes",
        ),
        (
            "train.bin",
            ten.clone(),
            "found 6146 bytes, expected one or more rows of 3074 bytes",
        ),
        (
            "a.bin",
            beyond_ten,
            "found label 10 at byte 3073, expected 0 to 9",
        ),
        (
            "a.bin",
            beyond_fine,
            "found fine label 100 at byte 3075, expected 0 to 99",
        ),
        (
            "a.bin.gz",
            gzip(&beyond_coarse),
            "found coarse label 20 at byte 0, expected 0 to 19",
        ),
        (
            "a.bin.gz",
            gzip(&ten)[..60].to_vec(),
            "found a cut or damaged gzip file, expected an intact one",
        ),
        (
            "a.bin",
            gzip(&[0; 3073 * 3074]),
            "found 9446402 bytes, which are whole rows of CIFAR-10 and of CIFAR-100, expected a \
             name with `cifar10` or `cifar100` in it",
        ),
    ];
    for (name, bytes, rest) in cases {
        let folder = tempdir().unwrap();
        write(folder.path(), name, &bytes);
        assert_error(&folder, &format!("P/{name}: {rest}"));
        assert_error_at(&folder, name, &format!("P/{name}: {rest}"));
    }
    let folder = tempdir().unwrap();
    for batch in [1, 2, 3, 5] {
        write(folder.path(), &format!("data_batch_{batch}.bin"), &ten);
    }
    assert_error(
        &folder,
        "P/data_batch_4.bin: found no such file, expected it next to \"data_batch_1.bin\"",
    );
}
