//! bcolz datasets in memory: any compression of the chunks, any length of them. The length that a chunk states, and
//! the sums of zlib streams, are mended.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use arbitrary::{Arbitrary, Result, Unstructured};
use pilaster::any::File;
use pilaster::bcolz::chunk::Params;
use pilaster::bcolz::write::{Builder, WriteOptions};
use pilaster::bytes::Scratch;
use pilaster::column::{Once, Prim, Type, convert};

use super::bend::{Bend, bend};
use super::rows::{Rows, Wanted};
use super::{Reach, bends, mend_zlib, same};
use crate::harness::bcolz_dataset::{Files, ROOT, Written, check as check_files, opened};
use crate::harness::cell::Cell;
use crate::harness::{any_file, bcolz_chunk};

const WANTED: Wanted = Wanted {
    types: &[
        Type::Bool,
        Type::Prim(Prim::U8),
        Type::Prim(Prim::I8),
        Type::Prim(Prim::I16),
        Type::Prim(Prim::I32),
        Type::Prim(Prim::I64),
        Type::Prim(Prim::F32),
        Type::Prim(Prim::F64),
        Type::Utf8,
    ],
    nulls: false,
    sentinels: false,
};

/// Sizes of the header of a file and of the header of the chunk that follows; the offset of the length of the chunk.
const FILE_HEADER: usize = 16;
const CHUNK_HEADER: usize = 16;
const LENGTH_AT: usize = FILE_HEADER + 12;

/// A dataset to be.
#[derive(Clone, Debug)]
pub struct Made {
    pub rows: Rows,
    params: Params,
    chunklen: u8,
    /// Changes of files: which, and whether the file is mended.
    bends: Vec<(u8, bool, Vec<Bend>)>,
    /// A file that is not there.
    lost: Option<u8>,
}

impl<'a> Arbitrary<'a> for Made {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let bends = (0..u.int_in_range(0..=3)?).map(|_| Ok((u8::arbitrary(u)?, u.ratio(7, 8)?, bends(u)?)));
        let bends = bends.collect::<Result<_>>()?;
        let lost = if u.ratio(1, 16)? { Some(u8::arbitrary(u)?) } else { None };
        let (level, blocksize) = (u.int_in_range(0..=9)?, u.arbitrary::<Option<u8>>()?);
        let params = Params { level, blocksize: blocksize.map(|size| 1 + u32::from(size) * 16), ..u.arbitrary()? };
        Ok(Made { bends, lost, params, chunklen: u.arbitrary()?, rows: Rows::arbitrary(u, &WANTED)? })
    }
}

impl Made {
    /// The files as the library writes them.
    pub fn plain(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let to = Written::default();
        let chunklen = Some(u64::from(self.chunklen).max(1));
        let options = WriteOptions { params: self.params, chunklen, ..WriteOptions::DEFAULT };
        let mut builder = Builder::create(to.clone(), Path::new(ROOT), &options);
        convert(&mut Once::new(&self.rows), &mut builder, &mut Scratch::new(&mut [])).expect("rows of the types");
        builder.finish().expect("a disk in memory");
        to.0.take().0
    }

    /// The files, bent.
    pub fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut files = self.plain();
        let count = files.len().max(1);
        for (k, mended, bends) in &self.bends {
            let Some((path, bytes)) = files.iter_mut().nth(usize::from(*k) % count) else { continue };
            let is_chunk = path.extension().is_some_and(|extension| extension == "blp");
            bend(bytes, bends, if is_chunk { &[0, FILE_HEADER, FILE_HEADER + CHUNK_HEADER] } else { &[0] });
            if is_chunk && *mended && bytes.len() >= LENGTH_AT + 4 {
                let len = (bytes.len() - FILE_HEADER) as u32;
                bytes[LENGTH_AT..LENGTH_AT + 4].copy_from_slice(&len.to_le_bytes());
                mend_zlib(bytes);
            }
        }
        if let Some(lost) = self.lost {
            let path = files.keys().nth(usize::from(lost) % count).cloned();
            path.and_then(|path| files.remove(&path));
        }
        files
    }
}

/// A format of fixed sizes: texts of spaces stay, and only NUL ends them.
fn like(_: Cell<'_>, _: Cell<'_>) -> bool {
    false
}

/// Reads a dataset in all ways, and its chunks on their own. One that is not bent has the rows that were written.
pub fn check(made: &Made) -> Reach {
    let (files, plain) = (made.files(), made.plain());
    for bytes in files.iter().filter(|(path, _)| path.extension().is_some_and(|end| end == "blp")).map(|(_, b)| b) {
        bcolz_chunk::read(bytes.get(FILE_HEADER..).unwrap_or_default());
    }
    let (bent, files) = (files != plain, Files(files));
    let dataset = opened(&files);
    if !bent {
        same(&made.rows, &File::from(dataset.as_ref().expect("what was written")), like);
    }
    let mut memory = vec![0x5a; any_file::PART];
    let rows = dataset.map_or(0, |dataset| any_file::look(&File::from(&dataset), &mut memory));
    check_files(files);
    Reach { bent, deep: rows > 0 }
}
