//! Results of the image readers on well-formed files.

use std::sync::Arc;

use crate::image_files::{cifar, gzip, idx_images, idx_labels, picture, png, write, write_insects};
use icl_core::{GrowthRatio, Samples, Seed};
use icl_data::{
    Image, ImageDataset, ImageOptions, Split, looks_like_images, read_cifar, read_images,
};
use image::ImageFormat;
use tempfile::tempdir;

fn images(data: &ImageDataset) -> Vec<Arc<Image>> {
    let image = |index| data.sample(index).unwrap().into_owned();
    (0..data.n_images()).map(image).collect()
}

#[test]
fn idx_pairs_in_all_spellings_are_the_same_data() {
    let (bytes, labels) = (idx_images(3), idx_labels(&[255, 7, 255]));
    for (images_name, labels_name) in [
        ("t-images-idx3-ubyte", "t-labels-idx1-ubyte"),
        ("t-images-idx3-ubyte.gz", "t-labels-idx1-ubyte.gz"),
        ("t-images.idx3-ubyte", "t-labels.idx1-ubyte.gz"),
        ("t-images-idx3-ubyte.gz", "t-labels.idx1-ubyte"),
    ] {
        let folder = tempdir().unwrap();
        // The contents of a file decide, not its name.
        for packs in [true, false] {
            let packed = |bytes: &[u8]| if packs { gzip(bytes) } else { bytes.to_vec() };
            let path = write(folder.path(), images_name, &packed(&bytes));
            write(folder.path(), labels_name, &packed(&labels));
            let data = read_images(&path, &ImageOptions::default()).unwrap();
            assert_eq!(data.name(), "t");
            assert_eq!(
                (data.channels(), data.class_names()),
                (1, &["7".into(), "255".into()][..])
            );
            assert_eq!(data.labels(), [1, 0, 1]);
            let second = Image::new(2, 3, 1, (6..12).collect());
            assert_eq!(*images(&data)[1], second);
            let of_folder = read_images(folder.path(), &ImageOptions::default()).unwrap();
            assert_eq!(of_folder.checksum(), data.checksum());
            let name = folder.path().file_name().unwrap().to_str().unwrap();
            assert_eq!(of_folder.name(), name);
        }
    }
}

#[test]
fn the_training_pair_of_a_folder_is_read() {
    let folder = tempdir().unwrap();
    for (part, n) in [("train", 4), ("t10k", 2)] {
        write(
            folder.path(),
            &format!("{part}-images-idx3-ubyte"),
            &idx_images(n),
        );
        let labels = idx_labels(&vec![1; n as usize]);
        write(folder.path(), &format!("{part}-labels-idx1-ubyte"), &labels);
    }
    let all = ImageOptions::default();
    assert_eq!(read_images(folder.path(), &all).unwrap().n_images(), 4);
    let test = folder.path().join("t10k-images-idx3-ubyte");
    assert_eq!(read_images(test, &all).unwrap().n_images(), 2);
}

#[test]
fn rows_of_cifar_become_interleaved_pixels() {
    let folder = tempdir().unwrap();
    let path = write(folder.path(), "a.bin", &cifar(&[[6], [9], [6], [3]]));
    let data = read_cifar(&path, &ImageOptions::default()).unwrap();
    assert_eq!(data.class_names(), ["3", "6", "9"]);
    assert_eq!(data.labels(), [1, 2, 1, 0]);
    let first = &images(&data)[0];
    assert_eq!(
        (first.width(), first.height(), first.channels()),
        (32, 32, 3)
    );
    // Pixel 33 is column 1 of row 1.
    assert_eq!(first.pixels()[..6], [0, 100, 200, 1, 101, 201]);
    assert_eq!(first.pixels()[99..102], [33, 133, 233]);
    let pets = ImageOptions {
        classes: vec!["frog".into(), "cat".into()],
        ..ImageOptions::default()
    };
    let pets = read_cifar(&path, &pets).unwrap();
    assert_eq!(pets.class_names(), ["3", "6"]);
    assert_eq!(pets.labels(), [1, 1, 0]);
    let twice = ["3".to_owned(), "cat".to_owned()];
    assert_eq!(
        pets.select(&twice, None).unwrap_err().to_string(),
        "data set \"a\": found class \"3\" twice, expected each of 3, 6 at most once"
    );

    let hundred = write(
        folder.path(),
        "b.bin.gz",
        &gzip(&cifar(&[[3, 70], [19, 2]])),
    );
    let data = read_images(hundred, &ImageOptions::default()).unwrap();
    assert_eq!(data.class_names(), ["2", "70"]);
    assert_eq!(data.labels(), [1, 0]);
}

#[test]
fn the_batches_of_cifar_10_are_one_data_set() {
    let folder = tempdir().unwrap();
    for batch in 1..=5_u8 {
        let name = format!("data_batch_{batch}.bin");
        write(folder.path(), &name, &cifar(&[[batch], [0]]));
    }
    write(folder.path(), "test_batch.bin", &cifar(&[[9]]));
    write(folder.path(), "batches.meta.txt", b"airplane\n");
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_eq!(data.labels(), [1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
    assert_eq!(data.counts().n_class, [5, 1, 1, 1, 1, 1]);
}

#[test]
fn a_folder_is_read_in_the_order_of_names() {
    let folder = tempdir().unwrap();
    write_insects(folder.path());
    write(folder.path(), "LICENSE", b"none");
    write(folder.path(), "ants/notes.txt", b"?");
    write(folder.path(), "ants/.thumb.png", b"?");
    write(folder.path(), "ants/.cache/x.png", b"?");
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_eq!(data.class_names(), ["ants", "bees"]);
    // ants/a, ants/b, ants/sub/c, bees/10, bees/2: each knows its number by its blue.
    let blue: Vec<u8> = images(&data)
        .iter()
        .map(|image| image.pixels()[2])
        .collect();
    assert_eq!(blue, [1, 0, 2, 4, 3]);
    assert_eq!(data.labels(), [0, 0, 0, 1, 1]);
    assert_eq!(data.sizes().unwrap(), [4 * 5, 3 * 4, 5 * 6, 7 * 8, 6 * 7]);
    let counts = data.counts();
    assert_eq!(
        (counts.n_hidden, counts.n_other, counts.broken.len()),
        (2, 2, 0)
    );
    assert_eq!(images(&data)[2].pixels()[..6], [0, 0, 2, 1, 0, 2]);
    let limited = data.select(&[], Some(4)).unwrap();
    let blue: Vec<u8> = images(&limited)
        .iter()
        .map(|image| image.pixels()[2])
        .collect();
    assert_eq!(blue, [1, 0, 4, 3]);
}

#[test]
fn what_a_file_holds_counts_and_not_its_ending() {
    let folder = tempdir().unwrap();
    let formats = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP];
    for (format, name) in formats.into_iter().zip(["c/1.png", "c/2.webp", "c/3.jpeg"]) {
        write(folder.path(), name, &picture(5, 4, 9, format));
    }
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_eq!(data.sizes().unwrap(), [20; 3]);
    assert_eq!(images(&data)[1], images(&data)[2]);
}

#[test]
fn headers_behind_long_previews_are_found() {
    let jpeg = picture(9, 8, 1, ImageFormat::Jpeg);
    // An application segment of 40 kB between the first marker and the rest.
    let segment = [&[0xff, 0xe5, 0x9c, 0x40][..], &[0; 39_998]].concat();
    let long = [&jpeg[..2], &segment, &jpeg[2..]].concat();
    let folder = tempdir().unwrap();
    write(folder.path(), "c/long.jpg", &long);
    write(folder.path(), "c/short.jpg", &jpeg);
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    assert_eq!(data.sizes().unwrap(), [72; 2]);
    assert_eq!(images(&data)[0], images(&data)[1]);
}

#[test]
fn results_are_the_same_with_every_cache() {
    let folder = tempdir().unwrap();
    for index in 0..20_u8 {
        let side = 8 + u32::from(index);
        write(
            folder.path(),
            &format!("c/{index}.png"),
            &png(side, side, index),
        );
    }
    let with = |cache_bytes| {
        let options = ImageOptions {
            cache_bytes,
            ..ImageOptions::default()
        };
        read_images(folder.path(), &options).unwrap()
    };
    let expected = images(&with(usize::MAX));
    for cache_bytes in [0, 3000, 10_000] {
        let data = with(cache_bytes);
        for n_threads in [1, 2, 4] {
            std::thread::scope(|scope| {
                for _ in 0..n_threads {
                    scope.spawn(|| assert_eq!(images(&data), expected));
                }
            });
        }
    }
    // Cached images are returned again, also to clones and selections.
    let data = with(1 << 20);
    let first = data.sample(0).unwrap().into_owned();
    let again = data.clone().select(&[], Some(10)).unwrap();
    assert!(Arc::ptr_eq(&first, &again.sample(0).unwrap()));
    let data = with(0);
    let first = data.sample(0).unwrap().into_owned();
    assert!(!Arc::ptr_eq(&first, &data.sample(0).unwrap()));
}

#[test]
fn splits_go_by_pixels_and_by_classes() {
    let folder = tempdir().unwrap();
    write_insects(folder.path());
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    let alpha = GrowthRatio::try_new(0.4).unwrap();
    for split in [Split::Size, Split::Class] {
        let increment = data.increment(split.clone(), alpha, Seed::new(1)).unwrap();
        assert_eq!(increment.new_data(), [3, 4], "{split}");
    }
    let increment = data.increment(Split::Random, alpha, Seed::new(1)).unwrap();
    let keys = [0; 5];
    let expected = Split::Random.increment(&keys, alpha, Seed::new(1)).unwrap();
    assert_eq!(increment, expected);
    // The sizes are read on demand.
    std::fs::remove_file(folder.path().join("bees/2.png")).unwrap();
    assert!(data.increment(Split::Class, alpha, Seed::new(1)).is_ok());
    let error = data
        .increment(Split::Size, alpha, Seed::new(1))
        .unwrap_err();
    let message = "bees/2.png: found a file or folder that cannot be read, expected a readable one";
    assert!(error.to_string().ends_with(message), "{error}");
}

#[test]
fn folders_are_joined_by_the_names_of_classes() {
    let (first, second) = (tempdir().unwrap(), tempdir().unwrap());
    write_insects(first.path());
    write_insects(second.path());
    write(second.path(), "Wasps/1.png", &png(2, 2, 0));
    write(second.path(), "README", b"");
    let read = |folder| read_images(folder, &ImageOptions::default()).unwrap();
    let (old, new) = (read(first.path()), read(second.path()));
    let (joined, increment) = ImageDataset::join(&old, &new).unwrap();
    assert_eq!(joined.class_names(), ["ants", "bees", "Wasps"]);
    assert_eq!(joined.labels(), [0, 0, 0, 1, 1, 2, 0, 0, 0, 1, 1]);
    assert_eq!(joined.counts().n_other, 1);
    assert_eq!(increment.new_data(), [5, 6, 7, 8, 9, 10]);
    assert_eq!(images(&joined)[6..], images(&old)[..]);
}

#[test]
fn checksums_know_data_again() {
    let folder = tempdir().unwrap();
    write_insects(folder.path());
    let read = || read_images(folder.path(), &ImageOptions::default()).unwrap();
    let sum = read().checksum();
    assert_eq!(sum.len(), 8);
    assert_eq!(read().checksum(), sum);
    assert_ne!(read().select(&[], Some(4)).unwrap().checksum(), sum);
    std::fs::rename(
        folder.path().join("ants/a.png"),
        folder.path().join("ants/d.png"),
    )
    .unwrap();
    let renamed = read().checksum();
    assert_ne!(renamed, sum);
    write(folder.path(), "ants/d.png", &png(50, 50, 1));
    assert_ne!(read().checksum(), renamed);

    let of = |labels: &[u8], first: u8| {
        let folder = tempdir().unwrap();
        let mut bytes = idx_images(2);
        bytes[16] = first;
        write(folder.path(), "x-images-idx3-ubyte", &bytes);
        write(folder.path(), "x-labels-idx1-ubyte", &idx_labels(labels));
        read_images(folder.path(), &ImageOptions::default())
            .unwrap()
            .checksum()
    };
    // Computed once with Python's zlib over sides, channels, pixels and labels as documented.
    assert_eq!(of(&[3, 5], 0), IDX_SUM);
    assert_eq!(of(&[3, 5], 0), of(&[4, 6], 0));
    assert_ne!(of(&[3, 5], 0), of(&[5, 3], 0));
    assert_ne!(of(&[3, 5], 0), of(&[3, 5], 1));
}
const IDX_SUM: &str = "c202768b";

#[test]
fn images_are_told_from_graphs_by_names() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in [
        "idx/train-images-idx3-ubyte.gz",
        "bin/data_batch_1.bin",
        "classes/a/b.jpg",
        "parts/train/a/b.PNG",
        "graphs/T_A.txt",
        "graphs/plot.png",
        "hidden/.x.png",
        "outer/T/T_A.txt",
        "outer/T/plot.png",
        "T.zip",
    ] {
        write(folder.path(), name, b"");
    }
    for name in [
        "idx",
        "idx/train-images-idx3-ubyte.gz",
        "bin",
        "bin/data_batch_1.bin",
    ] {
        assert!(looks_like_images(at(name)), "{name}");
    }
    for name in ["classes", "classes/a/b.jpg", "parts", "parts/train"] {
        assert!(looks_like_images(at(name)), "{name}");
    }
    for name in [
        "graphs",
        "outer",
        "hidden",
        "T.zip",
        "graphs/T_A.txt",
        "nothing",
    ] {
        assert!(!looks_like_images(at(name)), "{name}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_of_files_may_be_any_bytes_and_those_of_classes_are_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let folder = tempdir().unwrap();
    write_insects(folder.path());
    let ants = folder.path().join("ants");
    std::fs::write(ants.join(OsStr::from_bytes(b"\xff.png")), png(2, 3, 9)).unwrap();
    let data = read_images(folder.path(), &ImageOptions::default()).unwrap();
    // After `sub`, since its byte is greater.
    assert_eq!(
        data.sizes().unwrap(),
        [4 * 5, 3 * 4, 5 * 6, 2 * 3, 7 * 8, 6 * 7]
    );
    let class = folder.path().join(OsStr::from_bytes(b"\xff"));
    std::fs::rename(ants, &class).unwrap();
    let error = read_images(folder.path(), &ImageOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: found a folder whose name is not UTF-8, expected the name of a class",
            class.display()
        )
    );
}
