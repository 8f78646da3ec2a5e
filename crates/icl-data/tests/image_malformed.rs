//! Errors of malformed data sets of images, which name the file.

use std::fs;
use std::path::Path;

use crate::image_files::{
    cifar, gzip, idx, idx_images, idx_labels, picture, png, write, write_insects,
};
use icl_core::Samples;
use icl_data::{ImageOptions, read_cifar, read_idx, read_image_folder, read_images};
use image::ImageFormat;
use tempfile::{TempDir, tempdir};

/// Asserts that reading the folder fails with `message`, in which `P` stands for the folder.
#[track_caller]
fn assert_error(folder: &TempDir, message: &str) {
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

fn without(text: &str, folder: &Path) -> String {
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
    let missing = "P/x-labels-idx1-ubyte: found no such file, expected it beside \
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
        "P/data_batch_4.bin: found no such file, expected it beside \"data_batch_1.bin\"",
    );
}

#[test]
fn folders_without_classes_or_without_images() {
    let folder = tempdir().unwrap();
    let none = "P: found neither an image nor a folder in it, expected images, or a folder of images for each class";
    assert_error(&folder, none);
    write(folder.path(), "README.md", b"about");
    fs::create_dir(folder.path().join(".git")).unwrap();
    assert_error(&folder, none);
    write_insects(folder.path());
    fs::create_dir_all(folder.path().join("wasps/none")).unwrap();
    let empty =
        "P/wasps: found no image in this class, expected at least one JPEG, PNG or WebP file";
    assert_error(&folder, empty);
    write(folder.path(), "wasps/notes.txt", b"none yet");
    write(folder.path(), "wasps/.hidden.png", &png(2, 2, 0));
    assert_error(&folder, empty);
    write(folder.path(), "wasps/w.png", &png(2, 2, 0));
    write(folder.path(), "b.JPG", b"");
    write(folder.path(), "a.png", b"");
    assert_error(
        &folder,
        "P/a.png: found an image beside folders, expected it in the folder of a class, or images alone",
    );
}

#[test]
fn parts_of_a_data_set_are_no_classes() {
    let folder = tempdir().unwrap();
    write_insects(&folder.path().join("val"));
    let message =
        "P: found the parts val of a data set, expected the path of one of them, for example P/val";
    assert_error(&folder, message);
    write_insects(&folder.path().join("train"));
    write_insects(&folder.path().join("extra"));
    assert_error(
        &folder,
        "P: found the parts train, val of a data set, expected the path of one of them, for example P/train",
    );
    // A class may have this name.
    let vehicles = tempdir().unwrap();
    write(vehicles.path(), "train/1.png", &png(2, 2, 0));
    write(vehicles.path(), "car/1.png", &png(2, 2, 0));
    let data = read_images(vehicles.path(), &ImageOptions::default()).unwrap();
    assert_eq!(data.class_names(), ["car", "train"]);
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_or_in_a_circle() {
    use std::os::unix::fs::symlink;

    let folder = tempdir().unwrap();
    write_insects(folder.path());
    symlink(folder.path(), folder.path().join("ants/.circle")).unwrap();
    symlink("nowhere", folder.path().join("ants/.nowhere")).unwrap();
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_eq!((data.n_images(), data.counts().n_hidden), (5, 2));

    let circle = folder.path().join("ants/sub/circle");
    symlink(folder.path().join("ants"), &circle).unwrap();
    assert_error(
        &folder,
        "P/ants/sub/circle: found a symbolic link to P/ants, which contains it, expected no loop of links",
    );
    fs::remove_file(&circle).unwrap();
    symlink("nowhere.png", folder.path().join("bees/link.png")).unwrap();
    assert_error(
        &folder,
        "P/bees/link.png: found a file or folder that cannot be read, expected a readable one",
    );
}

#[test]
fn files_that_are_no_images() {
    for contents in [&b""[..], b"GIF89a and so on", b"text", &[0x1f, 0x8b, 8, 0]] {
        let folder = tempdir().unwrap();
        write_insects(folder.path());
        write(folder.path(), "bees/x.jpg", contents);
        assert_error(
            &folder,
            "P/bees/x.jpg: found contents of an unknown format, expected a JPEG, PNG or WebP image",
        );
    }
}

/// Returns a PNG file whose header states these sides and which has no pixels.
fn hollow_png(width: u32, height: u32) -> Vec<u8> {
    let mut header = b"IHDR".to_vec();
    header.extend([width.to_be_bytes(), height.to_be_bytes()].concat());
    header.extend([8, 2, 0, 0, 0]);
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0d".to_vec();
    bytes.extend(&header);
    bytes.extend(crc32fast::hash(&header).to_be_bytes());
    bytes.extend(b"\0\0\0\0IDAT");
    bytes.extend(crc32fast::hash(b"IDAT").to_be_bytes());
    bytes
}

#[test]
fn images_of_too_many_pixels_are_not_decoded() {
    let folder = tempdir().unwrap();
    write(folder.path(), "c/bomb.png", &hollow_png(30_000, 40_000));
    assert_error(
        &folder,
        "P/c/bomb.png: found an image of 30000 x 40000 pixels, expected at least 1 x 1 and at most \
         536870912 bytes when decoded",
    );
}

#[test]
fn broken_bodies_are_errors_at_first_use_or_left_out() {
    let folder = tempdir().unwrap();
    write_insects(folder.path());
    for (name, format) in [
        ("bees/cut.jpg", ImageFormat::Jpeg),
        ("bees/cut.png", ImageFormat::Png),
        ("bees/cut.webp", ImageFormat::WebP),
    ] {
        let whole = picture(60, 50, 7, format);
        write(folder.path(), name, &whole[..whole.len() * 3 / 4]);
    }
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_eq!(data.counts().n_class, [3, 5]);
    let messages: Vec<String> = (0..8)
        .filter_map(|index| data.sample(index).err())
        .map(|error| without(&error.to_string(), folder.path()))
        .collect();
    assert_eq!(
        messages,
        [
            "P/bees/cut.jpg: found a JPEG file that is cut before its end marker, expected an \
             intact one",
            "P/bees/cut.png: found a cut or damaged image, expected an intact one",
            "P/bees/cut.webp: found a cut or damaged image, expected an intact one",
        ]
    );
    let skip = ImageOptions {
        skip_broken: true,
        ..ImageOptions::default()
    };
    write(folder.path(), "bees/other.png", b"no image");
    write(folder.path(), "bees/bomb.png", &hollow_png(30_000, 40_000));
    let data = read_images(folder.path(), &skip).unwrap();
    assert_eq!(data.counts().n_class, [3, 2]);
    assert_eq!(data.counts().n_broken, 5);
    for index in 0..5 {
        assert!(data.sample(index).is_ok());
    }
    write(folder.path(), "wasps/1.png", b"no image");
    let error = read_images(folder.path(), &skip).unwrap_err().to_string();
    assert_eq!(
        without(&error, folder.path()),
        "P/wasps: found only broken images in this class (1), expected at least one intact image"
    );
    // Broken images of classes that are not selected are ignored.
    let ants = ImageOptions {
        classes: vec!["ants".into()],
        ..ImageOptions::default()
    };
    assert_eq!(read_images(folder.path(), &ants).unwrap().n_images(), 3);
}
