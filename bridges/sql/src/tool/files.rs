//! Files named in a query, as tables.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::{TableReference, plan_datafusion_err, plan_err};
use datafusion::datasource::file_format::FileFormat as _;
use datafusion::datasource::listing::{ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::error::{DataFusionError, Result};
use datafusion::prelude::SessionContext;
use futures::TryStreamExt as _;
use glob::Pattern;
use object_store::{ObjectMeta, ObjectStore, ObjectStoreExt as _};
use pilaster::any::{self, BCOLZ_MARKERS, Format};
use pilaster_datafusion::{Dataset, Format as FileFormat, shown};
use url::Url;

use super::args::Reading;

/// Registers a table for each name that no table and no function has yet.
pub async fn register(context: &SessionContext, names: &[TableReference], reading: &Reading) -> Result<()> {
    for name in names {
        let TableReference::Bare { table } = name else { continue };
        // Functions that return tables are named like tables.
        if !context.state().table_functions().contains_key(table.as_ref()) && !context.table_exist(name.clone())? {
            context.register_table(name.clone(), provider(context, table, reading).await?)?;
        }
    }
    Ok(())
}

/// Returns the table of a file, a glob or a directory.
async fn provider(context: &SessionContext, place: &str, reading: &Reading) -> Result<Arc<dyn TableProvider>> {
    let path = Path::new(place);
    if is_dataset(path) {
        return Ok(Arc::new(Dataset::open(path, &reading.options(Format::Bcolz))?));
    }
    let mut within = std::fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    if let Some(dataset) = within.find(|path| is_dataset(path)) {
        return plan_err!("{place:?}: bcolz datasets are a table each, such as '{}'", dataset.display());
    }
    let urls = urls(place)?;
    let Some(url) = urls.first() else { return plan_err!("no table or file is called {place:?}") };
    let path_of = |file: &ObjectMeta| shown(&url.object_store(), &file.location);
    let state = context.state();
    let store = state.runtime_env().object_store(url)?;
    let mut files = Vec::new();
    for url in &urls {
        files.extend(url.list_all_files(&state, store.as_ref(), "").await?.try_collect::<Vec<_>>().await?);
    }
    let (format, extension) = found(&store, place, &files, (reading, &path_of)).await?;
    files.retain(|file| file.location.as_ref().ends_with(&extension));
    for empty in files.iter().filter(|file| file.size == 0) {
        if !reading.skip_damaged {
            return plan_err!("{}: the file has 0 bytes; --skip-damaged leaves out such files", path_of(empty));
        }
        log::warn!("left out: {}: the file has 0 bytes", path_of(empty));
    }
    files.retain(|file| file.size > 0);
    let format = Arc::new(FileFormat::new(reading.options(format)));
    // A table of several paths would have the columns of the first one.
    let schema = format.infer_schema(&state, &store, &files).await?;
    let parts = keys(url, &files)?;
    let ty = DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
    let options = ListingOptions::new(format)
        .with_file_extension(extension)
        .with_table_partition_cols(parts.into_iter().map(|name| (name, ty.clone())).collect());
    let config = ListingTableConfig::new_with_multi_paths(urls).with_listing_options(options).with_schema(schema);
    Ok(Arc::new(ListingTable::try_new(config)?))
}

/// Whether a path is a bcolz dataset.
fn is_dataset(path: &Path) -> bool {
    BCOLZ_MARKERS.iter().any(|marker| path.join(marker).exists())
}

/// Returns the keys of the directories `key=value` that files are in, below a directory. All files have the same ones:
/// DataFusion leaves out others.
fn keys(url: &ListingTableUrl, files: &[ObjectMeta]) -> Result<Vec<String>> {
    let mut known: Option<(&ObjectMeta, Vec<String>)> = None;
    for file in files {
        let mut directories: Vec<_> = url.strip_prefix(&file.location).into_iter().flatten().collect();
        directories.pop();
        let keys: Vec<_> = directories
            .iter()
            .map_while(|directory| directory.split_once('='))
            .map(|(key, _)| key.to_owned())
            .collect();
        match &known {
            Some((first, wanted)) if *wanted != keys => {
                return plan_err!(
                    "{}: the file is in directories of the columns [{}], and {} in those of [{}]",
                    shown(&url.object_store(), &file.location),
                    keys.join(", "),
                    shown(&url.object_store(), &first.location),
                    wanted.join(", ")
                );
            }
            Some(_) => {}
            None => known = Some((file, keys)),
        }
    }
    Ok(known.map(|(_, keys)| keys).unwrap_or_default())
}

/// Returns the files and directories that a name in a query means.
fn urls(place: &str) -> Result<Vec<ListingTableUrl>> {
    if let Some(url) = remote(place)? {
        return Ok(vec![url]);
    }
    let path = Path::new(place);
    if path.metadata().is_ok_and(|meta| !meta.is_file() && !meta.is_dir()) {
        return plan_err!("{place:?} is not a file and not a directory");
    }
    let paths = match path.exists() {
        true => vec![path.to_owned()],
        false => {
            let matching =
                glob::glob(place).map_err(|e| plan_datafusion_err!("{place:?} is no pattern of paths: {e}"))?;
            let paths = matching.filter(|path| path.as_ref().map_or(true, |path| path.is_file()));
            paths.collect::<Result<_, _>>().map_err(|e| DataFusionError::IoError(e.into()))?
        }
    };
    let url = |path: PathBuf| {
        // A path of a store has no `..`.
        let upward = path.components().any(|part| part == Component::ParentDir);
        let path = if upward { path.canonicalize()? } else { std::path::absolute(path)? };
        let url = if path.is_dir() { Url::from_directory_path(&path) } else { Url::from_file_path(&path) };
        ListingTableUrl::try_new(url.map_err(|()| plan_datafusion_err!("{}: no path of a file", path.display()))?, None)
    };
    paths.into_iter().map(url).collect()
}

/// Returns the URL of files of a server, with the pattern of their paths if it is one.
fn remote(place: &str) -> Result<Option<ListingTableUrl>> {
    let scheme = place.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    let Some(scheme) = scheme.filter(|scheme| REMOTE.contains(&scheme.as_str())) else { return Ok(None) };
    if place.contains(['?', '#']) {
        return plan_err!("{place:?}: a URL of files has neither '?' nor '#'; patterns have '*' and '[…]' only");
    }
    // A server may have an address in brackets, so that patterns begin after it.
    let server = scheme.len().saturating_add("://".len());
    let path = place.get(server..).and_then(|rest| rest.find('/')).map(|at| server.saturating_add(at));
    let special = path.and_then(|path| Some(path.saturating_add(place.get(path..)?.find(['*', '['])?)));
    let (fixed, pattern) = match special.and_then(|at| place.get(..at)?.rfind('/')) {
        Some(cut) => {
            let (fixed, pattern) = place.split_at(cut.saturating_add(1));
            if pattern.contains('=') {
                // DataFusion matches the rest of the path only.
                return plan_err!(
                    "{place:?}: patterns of URLs leave out directories such as day=1/, so that none can have '='"
                );
            }
            let pattern = Pattern::new(pattern);
            (fixed, Some(pattern.map_err(|e| plan_datafusion_err!("{place:?} is no pattern of paths: {e}"))?))
        }
        None => (place, None),
    };
    let url = Url::parse(fixed).map_err(|e| plan_datafusion_err!("{place:?} is no URL: {e}"))?;
    super::stores::without_user(&url)?;
    // DataFusion keeps lists of files by table and path, not by server.
    let table = TableReference::bare(place);
    ListingTableUrl::try_new(url, pattern).map(|url| Some(url.with_table_ref(table)))
}

/// The schemes of URLs of servers.
const REMOTE: [&str; 3] = ["http", "https", "s3"];

/// Returns the format of files, and the end of their names. Files with extensions of no format are left out if others have one.
async fn found(
    store: &Arc<dyn ObjectStore>,
    place: &str,
    files: &[ObjectMeta],
    (reading, path_of): (&Reading, &(dyn Fn(&ObjectMeta) -> String + Sync)),
) -> Result<(Format, String)> {
    let mut known = BTreeMap::new();
    for file in files {
        let extension = file.location.extension().unwrap_or_default();
        if let Some(format) = by_extension(extension) {
            known.insert(extension.to_owned(), format);
        }
    }
    if known.len() > 1 {
        let all: Vec<_> = known.into_keys().collect();
        return plan_err!(
            "{place:?} has files of several formats, .{}: a pattern that ends in one of these selects its files, and CREATE EXTERNAL \
             TABLE … STORED AS … LOCATION does so in a directory",
            all.join(", .")
        );
    }
    match (known.pop_first(), files.first()) {
        (Some((extension, format)), _) => Ok((format, format!(".{extension}"))),
        (None, Some(file)) => {
            let format = by_content(store, file, reading).await;
            Ok((format.map_err(|e| plan_datafusion_err!("{}: {}", path_of(file), e.strip_backtrace()))?, String::new()))
        }
        _ => plan_err!("{place:?} has no files"),
    }
}

/// Returns the format of files with an extension.
pub fn by_extension(extension: &str) -> Option<Format> {
    match extension.to_ascii_lowercase().as_str() {
        "ds" | "dataseries" => Some(Format::DataSeries),
        "jay" => Some(Format::Jay),
        "vortex" | "vtx" => Some(Format::Vortex),
        "filo" => Some(Format::Filo),
        _ => None,
    }
}

async fn by_content(store: &Arc<dyn ObjectStore>, file: &ObjectMeta, reading: &Reading) -> Result<Format> {
    let (path, len) = (&file.location, file.size);
    let (first, last) = match len {
        0 => Default::default(),
        _ => (store.get_range(path, 0..len.min(16)).await?, store.get_range(path, len.saturating_sub(4)..len).await?),
    };
    match any::detect_ends(&first, &last, len, path.filename()) {
        Ok(Format::Bcolz) => plan_err!("a single Blosc chunk is not a table; its dataset is a directory"),
        Ok(format) => Ok(format),
        Err(_) if reading.element.is_some() => Ok(Format::Filo),
        Err(e) => plan_err!(
            "unknown format: {e}; DataSeries, Jay, Vortex, Filo and bcolz are read, CSV, JSON and Arrow by CREATE EXTERNAL TABLE, \
             and others by pilaster convert"
        ),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_urls() {
        for (place, fixed, pattern) in [
            ("https://a.org/logs/*.ds", "https://a.org/logs/", Some("*.ds")),
            ("http://[::1]:8000/*.ds", "http://[::1]:8000/", Some("*.ds")),
            ("http://[::1]/logs/a[12].ds", "http://[::1]/logs/", Some("a[12].ds")),
            ("http://[::1]:8000/a.ds", "http://[::1]:8000/a.ds", None),
            ("s3://logs/", "s3://logs/", None),
            ("s3://logs/*/a.ds", "s3://logs/", Some("*/a.ds")),
        ] {
            let url = remote(place).unwrap().unwrap();
            assert_eq!(url.as_str(), fixed, "{place}");
            assert_eq!(url.get_glob().as_ref().map(Pattern::as_str), pattern, "{place}");
        }
        assert!(remote("logs/*.ds").unwrap().is_none());
        assert!(remote("http://a.org/day=1/*.ds").unwrap().is_some());
        assert!(remote("http://a.org/*/day=1/a.ds").is_err());
    }
}
