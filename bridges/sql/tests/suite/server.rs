//! A server of files on loopback, as a server of HTTP or of S3: it answers ranges, counts requests, fails some, and cuts some short.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A fault of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    #[default]
    None,
    /// Each request of this number, and its multiples, is answered by 503.
    Busy(usize),
    /// Every request is answered by 503.
    Down,
    /// The connection ends in the middle of each answer of this number, and its multiples.
    Cut(usize),
    /// Each answer has a byte less, and says so.
    Less,
    /// Ranges are not known: answers have all bytes of a file.
    Whole,
}

#[derive(Default)]
struct State {
    files: Mutex<BTreeMap<String, Arc<Vec<u8>>>>,
    fault: Mutex<Fault>,
    /// Whether answers tell the version of a file.
    versions: bool,
    reads: AtomicUsize,
    bytes: AtomicUsize,
    lists: AtomicUsize,
}

/// The server, whose threads end with the process.
pub struct Server {
    pub address: SocketAddr,
    state: Arc<State>,
}

impl Server {
    /// Starts a server, which tells the versions of files or not.
    pub fn start(versions: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let state = Arc::new(State { versions, ..State::default() });
        let (address, shared) = (listener.local_addr().unwrap(), Arc::clone(&state));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                thread::spawn(move || serve(&state, &stream));
            }
        });
        Server { address, state }
    }

    pub fn put(&self, path: &str, bytes: Vec<u8>) {
        self.state.files.lock().unwrap().insert(path.to_owned(), Arc::new(bytes));
    }

    pub fn fault(&self, fault: Fault) {
        *self.state.fault.lock().unwrap() = fault;
    }

    /// The number of requests for bytes since the last call, and the number of bytes.
    pub fn taken(&self) -> (usize, usize) {
        (self.state.reads.swap(0, Ordering::Relaxed), self.state.bytes.swap(0, Ordering::Relaxed))
    }

    /// The number of requests for names.
    #[cfg(feature = "tool")]
    pub fn lists(&self) -> usize {
        self.state.lists.swap(0, Ordering::Relaxed)
    }
}

/// Answers the requests of a connection, until it ends.
fn serve(state: &State, stream: &TcpStream) {
    // Each answer is two writes. The second one would wait.
    stream.set_nodelay(true).unwrap();
    let mut reader = BufReader::new(stream);
    while let Ok(Some((method, path, range))) = request(&mut reader) {
        match answer(state, stream, (&method, &path), range) {
            Ok(true) => {}
            _ => return,
        }
    }
}

/// The method, the path and the range of a request.
type Asked = (String, String, Option<(usize, usize)>);

fn request(reader: &mut BufReader<&TcpStream>) -> io::Result<Option<Asked>> {
    let (mut first, mut range) = (String::new(), None);
    if reader.read_line(&mut first)? == 0 {
        return Ok(None);
    }
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some((start, last)) = line.strip_prefix("range: bytes=").and_then(|range| range.split_once('-')) {
            range = Some((start.parse().unwrap(), last.parse::<usize>().unwrap() + 1));
        }
    }
    let mut words = first.split_whitespace();
    // S3 writes it in another way.
    let plain = |path: &str| path.replace("%3D", "=").replace("%2F", "/");
    Ok(Some((words.next().unwrap().to_owned(), plain(words.next().unwrap()), range)))
}

/// Answers a request. Returns whether the connection is still useful.
fn answer(
    state: &State,
    mut stream: &TcpStream,
    (method, path): (&str, &str),
    range: Option<(usize, usize)>,
) -> io::Result<bool> {
    let fault = *state.fault.lock().unwrap();
    let mut simple = |status: &str, body: &str| {
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}", body.len()).map(|()| true)
    };
    if let Some((bucket, query)) = path.split_once('?') {
        state.lists.fetch_add(1, Ordering::Relaxed);
        return simple("200 OK", &list(state, bucket, query));
    }
    let found = state.files.lock().unwrap().get(path).cloned();
    let Some(bytes) = found else { return simple("404 Not Found", if method == "HEAD" { "" } else { "no such file" }) };
    let version = if state.versions { format!("ETag: \"{}\"\r\n", bytes.len()) } else { String::new() };
    let facts = format!("Last-Modified: Thu, 26 Nov 2026 00:00:00 GMT\r\n{version}");
    if method == "HEAD" {
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n{facts}\r\n", bytes.len())?;
        return Ok(true);
    }
    let number = state.reads.fetch_add(1, Ordering::Relaxed) + 1;
    if fault == Fault::Down || matches!(fault, Fault::Busy(every) if number.is_multiple_of(every)) {
        return simple("503 Service Unavailable", "the server is down");
    }
    let (start, mut end) = range.filter(|_| fault != Fault::Whole).unwrap_or((0, bytes.len()));
    end = end.min(bytes.len());
    let status = if range.is_none() || fault == Fault::Whole { "200 OK" } else { "206 Partial Content" };
    if fault == Fault::Less {
        end -= 1;
    }
    let (len, last, all) = (end - start, end - 1, bytes.len());
    let head = format!("HTTP/1.1 {status}\r\nContent-Length: {len}\r\nContent-Range: bytes {start}-{last}/{all}\r\n");
    let cut = matches!(fault, Fault::Cut(every) if number.is_multiple_of(every));
    let body = if cut { &bytes[start..start + len / 2] } else { &bytes[start..end] };
    state.bytes.fetch_add(body.len(), Ordering::Relaxed);
    stream.write_all(format!("{head}{facts}\r\n").as_bytes())?;
    stream.write_all(body)?;
    Ok(!cut)
}

/// The names of a bucket that begin with the prefix of a query, as S3 lists them.
fn list(state: &State, bucket: &str, query: &str) -> String {
    let prefix = query.split('&').find_map(|pair| pair.strip_prefix("prefix=")).unwrap_or_default();
    let bucket = format!("{}/", bucket.trim_end_matches('/'));
    let files = state.files.lock().unwrap();
    let keys = files.iter().filter_map(|(path, bytes)| Some((path.strip_prefix(&bucket)?, bytes.len())));
    let entries: String = keys
        .filter(|(key, _)| key.starts_with(prefix))
        .map(|(key, len)| {
            format!(
                "<Contents><Key>{key}</Key><LastModified>2026-11-26T00:00:00.000Z</LastModified><Size>{len}</Size>\
                 <ETag>\"{len}\"</ETag></Contents>"
            )
        })
        .collect();
    format!("<ListBucketResult><IsTruncated>false</IsTruncated>{entries}</ListBucketResult>")
}
