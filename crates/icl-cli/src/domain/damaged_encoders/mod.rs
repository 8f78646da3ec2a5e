//! Test of the files of every kind of encoder, damaged in thousands of ways.

#![cfg(test)]

mod damage;

use std::path::{Path, PathBuf};

use burn::backend::{Autodiff, Flex};
use burn::module::AutodiffModule;
use clap::Parser;
use icl_core::{Encoder, Samples, Seed, Views};
use icl_models::{DataOrigin, StoredEncoder};
use icl_train::TrainingSettings;

use crate::domain::Domain;
use crate::domain::collation::OnEveryBackend;
use crate::domain::data::Data;
use crate::domain::encoder_choice::{OnNewEncoder, with_new_encoder};
use crate::domain::encoder_file::{EncoderFile, TrainedOn, origin, save};
use crate::options::data::DataOptions;
use crate::options::encoder::EncoderOptions;
use crate::options::noise::NoiseOptions;
use crate::process::failure::Failure;

use damage::{damaged, with_other_header, without_digest};

type Trained = Autodiff<Flex>;

/// Options of a new encoder.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    data: DataOptions,
    #[command(flatten)]
    encoder: EncoderOptions,
    #[command(flatten)]
    noise: NoiseOptions,
}

/// Damages the file of one encoder in many ways and reads each.
struct Damage<'a> {
    options: &'a Options,
    at: &'a Path,
    n_files: u64,
}

/// Numbers of files that were accepted and refused.
#[derive(Debug, Default)]
struct Verdicts {
    n_accepted: u64,
    n_refused: u64,
}

/// Largest file of which every byte is read and an encoder is made, in bytes.
const SMALL: usize = 1 << 20;

impl OnNewEncoder for Damage<'_> {
    type Output = Verdicts;

    fn run<D: Domain>(self, domain: &D, _: D::Data) -> Result<Verdicts, Failure> {
        let path = self.at.join("encoder.safetensors");
        let fresh = domain.fresh::<Trained>(Seed::new(1), &Default::default())?;
        let trained_on = TrainedOn {
            data: "toy",
            classes: &["0".to_owned()],
            settings: &TrainingSettings::default(),
            origin: &origin(
                "icl train",
                0,
                60.0,
                vec![DataOrigin::new("all", "toy", [1])],
            ),
            parents: &[],
            hold_out: Some(0.1),
            passes_per_sample: Some(60.0),
        };
        save(&fresh.valid(), domain, trained_on, &path)?;
        // The digest would tell all damage at once: files of others have none.
        let whole = without_digest(&std::fs::read(&path).unwrap());
        let mut verdicts = Verdicts::default();
        for index in 0..self.n_files {
            let mut rng = Seed::new(16).child(D::ENCODER).at(index).rng();
            let bytes = match whole.len() > SMALL {
                true => with_other_header(&whole, &mut rng),
                false => damaged(&whole, &mut rng),
            };
            match self.used::<D>(&path, bytes) {
                Ok(()) => verdicts.n_accepted += 1,
                Err(failure) => {
                    checked(&failure, &path, index);
                    verdicts.n_refused += 1;
                }
            }
        }
        Ok(verdicts)
    }
}

impl Damage<'_> {
    /// Reads an encoder, and embeds the data with it if it is accepted.
    fn used<D: Domain>(&self, path: &Path, bytes: Vec<u8>) -> Result<(), Failure> {
        let is_small = bytes.len() <= SMALL;
        let file = StoredEncoder::of_bytes(path, bytes).and_then(EncoderFile::<D>::of);
        let file = file.map_err(Failure::input)?;
        file.stored.lineage().map_err(Failure::input)?;
        if !is_small {
            return Ok(());
        }
        let device = Default::default();
        let encoder = file.encoder::<Trained>(&device)?.valid();
        let data = &self.options.data;
        // What does not fit the columns of a table is an error of the table, which is named.
        let read = Data::read(&data.name, &data.reading)?;
        let Ok(Some(data)) = file.domain.prepared(read, data.reading.outliers) else {
            return Ok(());
        };
        file.check_data(&data)?;
        let plain = |index| file.domain.views().plain(&data.sample(index).unwrap());
        let batch = file
            .domain
            .collate()
            .0
            .batch::<Flex>(&[plain(0), plain(1)], &device);
        let _ = encoder.embed(batch).into_data();
        Ok(())
    }
}

/// Checks that a failure is one of the input that names the file in a few legible words.
fn checked(failure: &Failure, path: &Path, index: u64) {
    let text = failure.to_string();
    assert!(matches!(failure, Failure::Input(_)), "file {index}: {text}");
    assert!(
        text.contains(&path.display().to_string()),
        "file {index}: {text}"
    );
    assert!(
        text.chars().count() <= 2000 && text.lines().count() == 1,
        "file {index}: {text}"
    );
    assert!(!text.contains(char::is_control), "file {index}: {text:?}");
}

/// Writes small data of each kind.
fn write_toys(at: &Path) -> [PathBuf; 5] {
    let paths = [
        "graphs",
        "toy-images-idx3-ubyte",
        "table.csv",
        "texts.csv",
        "toy.inter",
    ];
    let paths = paths.map(|name| at.join(name));
    let [graphs, images, table, texts, interactions] = &paths;
    std::fs::create_dir(graphs).unwrap();
    for (ending, text) in [
        ("A", "1, 2\n2, 3\n4, 5\n"),
        ("graph_indicator", "1\n1\n1\n2\n2\n"),
        ("graph_labels", "0\n1\n"),
        ("node_labels", "0\n1\n0\n1\n1\n"),
        ("node_attributes", "0.5\n1.5\n2\n-3\n1\n"),
    ] {
        std::fs::write(graphs.join(format!("TOY_{ending}.txt")), text).unwrap();
    }
    let header = |kind: u8| vec![0, 0, 8, kind, 0, 0, 0, 2];
    let mut pixels = header(3);
    pixels.extend([0, 0, 0, 6, 0, 0, 0, 6]);
    pixels.extend(0..72);
    std::fs::write(images, pixels).unwrap();
    let mut labels = header(1);
    labels.extend([0, 1]);
    std::fs::write(at.join("toy-labels-idx1-ubyte"), labels).unwrap();
    std::fs::write(table, "a,b,c\n1,2,x\n3,1,y\n2,2,x\n5,9,y\n").unwrap();
    std::fs::write(texts, "a,b\nx y,z\ny x,z y\nx,z y\n").unwrap();
    let header = "user_id:token\titem_id:token\ttimestamp:float";
    let rows = "u\tx\t1\nv\ty\t2\nu\tz\t3\nv\tx\t4\n";
    std::fs::write(interactions, format!("{header}\n{rows}")).unwrap();
    paths
}

#[test]
fn a_damaged_file_is_read_or_refused_by_name() {
    let at = tempfile::tempdir().unwrap();
    let [graphs, images, table, texts, interactions] = write_toys(at.path());
    for (data, n_files, options) in [
        (&graphs, 2000, "--encoder gcn --width 3"),
        (
            &graphs,
            2000,
            "--encoder gin --width 3 --layers 2 --projection 2",
        ),
        (&graphs, 1000, "--encoder gcn --width 3 --noise hidden"),
        (
            &graphs,
            1000,
            "--encoder gin --width 3 --layers 2 --noise hidden-gaussian",
        ),
        (&images, 2000, "--encoder mlp --width 3 --projection 2"),
        (&table, 3000, "--width 3 --projection 2"),
        (&texts, 2000, "--texts a,b --width 3"),
        (&interactions, 2000, "--encoder two-tower --width 3"),
        (&images, 2000, "--encoder convnet --width 2 --projection 2"),
        (&images, 40, "--encoder resnet18 --noise augment-linear"),
    ] {
        let data = data.display().to_string();
        let arguments = ["icl", "--data", &data].into_iter();
        let options = Options::parse_from(arguments.chain(options.split(' ')));
        let work = Damage {
            options: &options,
            at: at.path(),
            n_files,
        };
        let verdicts = with_new_encoder(&options.data, &options.encoder, &options.noise, work);
        let verdicts = verdicts.unwrap();
        // Some damage is none, such as another number in a tensor.
        assert!(
            verdicts.n_accepted > 0 && verdicts.n_refused > n_files / 4,
            "{verdicts:?}"
        );
    }
}
