//! Errors of malformed folders of images, which name the file.

use std::fs;

use crate::image_files::{picture, png, write, write_insects};
use icl_core::Samples;
use icl_data::{ImageOptions, read_images};
use image::ImageFormat;
use tempfile::tempdir;

use crate::image_malformed::{assert_error, without};

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
        "P/a.png: found an image next to folders, expected it in the folder of a class, or images alone",
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
fn folders_of_other_programs_hold_no_images() {
    let folder = tempdir().unwrap();
    write_insects(folder.path());
    let image = fs::read(folder.path().join("ants/a.png")).unwrap();
    for path in [
        "@eaDir/1.png/SYNOPHOTO_THUMB_M.jpg",
        "ants/@eaDir/1.png/SYNOPHOTO_THUMB_M.jpg",
        "bees/#recycle/old.png",
        "$RECYCLE.BIN/x.png",
        "__MACOSX/ants/1.png",
    ] {
        write(folder.path(), path, &image);
    }
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_eq!((data.n_images(), data.counts().n_hidden), (5, 5));
    assert_eq!(data.class_names(), ["ants", "bees"]);
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
    write(folder.path(), "ants/aa.png", b"no image");
    write(folder.path(), "bees/bomb.png", &hollow_png(30_000, 40_000));
    let data = read_images(folder.path(), &skip).unwrap();
    assert_eq!(data.counts().n_class, [3, 2]);
    let broken = &data.counts().broken;
    assert_eq!(broken.len(), 6);
    let has = |words: &str| broken.iter().any(|fault| fault.contains(words));
    assert!(has("ants/aa.png: found contents") && has("bees/other.png: found contents"));
    // a.png, then aa.png which is broken, b.png, sub/c.PNG, 10.png and 2.png.
    assert_eq!(data.positions(), [0, 2, 3, 4, 5]);
    let bees = data.select(&["bees".to_owned()], None).unwrap();
    assert_eq!(bees.positions(), [4, 5]);
    let data = read_images(folder.path(), &skip).unwrap();
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
    fs::remove_file(folder.path().join("ants/aa.png")).unwrap();
    let ants = ImageOptions {
        classes: vec!["ants".into()],
        ..ImageOptions::default()
    };
    assert_eq!(read_images(folder.path(), &ants).unwrap().n_images(), 3);
}
