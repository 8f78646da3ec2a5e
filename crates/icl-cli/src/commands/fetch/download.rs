//! Download of one file: by https alone, within limits of time and size.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use icl_core::{PartialFolder, one_line};
use icl_data::Found;
use icl_data::catalogue::{CatalogueFile, CatalogueKind};
use ureq::{Agent, Body, Error};

use crate::process::failure::Failure;
use crate::process::interrupt;
use crate::process::interrupt::Interruptible;
use crate::process::terminal::tell;

/// Times after which a server is given up.
pub struct Patience {
    /// Longest time until a connection is established, and until an address is known.
    pub connection: Duration,
    /// Longest silence of the server, and longest time until its answer begins.
    pub silence: Duration,
    /// Longest time of a whole download.
    pub whole: Duration,
}

impl Default for Patience {
    /// Returns half a minute for a connection, a minute of silence and an hour for a file: the largest of the catalogue
    /// arrives in time at 50 kB/s.
    fn default() -> Self {
        Self {
            connection: Duration::from_secs(30),
            silence: Duration::from_secs(60),
            whole: Duration::from_secs(3600),
        }
    }
}

impl Patience {
    /// Returns an agent that follows https alone, also from one address to another.
    pub fn agent(&self) -> Agent {
        self.config().new_agent()
    }

    fn config(&self) -> ureq::config::Config {
        Agent::config_builder()
            .https_only(true)
            .timeout_resolve(Some(self.connection))
            .timeout_connect(Some(self.connection))
            .timeout_recv_response(Some(self.silence))
            .timeout_per_read(Some(self.silence))
            .timeout_per_write(Some(self.silence))
            .timeout_global(Some(self.whole))
            .build()
    }
}

/// Downloads a file, checks it and gives it its name; `missing` says what to do if that fails.
///
/// # Errors
/// If the server does not answer in time or not with the file, or the file cannot be written.
pub fn download(
    agent: &Agent,
    file: &CatalogueFile,
    url: &str,
    path: &Path,
    kind: CatalogueKind,
    missing: &dyn Fn() -> String,
) -> Result<(), Failure> {
    tell(format_args!("{url}"));
    let unwritable = |error: io::Error| Failure::file(path, "cannot be written", error);
    let failed = |why: String| {
        if interrupt::requested() {
            return Failure::Interrupted(anyhow!("{url}: stopped; nothing was written"));
        }
        Failure::Other(anyhow!("{url}: {why}; {}", missing()))
    };
    let partial = PartialFolder::begin(PartialFolder::next_to(path)).map_err(unwritable)?;
    let unfinished = partial.results().join(path.file_name().unwrap_or_default());
    let mut part = File::create_new(&unfinished).map_err(unwritable)?;
    let answer = agent.get(url).call();
    let mut answer = answer.map_err(|error| failed(in_our_words(&error)))?;
    let mut body = Contents::of(answer.body_mut(), file).map_err(failed)?;
    while let Some(bytes) = body.next().map_err(failed)? {
        part.write_all(bytes).map_err(unwritable)?;
    }
    let mut checked = file.verify(&unfinished);
    // Not all sums are known: reading the graphs finds a damaged file without one.
    if checked.is_ok() && kind == CatalogueKind::Graphs {
        checked = icl_data::read_tu(&unfinished).map(drop);
    }
    checked.map_err(|error| failed(error.to_string()))?;
    part.sync_all()
        .and_then(|()| std::fs::rename(&unfinished, path))
        .map_err(unwritable)
}

/// Body of an answer, of at most as many bytes as the file has.
struct Contents<'a> {
    reader: Interruptible<ureq::BodyReader<'a>>,
    buffer: Vec<u8>,
    n_read: u64,
    limit: u64,
}

impl<'a> Contents<'a> {
    fn of(body: &'a mut Body, file: &CatalogueFile) -> Result<Self, String> {
        let limit = file.max_bytes();
        match body.content_length() {
            Some(found) if found > limit => Err(format!("found {found} bytes, {}", expected(file))),
            _ => Ok(Self {
                reader: Interruptible(body.as_reader()),
                buffer: vec![0; 1 << 16],
                n_read: 0,
                limit,
            }),
        }
    }

    /// Returns the next part, or `None` at the end.
    fn next(&mut self) -> Result<Option<&[u8]>, String> {
        let n_read = loop {
            match self.reader.read(&mut self.buffer) {
                // A signal: if it requests to stop, the next read fails.
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(in_our_words(&Error::from(error))),
                Ok(n_read) => break n_read,
            }
        };
        self.n_read += n_read as u64;
        if self.n_read > self.limit {
            return Err(format!(
                "found more than {} bytes, expected no more",
                self.limit
            ));
        }
        Ok((n_read > 0).then_some(&self.buffer[..n_read]))
    }
}

fn expected(file: &CatalogueFile) -> String {
    match file.n_bytes {
        Some(n_bytes) => format!("expected {n_bytes}"),
        None => format!("expected at most {}", file.max_bytes()),
    }
}

/// Returns what went wrong in a sentence, however long the server's words are.
fn in_our_words(error: &Error) -> String {
    match error {
        Error::RequireHttpsOnly(address) => {
            format!(
                "found a redirection to {}, expected https",
                Found::new(address)
            )
        }
        Error::Timeout(what) => format!("cannot be downloaded (no answer in time: {what})"),
        error => {
            let text: String = one_line(&error.to_string()).chars().take(200).collect();
            format!("cannot be downloaded ({text})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;
    use ureq::unversioned::resolver::DefaultResolver;
    use ureq::unversioned::transport::{
        Buffers, ConnectionDetails, Connector, NextTimeout, TcpConnector, Transport,
    };

    const FOX: &str = "The quick brown fox jumps over the lazy dog";

    fn fox() -> CatalogueFile {
        CatalogueFile {
            url: "",
            name: "fox.txt",
            n_bytes: Some(43),
            md5: Some("9e107d9d372bb6826bd81d3542a419d6"),
            tables_md5: None,
            is_tar_gz: false,
        }
    }

    /// A connection that says of itself that it is safe, so that a server of the test needs no certificate.
    #[derive(Debug)]
    struct Trusted<T>(T);

    impl<T: Transport> Transport for Trusted<T> {
        fn buffers(&mut self) -> &mut dyn Buffers {
            self.0.buffers()
        }

        fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
            self.0.transmit_output(amount, timeout)
        }

        fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
            self.0.await_input(timeout)
        }

        fn is_open(&mut self) -> bool {
            self.0.is_open()
        }

        fn is_tls(&self) -> bool {
            true
        }
    }

    /// Makes plain connections that are called safe.
    #[derive(Debug)]
    struct TrustingConnector;

    impl Connector for TrustingConnector {
        type Out = Box<dyn Transport>;

        fn connect(
            &self,
            details: &ConnectionDetails<'_>,
            _: Option<()>,
        ) -> Result<Option<Self::Out>, Error> {
            let connected = TcpConnector::default().connect(details, None::<()>)?;
            Ok(connected.map(|transport| Box::new(Trusted(transport)) as Box<dyn Transport>))
        }
    }

    /// The agent of the program, but for its certificates and with less patience.
    fn agent() -> Agent {
        let patience = Patience {
            connection: Duration::from_secs(20),
            silence: Duration::from_millis(300),
            whole: Duration::from_secs(20),
        };
        Agent::with_parts(
            patience.config(),
            TrustingConnector,
            DefaultResolver::default(),
        )
    }

    /// Starts a server that sends an answer to one request and then is silent until the client goes; its address.
    fn serve(answer: String) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = [0; 4096];
            let _ = stream.read(&mut request);
            // The client may have gone before all is sent.
            let _ = stream.write_all(answer.as_bytes());
            while stream.read(&mut request).is_ok_and(|n_read| n_read > 0) {}
        });
        format!("https://{address}/fox.txt")
    }

    /// Starts a server that sends a body with its length; its address.
    fn serve_body(status: &str, body: &str) -> String {
        let length = body.len();
        serve(format!(
            "HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}"
        ))
    }

    fn names(folder: &Path) -> usize {
        std::fs::read_dir(folder).unwrap().count()
    }

    /// Downloads the file.
    fn fetch(
        url: &str,
        file: &CatalogueFile,
        path: &Path,
        kind: CatalogueKind,
    ) -> Result<(), Failure> {
        download(&agent(), file, url, path, kind, &|| {
            "do it by hand".to_owned()
        })
    }

    /// Checks that the file is refused in one sentence with these words, and that nothing is left.
    fn refused(url: &str, file: &CatalogueFile, kind: CatalogueKind, words: &str) {
        let at = tempfile::tempdir().unwrap();
        let error = fetch(url, file, &at.path().join("fox.txt"), kind).unwrap_err();
        assert!(matches!(error, Failure::Other(_)), "{error}");
        let error = error.to_string();
        assert!(error.contains(words), "{error}");
        assert!(
            error.starts_with(url) && error.ends_with("; do it by hand"),
            "{error}"
        );
        assert!(
            error.chars().count() < 500 && !error.contains(char::is_control),
            "{error}"
        );
        assert_eq!(names(at.path()), 0);
    }

    #[test]
    fn a_file_is_whole_or_not_there() {
        let (images, graphs) = (CatalogueKind::Images, CatalogueKind::Graphs);
        let lazy_cat = "The quick brown fox jumps over the lazy cat";
        for (status, body, kind, words) in [
            (
                "200 OK",
                "The quick brown fox",
                images,
                "found 19 bytes, expected 43",
            ),
            ("200 OK", lazy_cat, images, "found contents of MD5 sum"),
            ("200 OK", FOX, graphs, "zip archive"),
            (
                "404 Not Found",
                "",
                images,
                "cannot be downloaded (http status: 404)",
            ),
        ] {
            refused(&serve_body(status, body), &fox(), kind, words);
        }
        let at = tempfile::tempdir().unwrap();
        let path = at.path().join("fox.txt");
        fetch(&serve_body("200 OK", FOX), &fox(), &path, images).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), FOX);
        assert_eq!(names(at.path()), 1);
    }

    #[test]
    fn a_server_that_is_silent_is_given_up() {
        let images = CatalogueKind::Images;
        let words = "cannot be downloaded (no answer in time: ";
        refused(&serve(String::new()), &fox(), images, words);
        let half = "HTTP/1.1 200 OK\r\nContent-Length: 43\r\n\r\nThe quick";
        refused(&serve(half.to_owned()), &fox(), images, words);
    }

    #[test]
    fn more_than_the_file_is_not_read() {
        let images = CatalogueKind::Images;
        let long = format!("{FOX}{FOX}");
        let words = "found 86 bytes, expected 43";
        refused(&serve_body("200 OK", &long), &fox(), images, words);
        // Without a length in advance.
        let chunk = format!("{:x}\r\n{long}\r\n", long.len());
        let chunked = format!(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}",
            chunk.repeat(3)
        );
        let words = "found more than 43 bytes, expected no more";
        refused(&serve(chunked), &fox(), images, words);
        // A file whose length is not known.
        let unknown = CatalogueFile {
            n_bytes: None,
            md5: None,
            ..fox()
        };
        let endless = "HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n".to_owned();
        let words = "found 67108865 bytes, expected at most 67108864";
        refused(&serve(endless), &unknown, images, words);
    }

    #[test]
    fn a_server_that_goes_half_way_is_told_from_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}/fox.txt", listener.local_addr().unwrap());
        thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 43\r\n\r\nThe quick");
        });
        refused(
            &url,
            &fox(),
            CatalogueKind::Images,
            "cannot be downloaded (",
        );
    }

    #[test]
    fn no_address_but_https_is_followed() {
        let images = CatalogueKind::Images;
        // Nothing would answer there: it is refused before a request is sent.
        let to = format!("http://127.0.0.1:9/{}", "long".repeat(1000));
        let answer = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        let words = "found a redirection to \"http://127.0.0.1:9/longlong";
        refused(&serve(answer), &fox(), images, words);
        let plain = serve_body("200 OK", FOX).replace("https", "http");
        refused(&plain, &fox(), images, "expected https");
    }

    #[test]
    fn without_a_server_it_says_what_to_do() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let url = format!("https://127.0.0.1:{port}/fox.txt");
        refused(
            &url,
            &fox(),
            CatalogueKind::Images,
            "cannot be downloaded (",
        );
    }

    #[test]
    fn a_set_of_graphs_is_known_by_its_tables() {
        let tables = CatalogueFile {
            n_bytes: None,
            md5: None,
            tables_md5: Some("86f16163884fab8899afb3e7db288402"),
            ..fox()
        };
        let url = serve_body("200 OK", FOX);
        refused(&url, &tables, CatalogueKind::Graphs, "zip archive");
    }
}
