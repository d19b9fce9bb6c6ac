//! A store of a server, whose errors name its URL and what helps.

use std::fmt;
use std::iter;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{BoxStream, StreamExt as _};
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, RenameOptions, Result,
};

/// A store of a server.
#[derive(Debug)]
pub struct Named {
    store: Arc<dyn ObjectStore>,
    /// The URL, without a slash at the end.
    url: Arc<str>,
}

impl Named {
    /// Gives a store the name of its URL.
    pub fn new(store: impl ObjectStore, url: &str) -> Self {
        Named { store: Arc::new(store), url: url.trim_end_matches('/').into() }
    }

    /// Returns how errors call a directory, or the store.
    fn place(&self, prefix: Option<&Path>) -> String {
        prefix.map_or_else(|| self.to_string(), |prefix| format!("{self}/{prefix}"))
    }
}

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.url)
    }
}

/// Returns an error for people. Those that callers tell from each other stay as they are.
fn renamed(e: Error, place: &str) -> Error {
    let text = match e {
        Error::Generic { source, .. } => with_cause(shortened(&source.to_string()), &*source),
        Error::NotSupported { .. } => {
            "the server does not answer ranges of bytes, which queries need; download the file, \
                                       or serve it by a server that does"
                .to_owned()
        }
        Error::Unauthenticated { source, .. } => format!(
            "the server asks for credentials; S3 takes them from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY: {}",
            shortened(&source.to_string())
        ),
        Error::PermissionDenied { source, .. } => {
            format!("the server denies access: {}", shortened(&source.to_string()))
        }
        other => return other,
    };
    let text = if place.is_empty() { text } else { format!("{place}: {text}") };
    Error::Generic { store: "server", source: text.into() }
}

/// Returns a text with the first cause of an error, such as a refused connection or a name that is unknown.
fn with_cause(text: String, e: &(dyn std::error::Error + 'static)) -> String {
    let cause = iter::successors(e.source(), |e| e.source()).last().map(ToString::to_string);
    match cause.filter(|cause| !text.contains(&**cause)) {
        // Other errors are explained already.
        Some(cause) if text.ends_with("error sending request") || text.ends_with("builder error") => {
            format!("{text}: {cause}")
        }
        _ => text,
    }
}

/// Returns the text of an element of XML.
fn element<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}

/// Maximum number of bytes of what a server says.
const MOST: usize = 300;

/// Returns the text of an error of a connection: servers send pages of HTML with it, and S3 sends XML.
fn shortened(text: &str) -> String {
    let (before, body) = text.split_at(text.find('<').unwrap_or(text.len()));
    let before = before.trim_end_matches([' ', ':', '\n']);
    let reason = (element(body, "Code"), element(body, "Message").map(|text| text.get(..MOST).unwrap_or(text)));
    let text = match reason {
        (Some(code), Some(message)) => format!("{before}: {code}: {message}"),
        (Some(only), None) | (None, Some(only)) => format!("{before}: {only}"),
        (None, None) => before.to_owned(),
    };
    let unknown = ["405", "501"].iter().any(|status| text.contains(&format!("status code: {status}")));
    if text.contains("PROPFIND") && unknown {
        return "the server has no such file, and it does not list directories; name the files".to_owned();
    }
    // The address that machines of this provider ask for their credentials.
    if text.contains("169.254.169.254") || text.contains("fd00:ec2::254") {
        return "no credentials are found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for public \
                files"
            .to_owned();
    }
    text
}

#[async_trait]
impl ObjectStore for Named {
    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.store.put_opts(location, payload, options).await.map_err(|e| renamed(e, ""))
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(location, options).await.map_err(|e| renamed(e, ""))
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        // Readers of ranges add the path.
        let place = if options.head { format!("{self}/{location}") } else { String::new() };
        self.store.get_opts(location, options).await.map_err(|e| renamed(e, &place))
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        self.store.get_ranges(location, ranges).await.map_err(|e| renamed(e, &format!("{self}/{location}")))
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        let url = Arc::clone(&self.url);
        self.store.delete_stream(locations).map(move |done| done.map_err(|e| renamed(e, &url))).boxed()
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        let place = self.place(prefix);
        self.store.list(prefix).map(move |found| found.map_err(|e| renamed(e, &place))).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        let place = self.place(prefix);
        self.store.list_with_delimiter(prefix).await.map_err(|e| renamed(e, &place))
    }

    fn list_with_offset(&self, prefix: Option<&Path>, offset: &Path) -> BoxStream<'static, Result<ObjectMeta>> {
        let place = self.place(prefix);
        self.store.list_with_offset(prefix, offset).map(move |found| found.map_err(|e| renamed(e, &place))).boxed()
    }

    async fn rename_opts(&self, from: &Path, to: &Path, options: RenameOptions) -> Result<()> {
        self.store.rename_opts(from, to, options).await.map_err(|e| renamed(e, &format!("{self}/{from}")))
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.store.copy_opts(from, to, options).await.map_err(|e| renamed(e, &format!("{self}/{from}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_servers_are_short() {
        let generic = |text: &str| Error::Generic { store: "HTTP", source: text.to_owned().into() };
        for (e, wanted) in [
            (
                generic(
                    "Error performing PROPFIND http://a/b in 1s - Server returned non-2xx status code: 501 Not Implemented: <!DOCTYPE",
                ),
                "http://a/b: the server has no such file, and it does not list directories; name the files",
            ),
            (
                generic("Error performing PUT http://169.254.169.254/latest/api/token in 2ms - Server returned"),
                "http://a/b: no credentials are found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
                 AWS_SKIP_SIGNATURE=true for public files",
            ),
            (generic("status code: 503 Busy: <html>"), "http://a/b: status code: 503 Busy"),
            (
                generic("PROPFIND http://a/b - status code: 503 Busy: <html>"),
                "http://a/b: PROPFIND http://a/b - status code: 503 Busy",
            ),
            (
                generic(
                    "status code: 400 Bad Request: <?xml?><Error><Code>AuthorizationHeaderMalformed</Code><Message>expecting 'eu-west-1'</Message></Error>",
                ),
                "http://a/b: status code: 400 Bad Request: AuthorizationHeaderMalformed: expecting 'eu-west-1'",
            ),
            (
                Error::PermissionDenied {
                    path: "b".to_owned(),
                    source: "403 Forbidden: <Error><Code>SignatureDoesNotMatch</Code></Error>".into(),
                },
                "http://a/b: the server denies access: 403 Forbidden: SignatureDoesNotMatch",
            ),
            (generic("a connection ended"), "http://a/b: a connection ended"),
        ] {
            assert_eq!(renamed(e, "http://a/b").to_string(), format!("Generic server error: {wanted}"));
        }
        let missing = Error::NotFound { path: "b".to_owned(), source: "404".into() };
        assert!(matches!(renamed(missing, "http://a/b"), Error::NotFound { .. }));
    }
}
