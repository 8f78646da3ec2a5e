//! Stored embeddings are replaced after an update: the recipes of the book's page on vector stores, on real ones.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::{TempDir, tempdir};

use crate::support::{icl, split, text};

const PAGE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/book/src/vector-stores.md"
);
const N: usize = 150;
/// Number of neighbours in a search.
const K: usize = 10;
/// Numbers of the samples that are queries.
const QUERIES: [usize; 3] = [0, 7, 120];
/// Settings with which a search uses the index.
const BY_INDEX: &str = "SET enable_seqscan = off; SET enable_sort = off;";

fn run(at: &Path, line: &str) -> String {
    icl(at, &split(line)).succeeded().stdout
}

/// A block of SQL of the page.
fn recipe(name: &str) -> String {
    let page = fs::read_to_string(PAGE).unwrap();
    let (_, block) = page.split_once(&format!("```sql\n-- {name}\n")).unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

/// Embeddings of a table by an encoder and by its successor, as CSV and as NumPy.
fn embedded() -> TempDir {
    let at = tempdir().unwrap();
    let mut table = "order,a,b,kind\n".to_owned();
    for row in 0..N {
        let kind = ["bees", "ants"][usize::from(row % 3 == 0)];
        let (a, b) = (row * 7 % 31, row * row % 23);
        // Ids need quotes in CSV.
        table.push_str(&format!("\"o-{row}, \"\"late\"\"\",{a}.5,{b},{kind}\n"));
    }
    fs::write(at.path().join("orders.csv"), table).unwrap();
    for (day, seed) in [("old", 1), ("new", 2)] {
        let data = "--data orders.csv --target kind";
        let training = "--exclude order --width 8 --epochs 1 --stop never";
        run(
            at.path(),
            &format!("train {data} {training} --seed {seed} --out {day}"),
        );
        for format in ["csv", "npy"] {
            let embed = format!("embed --from {day}/encoder.safetensors {data} --id order");
            run(at.path(), &format!("{embed} --out {day}.{format}"));
        }
    }
    at
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn digest(at: &Path, day: &str) -> String {
    let shown = json(&run(at, &format!("show {day} --json")));
    text(&shown, "digest").to_owned()
}

fn ids(at: &Path, day: &str) -> Vec<String> {
    let facts = json(&fs::read_to_string(at.join(format!("{day}.rows.json"))).unwrap());
    let ids = facts["ids"].as_array().unwrap().iter();
    ids.map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// Rows of a file of NumPy, f32.
fn npy(at: &Path, day: &str) -> Vec<Vec<f64>> {
    let bytes = fs::read(at.join(format!("{day}.npy"))).unwrap();
    let header = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
    let values = bytes[10 + header..].chunks_exact(4);
    let values: Vec<f64> = values
        .map(|it| f64::from(f32::from_le_bytes(it.try_into().unwrap())))
        .collect();
    let rows = values.chunks_exact(values.len() / N);
    rows.map(<[f64]>::to_vec).collect()
}

fn cosine_distance(a: &[f64], b: &[f64]) -> f64 {
    let (mut product, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for column in 0..a.len() {
        product += a[column] * b[column];
        of_a += a[column] * a[column];
        of_b += b[column] * b[column];
    }
    1.0 - product / (of_a * of_b).sqrt()
}

/// A server with a folder of its own, reached by a socket in it.
struct Server {
    programs: PathBuf,
    folder: TempDir,
}

impl Server {
    /// Starts a server, or says why there is none.
    fn start() -> Result<Self, String> {
        let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
            .map_err(|_| "there is no PostgreSQL in /usr/lib/postgresql".to_owned())?
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let number = path.file_name()?.to_str()?.parse().ok()?;
                Some((number, path.join("bin")))
            })
            .filter(|(version, programs)| *version >= 15 && programs.join("initdb").exists())
            .collect();
        versions.sort();
        let (_, programs) = versions
            .pop()
            .ok_or("there is no server of PostgreSQL 15 or newer")?;
        let folder = tempfile::Builder::new().prefix("pg").tempdir().unwrap();
        let server = Self { programs, folder };
        let at = server.folder.path().to_owned();
        if server.is_root() {
            let owner = Command::new("chown").arg("postgres").arg(&at).status();
            if !owner.is_ok_and(|status| status.success()) {
                return Err(
                    "PostgreSQL does not run as root, and there is no user postgres".into(),
                );
            }
        }
        let data = format!("-D {}/data", at.display());
        let line = format!("{data} -A trust -U icl -E UTF8 --no-locale --no-sync");
        server.owned("initdb", &split(&line))?;
        let options = format!("-F -k {} -c listen_addresses=", at.display());
        let log = at.join("log");
        let mut start = split(&data);
        start.extend(["-w", "-l", log.to_str().unwrap(), "-o", &options, "start"]);
        server.owned("pg_ctl", &start)?;
        let sql = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'";
        match server.psql(&[], sql, None).as_deref() {
            Ok("1\n") => Ok(server),
            _ => Err("PostgreSQL has no pgvector".to_owned()),
        }
    }

    /// Returns whether this user is root, as whom PostgreSQL refuses to run.
    fn is_root(&self) -> bool {
        fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0)
    }

    /// Runs a program of the server as the owner of its folder.
    fn owned(&self, program: &str, arguments: &[&str]) -> Result<(), String> {
        let program = self.programs.join(program);
        let mut command = Command::new("setpriv");
        if self.is_root() {
            let user = "--reuid=postgres --regid=postgres --clear-groups";
            command.args(split(user)).arg(&program);
        } else {
            command = Command::new(&program);
        }
        // The server would hold pipes open.
        let ran = command
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        match ran {
            Ok(status) if status.success() => Ok(()),
            ran => Err(format!("{} does not run: {ran:?}", program.display())),
        }
    }

    /// Runs SQL with the variables of psql and returns the rows, or the error.
    fn psql(&self, variables: &[&str], sql: &str, input: Option<&Path>) -> Result<String, String> {
        let file = self.folder.path().join("now.sql");
        fs::write(&file, sql).unwrap();
        let mut command = Command::new(self.programs.join("psql"));
        command.args(split("-X -q -t -A -U icl -d postgres -v ON_ERROR_STOP=1"));
        for variable in variables {
            command.args(["-v", variable]);
        }
        let input = input.map_or_else(Stdio::null, |path| File::open(path).unwrap().into());
        let output = command.arg("-h").arg(self.folder.path()).arg("-f");
        let Output {
            status,
            stdout,
            stderr,
        } = output.arg(&file).stdin(input).output().unwrap();
        match status.success() {
            true => Ok(String::from_utf8(stdout).unwrap()),
            false => Err(String::from_utf8(stderr).unwrap()),
        }
    }

    /// Returns the lines of a search that follows `first`: the ids that it finds.
    fn search(&self, first: &str, query: &[f64], digest: &str) -> Vec<String> {
        let variables = [
            format!("query={query:?}"),
            format!("digest={digest}"),
            format!("k={K}"),
        ];
        let sql = format!("{first}\n{}", recipe("search.sql"));
        let found = self.psql(&variables.each_ref().map(String::as_str), &sql, None);
        found.unwrap().lines().map(str::to_owned).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        let arguments = ["-D", data.to_str().unwrap(), "-m", "immediate", "stop"];
        self.owned("pg_ctl", &arguments).ok();
    }
}

/// Asserts that searches find the nearest rows, exactly without an index and, of most, with it.
#[track_caller]
fn assert_nearest(server: &Server, at: &Path, day: &str, digest: &str) {
    let (rows, ids) = (npy(at, day), ids(at, day));
    let place: HashMap<&String, usize> = ids.iter().zip(0..).collect();
    for query in QUERIES.map(|query| &rows[query]) {
        let mut nearest: Vec<f64> = Vec::new();
        for row in &rows {
            nearest.push(cosine_distance(query, row));
        }
        nearest.sort_by(f64::total_cmp);
        // PostgreSQL computes in single precision.
        let limit = nearest[K - 1] + 1e-5;
        let n_near = |settings: &str| {
            let found = server.search(settings, query, digest);
            assert_eq!(found.len(), K);
            let distances = found
                .iter()
                .map(|id| cosine_distance(query, &rows[place[id]]));
            distances.filter(|distance| *distance <= limit).count()
        };
        assert_eq!(n_near("SET enable_indexscan = off;"), K);
        assert!(n_near(&format!("{BY_INDEX} SET hnsw.ef_search = 150;")) >= K - 1);
    }
}

#[test]
fn embeddings_in_postgresql_are_replaced_as_the_book_says() {
    let server = match Server::start() {
        Ok(server) => server,
        Err(reason) => {
            println!("skipped: {reason}");
            return;
        }
    };
    let at = embedded();
    let at = at.path();
    let (of_old, of_new) = (digest(at, "old"), digest(at, "new"));
    let load = |table: &str, digest: &str, csv: &str| {
        let variables = [
            format!("table={table}"),
            "d=8".into(),
            format!("digest={digest}"),
        ];
        let variables = variables.each_ref().map(String::as_str);
        server.psql(&variables, &recipe("load.sql"), Some(&at.join(csv)))
    };
    let switch = |table: &str| {
        let table = format!("table={table}");
        server.psql(&[&table], &recipe("switch.sql"), None).unwrap();
    };
    load("embeddings_0", &of_old, "old.csv").unwrap();
    switch("embeddings_0");
    assert_nearest(&server, at, "old", &of_old);

    // Rows of another encoder leave no table.
    let error = load("embeddings_1", &of_new, "old.csv").unwrap_err();
    assert!(error.contains("violates check constraint"), "{error}");
    load("embeddings_1", &of_new, "new.csv").unwrap();
    let missing = server.psql(&["table=embeddings_1"], &recipe("missing.sql"), None);
    assert_eq!(missing.unwrap(), "0\n");
    let query = &npy(at, "new")[0];
    assert!(server.search("", query, &of_new).is_empty());
    switch("embeddings_1");
    assert_nearest(&server, at, "new", &of_new);
    assert!(server.search("", query, &of_old).is_empty());

    let plan = server.search(&format!("{BY_INDEX} EXPLAIN"), query, &of_new);
    assert!(
        plan.join("\n")
            .contains("Index Scan using embeddings_1_embedding_idx"),
        "{plan:?}"
    );
    assert!(server.psql(&[], "DROP TABLE embeddings_1", None).is_err());
    server.psql(&[], "DROP TABLE embeddings_0", None).unwrap();
    assert_nearest(&server, at, "new", &of_new);
}

/// Runs the Python of the page on stores that its clients hold in the process, and compares searches with a plain
/// double loop. Arguments: the page, the store, the digests of both encoders.
const IN_PROCESS: &str = r#"
import json, re, sys
page, store, of_old, of_new = sys.argv[1:]
try:
    import numpy as np
    if store == "Qdrant":
        from qdrant_client import QdrantClient, models
        client = QdrantClient(":memory:")
        of = models.VectorParams(size=8, distance=models.Distance.COSINE)
        client.create_collection("embeddings_0", vectors_config=of)
        alias = models.CreateAlias(collection_name="embeddings_0", alias_name="embeddings")
        client.update_collection_aliases([models.CreateAliasOperation(create_alias=alias)])
    else:
        import milvus_lite
        from pymilvus import MilvusClient
        client = MilvusClient("./milvus.db")
        client.create_collection("embeddings_0", dimension=8)
        client.create_alias("embeddings_0", "embeddings")
except ImportError as error:
    sys.exit(print(f"skipped: {error}"))
text = open(page, encoding="utf-8").read().split(f"\n## {store}\n")[1].split("\n## ")[0]
replace, search = re.findall(r"```python\n(.*?)```", text, re.S)
replace, n = re.subn(r"\nclient = .*", "", replace)
assert n == 1
found = dict(client=client)
exec(replace, found)
rows, ids = np.load("new.npy").astype(float).tolist(), json.load(open("new.rows.json"))["ids"]
def distance(a, b):
    product = of_a = of_b = 0.0
    for x, y in zip(a, b):
        product, of_a, of_b = product + x * y, of_a + x * x, of_b + y * y
    return 1 - product / (of_a * of_b) ** 0.5
for query in [rows[0], rows[7], rows[120]]:
    limit = sorted(distance(query, row) for row in rows)[9] + 1e-5
    for digest, n in [(of_new, 10), (of_old, 0)]:
        found.update(query=query, digest=digest)
        exec(search.replace("client.", "result = client."), found)
        result = found["result"]
        is_qdrant = store == "Qdrant"
        hits = [hit.id for hit in result.points] if is_qdrant else [ids.index(hit["id"]) for hit in result[0]]
        assert len(hits) == n and all(distance(query, rows[hit]) <= limit for hit in hits), hits
"#;

#[test]
fn embeddings_in_qdrant_and_milvus_are_replaced_as_the_book_says() {
    let at = embedded();
    let at = at.path();
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    for store in ["Qdrant", "Milvus"] {
        let ran = Command::new(&python)
            .args(["-c", IN_PROCESS, PAGE, store])
            .args([digest(at, "old"), digest(at, "new")])
            .current_dir(at)
            .output();
        let Ok(ran) = ran else {
            println!("skipped: there is no python3");
            return;
        };
        print!("{}", String::from_utf8_lossy(&ran.stdout));
        let stderr = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{store}: {stderr}");
    }
}
