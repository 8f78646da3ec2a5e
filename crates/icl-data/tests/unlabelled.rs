//! Graphs and images without labels.

use icl_core::{GrowthRatio, Samples, Seed};
use icl_data::{
    DataError, GraphDataset, ImageDataset, ImageOptions, Split, looks_like_images, read_images,
    read_tu,
};
use tempfile::{TempDir, tempdir};

use crate::image_files::{png, write, write_insects};
use crate::tu_files::TuFiles;

fn graphs(files: TuFiles) -> Result<GraphDataset, DataError> {
    let folder = tempdir().unwrap();
    files.into_folder(folder.path());
    read_tu(folder.path())
}

/// A folder of five images, a hidden file and a text.
fn photos() -> TempDir {
    let folder = tempdir().unwrap();
    for shade in 0..5 {
        let name = format!("{shade}.png");
        write(folder.path(), &name, &png(2, 2, 40 * shade));
    }
    write(folder.path(), ".hidden.png", b"");
    write(folder.path(), "notes.txt", b"notes");
    folder
}

fn images(folder: &TempDir) -> ImageDataset {
    assert!(looks_like_images(folder.path()));
    read_images(folder.path(), &ImageOptions::default()).unwrap()
}

#[test]
fn graphs_are_read_without_their_file_of_labels() {
    let whole = graphs(TuFiles::valid()).unwrap();
    let data = graphs(TuFiles::valid().without("graph_labels")).unwrap();
    assert!(whole.has_labels() && !data.has_labels());
    assert_eq!((data.labels(), data.class_labels()), (vec![0, 0], &[0][..]));
    assert_eq!(data.counts().n_class, [2]);
    for (one, other) in data.graphs().iter().zip(whole.graphs()) {
        assert_eq!(one.features(), other.features());
        assert_eq!(one.n_edges(), other.n_edges());
    }
}

#[test]
fn every_graph_without_a_label_has_a_node() {
    for (indicator, found) in [
        (
            "1\n1\n3\n3\n3\n",
            "graph 2, expected one of each graph up to 3",
        ),
        (
            "2\n2\n2\n2\n2\n",
            "graph 1, expected one of each graph up to 2",
        ),
        // No memory for the graphs in between.
        (
            "1\n1\n2000000000\n1\n1\n",
            "graph 2, expected one of each graph up to 2000000000",
        ),
    ] {
        let files = TuFiles::valid().without("graph_labels").without("A");
        let files = files.with("A", "1, 1\n").with("graph_indicator", indicator);
        let error = graphs(files).unwrap_err().to_string();
        let message = format!("T_graph_indicator.txt: found no node of {found}");
        assert!(error.ends_with(&message), "{error}");
    }
}

#[test]
fn a_flat_folder_is_a_data_set_without_labels() {
    let folder = photos();
    let data = images(&folder);
    assert!(!data.has_labels());
    assert_eq!(data.class_names(), ["unlabelled"]);
    assert_eq!(data.labels(), [0; 5]);
    let counts = data.counts();
    assert_eq!(
        (counts.n_class.as_slice(), counts.n_hidden, counts.n_other),
        (&[5][..], 1, 1)
    );
    for index in 0..5 {
        let shade = data.sample(index).unwrap().pixels()[2];
        assert_eq!(usize::from(shade), 40 * index);
    }
    let some = ImageOptions {
        limit: Some(4),
        ..ImageOptions::default()
    };
    assert_eq!(read_images(folder.path(), &some).unwrap().n_images(), 4);
    // Broken images are named, or left out.
    write(folder.path(), "9.png", b"no image");
    let broken = read_images(folder.path(), &ImageOptions::default());
    assert!(broken.unwrap_err().to_string().contains("9.png: "));
    let skipping = ImageOptions {
        skip_broken: true,
        ..ImageOptions::default()
    };
    let data = read_images(folder.path(), &skipping).unwrap();
    assert_eq!((data.n_images(), data.counts().broken.len()), (5, 1));
}

#[test]
fn classes_are_asked_for_by_name() {
    let graphs = graphs(TuFiles::valid().without("graph_labels")).unwrap();
    let folder = photos();
    let images = images(&folder);
    let alpha = GrowthRatio::try_new(0.5).unwrap();
    for (split, words) in [
        ("class", "split \"class\""),
        ("class:a", "split \"class:a\""),
    ] {
        let split: Split = split.parse().unwrap();
        let error = graphs.increment(split.clone(), alpha, Seed::new(1));
        let error = error.unwrap_err().to_string();
        let expected = format!(
            "\"T\": found no classes for {words}, expected them in a file `NAME_graph_labels.txt`"
        );
        assert_eq!(error, expected);
        let error = images.increment(split, alpha, Seed::new(1));
        let error = error.unwrap_err().to_string();
        let expected = format!(
            "found no classes for {words}, expected a folder with one folder of images per class"
        );
        assert!(error.ends_with(&expected), "{error}");
    }
    let named = ["a".to_owned()];
    let error = graphs.clone().select(&named, None).unwrap_err().to_string();
    assert!(
        error.contains("found no classes for the option classes"),
        "{error}"
    );
    let error = images.clone().select(&named, None).unwrap_err().to_string();
    assert!(
        error.contains("found no classes for the option classes"),
        "{error}"
    );
    // At random, and by size, they are split.
    assert!(images.increment(Split::Random, alpha, Seed::new(1)).is_ok());
    assert!(images.increment(Split::Size, alpha, Seed::new(1)).is_ok());
}

#[test]
fn joined_with_labelled_data_none_is_left() {
    let labelled = graphs(TuFiles::valid()).unwrap();
    let data = graphs(TuFiles::valid().without("graph_labels")).unwrap();
    for (old, new) in [(&labelled, &data), (&data, &labelled), (&data, &data)] {
        let (joined, _) = GraphDataset::join(old, new).unwrap();
        assert!(!joined.has_labels());
        assert_eq!(
            (joined.labels(), joined.counts().n_class.clone()),
            (vec![0; 4], vec![4])
        );
    }
    let insects = tempdir().unwrap();
    write_insects(insects.path());
    let folder = photos();
    let (insects, photos) = (images(&insects), images(&folder));
    let (joined, increment) = ImageDataset::join(&insects, &photos).unwrap();
    assert!(!joined.has_labels() && insects.has_labels());
    assert_eq!(joined.labels(), vec![0; insects.n_images() + 5]);
    assert_eq!(joined.class_names(), ["unlabelled"]);
    assert_eq!(increment.new_data().len(), 5);
}

#[test]
fn they_are_written_as_they_are_read() {
    let at = tempdir().unwrap();
    let graphs = graphs(TuFiles::valid().without("graph_labels")).unwrap();
    graphs.write(&[1, 0], at.path().join("graphs")).unwrap();
    let again = read_tu(at.path().join("graphs")).unwrap();
    assert!(!again.has_labels());
    assert_eq!(again.sizes(), [3, 2]);
    let folder = photos();
    let photos = images(&folder);
    photos.write(&[4, 2], at.path().join("photos")).unwrap();
    let again = read_images(at.path().join("photos"), &ImageOptions::default()).unwrap();
    assert!(!again.has_labels());
    let shades = [0, 1].map(|index| again.sample(index).unwrap().pixels()[2]);
    assert_eq!(shades, [80, 160]);
}
