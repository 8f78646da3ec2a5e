//! Files of embeddings, opened by the tools that users have: what they read is what was written.

use std::process::Command;

use super::{EMBED, toys};
use crate::support::{icl, split};

/// Prints for each file its ids, labels and encoder, and the bits of its numbers, as one line.
const SCRIPT: &str = r#"
import json, sys
try:
    import numpy, pandas, pyarrow.parquet, safetensors
    from safetensors.numpy import load_file
except ImportError as error:
    print("skipped:", error)
    sys.exit()

def line(ids, labels, encoders, rows):
    rows = numpy.asarray(rows, dtype="<f4")
    assert rows.shape == (300, 12), rows.shape
    (encoder,) = set(encoders)
    print(list(map(str, ids)), list(map(str, labels)), encoder, rows.tobytes().hex())

places = [f"e{place}" for place in range(12)]
csv = pandas.read_csv("a.csv", dtype={place: "float32" for place in places})
line(csv.id, csv.label, csv.encoder, csv[places])
parquet = pandas.read_parquet("a.parquet")
line(parquet.id, parquet.label, parquet.encoder, numpy.stack(parquet.embedding))
table = pyarrow.parquet.read_table("a.parquet")
assert str(table.schema.field("id").type) == "string", table.schema
line(*(table[name].to_pylist() for name in ["id", "label", "encoder", "embedding"]))
tensors = load_file("a.safetensors")
with safetensors.safe_open("a.safetensors", "numpy") as file:
    about = file.metadata()
classes = json.loads(about["classes"])
labels = [classes[label] for label in tensors["labels"]]
line(json.loads(about["ids"]), labels, [about["encoder"]], tensors["embeddings"])
rows = json.load(open("a.rows.json"))
labels = [rows["classes"][label] for label in numpy.load("a.labels.npy")]
line(rows["ids"], labels, [rows["encoder"]], numpy.load("a.npy"))
"#;

#[test]
fn pandas_pyarrow_safetensors_and_numpy_read_the_same() {
    let (at, graphs) = toys();
    for out in ["a.csv", "a.parquet", "a.safetensors", "a.npy"] {
        icl(at.path(), &split(&format!("{EMBED} {out}"))).succeeded();
    }
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let ran = Command::new(python)
        .args(["-c", SCRIPT])
        .current_dir(at.path())
        .output();
    let Ok(ran) = ran else {
        println!("skipped: there is no python3");
        return;
    };
    let [stdout, stderr] = [ran.stdout, ran.stderr].map(|it| String::from_utf8(it).unwrap());
    assert!(ran.status.success(), "{stderr}");
    if stdout.starts_with("skipped:") {
        println!("{stdout}");
        return;
    }
    let lines: Vec<&str> = stdout.lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines.iter().all(|line| *line == lines[0]), "{stdout}");
    let classes: Vec<String> = graphs.iter().map(|it| format!("'{}'", it.class)).collect();
    assert!(lines[0].contains(&classes.join(", ")), "{}", lines[0]);
}
