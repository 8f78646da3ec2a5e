//! Graphs and images without labels, through each command.

use std::fs;
use std::path::Path;

use crate::support::toys::{NEW, OLD};
use crate::support::{icl, names, number, record, split};
use tempfile::{TempDir, tempdir};

/// Old and new graphs without their files of labels.
fn graphs() -> TempDir {
    let at = tempdir().unwrap();
    for (toys, name) in [(OLD, "OLD"), (NEW, "NEW")] {
        toys.write(at.path(), name);
        fs::remove_file(at.path().join(format!("{name}/{name}_graph_labels.txt"))).unwrap();
    }
    at
}

/// The bytes of a PNG file of 6 x 6 grey pixels in this shade, by the words of the format's specification.
fn png(shade: u8) -> Vec<u8> {
    let chunk = |kind: &[u8], data: &[u8]| {
        let body = [kind, data].concat();
        let length = (data.len() as u32).to_be_bytes();
        let sum = crc32fast::hash(&body).to_be_bytes();
        [&length[..], &body, &sum].concat()
    };
    let rows: Vec<u8> = (0..6_u8)
        .flat_map(|row| [0, shade, row, shade, 9, row * 7, shade])
        .collect();
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut packed, &rows).unwrap();
    [
        b"\x89PNG\r\n\x1a\n".to_vec(),
        chunk(b"IHDR", &[0, 0, 0, 6, 0, 0, 0, 6, 8, 0, 0, 0, 0]),
        chunk(b"IDAT", &packed.finish().unwrap()),
        chunk(b"IEND", b""),
    ]
    .concat()
}

/// Two flat folders of images.
fn photos() -> TempDir {
    let at = tempdir().unwrap();
    for (name, n) in [("OLD", 12), ("NEW", 8)] {
        let folder = at.path().join(name);
        fs::create_dir(&folder).unwrap();
        for index in 0..n {
            let shade = 10 * index + n;
            fs::write(folder.join(format!("{index}.png")), png(shade)).unwrap();
        }
    }
    at
}

/// Trains, updates and embeds.
fn used(at: &Path, options: &str) {
    let few = "--epochs 1 --hold-out 0 --batch-size 8";
    let train = format!("train --data OLD {options} {few} --out first");
    let ran = icl(at, &split(&train)).succeeded();
    let note = "note: OLD: no labels; this command needs none";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let from = "--from first/encoder.safetensors";
    let update = format!("update {from} --old OLD --new NEW {few} --out second");
    icl(at, &split(&update)).succeeded();
    assert!(number(&record(&at.join("second")), "n_new") >= 8.0);
    for file in ["e.csv", "e.npy", "e.safetensors"] {
        icl(at, &split(&format!("embed {from} --data NEW --out {file}"))).succeeded();
    }
    let table = fs::read_to_string(at.join("e.csv")).unwrap();
    assert!(table.starts_with("id,encoder,e0,"), "{table}");
    let stored = fs::read(at.join("e.safetensors")).unwrap();
    let stored = safetensors::SafeTensors::deserialize(&stored).unwrap();
    assert_eq!(stored.names(), ["embeddings"]);
}

/// Asserts that what needs classes says so, and what was looked for, and leaves nothing.
fn refused(at: &Path, expected: &str) {
    let before = names(at);
    for (command, needed_by) in [
        (
            "run --data OLD --epochs 1 --out out",
            "the accuracies of icl run (--protocol none does without)",
        ),
        (
            "run --data OLD --split class --protocol none --epochs 1 --out out",
            "split \"class\"",
        ),
        (
            "split --data OLD --split class:0 --out out",
            "split \"class:0\"",
        ),
        (
            "train --data OLD --classes 1 --out out",
            "the option classes",
        ),
        (
            "update --from f.safetensors --old OLD --new NEW --new-classes 1 --out out",
            "the option classes",
        ),
    ] {
        let ran = icl(at, &split(command));
        let message = format!(": found no classes for {needed_by}, expected {expected}\n");
        assert!(ran.stderr.ends_with(&message), "{command}: {}", ran.stderr);
        assert_eq!(ran.code, Some(2));
        assert_eq!(names(at), before);
    }
}

#[test]
fn graphs_without_labels_are_trained_updated_and_used() {
    let at = graphs();
    refused(at.path(), "them in a file `NAME_graph_labels.txt`");
    used(at.path(), "--width 4");
    let split_up = "split --data OLD --split size --out parts";
    icl(at.path(), &split(split_up)).succeeded();
    assert_eq!(
        names(&at.path().join("parts/new")),
        [
            "OLD_A.txt",
            "OLD_graph_indicator.txt",
            "OLD_node_labels.txt"
        ]
    );
}

#[test]
fn a_flat_folder_of_images_is_trained_updated_and_used() {
    let at = photos();
    refused(at.path(), "a folder with one folder of images per class");
    used(at.path(), "--encoder mlp --image-size 6 --width 4");
    icl(
        at.path(),
        &split("split --data NEW --alpha 0.25 --out parts"),
    )
    .succeeded();
    assert_eq!(names(&at.path().join("parts/new")).len(), 2);
}

#[test]
fn a_comparison_without_accuracies_needs_no_labels() {
    let at = graphs();
    let run = "run --data OLD --protocol none --method warm --seed 0 --epochs 1 --out out";
    icl(at.path(), &split(run)).succeeded();
    let page = fs::read_to_string(at.path().join("out/report.html")).unwrap();
    assert!(page.contains("No accuracy was measured: the data hold no classes"));
}

/// Labels by the paths of the files, which folders of images without classes have.
#[test]
fn images_are_labelled_by_their_paths() {
    let at = photos();
    let at = at.path();
    let labels: String = (0..12)
        .map(|index| format!("{index}.png,{}\n", if index < 6 { "dark" } else { "light" }))
        .collect();
    fs::write(at.join("labels.csv"), format!("path,label\n{labels}")).unwrap();
    let train =
        "train --data OLD --task labels.csv --epochs 1 --hold-out 0.4 --batch-size 8 --out first";
    let ran = icl(at, &split(train)).succeeded();
    let note = "note: task: 12 of 12 images have a label";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
    let task = &record(&at.join("first"))["task"];
    let [n_labelled, n_held_out] = ["n_labelled", "n_held_out"].map(|key| number(task, key));
    assert!(
        n_held_out >= 2.0 && n_labelled + n_held_out == 12.0,
        "{task}"
    );
    // New images have the same paths in another folder.
    let update =
        "update --from first/encoder.safetensors --old OLD --new NEW --epochs 1 --batch-size 8";
    let ran = icl(
        at,
        &split(&format!("{update} --task labels.csv --out second")),
    );
    ran.rejected_in_last_line("found \"0.png\", which names several images, expected names of one");
    let of_old = labels.lines().map(|line| format!("old,{line}\n"));
    let of_new = (0..8).map(|index| format!("new,{index}.png,{}\n", ["dark", "light"][index % 2]));
    let both: String = of_old.chain(of_new).collect();
    fs::write(at.join("both.csv"), format!("data,path,label\n{both}")).unwrap();
    let ran = icl(
        at,
        &split(&format!("{update} --task both.csv --accept --out second")),
    )
    .succeeded();
    let note = "note: task: 20 of 20 images have a label";
    assert!(ran.stderr.contains(note), "{}", ran.stderr);
}
