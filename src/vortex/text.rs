//! Where texts are put: in place where one blob holds them all, else behind each other in an arena.

use super::arrays::Data;
use super::node::{Blob, Form, Node, Rows};
use super::raw::{Encoding, LayoutId};
use super::scalar::Scalar;
use super::tree::{NOWHERE, Run, Text, span};
use crate::bytes::{Scratch, saturated};
use crate::column::Span;
use crate::encoding::onpair;
use crate::error::{Kind, Result, What};

/// What is known of the texts of some rows before they are read.
#[derive(Clone, Copy)]
pub(super) enum Plan<'f> {
    /// All lie in these bytes, which are a blob.
    Borrowed(&'f [u8]),
    /// They take at most so many bytes of an arena.
    Copied(u64),
}

/// The span of a text that lies at `start` of a blob; nowhere if the blob ends before.
pub(super) fn put(blob: &Blob<'_>, start: usize, len: usize, run: &mut Run<'_>) -> Result<Span> {
    let Text::Copied { arena, used } = &mut run.text else {
        return Ok(span(start as u64, len as u64));
    };
    let Some(bytes) = blob.bytes.get(start..start.saturating_add(len)) else { return Ok(NOWHERE) };
    let (at, end) = (*used, used.saturating_add(len));
    let Some(to) = arena.get_mut(at..end) else {
        return Err(crate::error::Error::needing(Kind::Invalid, What::VtxText, blob.at, len as u64));
    };
    for (to, byte) in to.iter_mut().zip(bytes) {
        *to = *byte;
    }
    *used = end;
    Ok(span(at as u64, len as u64))
}

/// The span of a scalar's text.
pub(super) fn of_scalar(blob: &Blob<'_>, scalar: &Scalar<'_>, run: &mut Run<'_>) -> Result<Span> {
    let bytes = scalar.bytes()?;
    // Scalars lie in the buffer of a blob.
    let start = saturated(bytes.at().saturating_sub(blob.at));
    put(blob, start, bytes.bytes().len(), run)
}

impl<'f> Node<'f> {
    /// How the texts of `len` rows from `at` on will be read.
    pub(super) fn plan(&self, at: u64, len: usize, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<Plan<'f>> {
        run.fuel.spend(self.at())?;
        let mut below = *self;
        if below.enter_wrapped()? {
            return below.plan(at, len, run, s);
        }
        if below.enter_values()? {
            let plan = below.plan(0, saturated(below.rows), run, s)?;
            return match (plan, self.encoding()) {
                (Plan::Copied(bound), Some(Encoding::Sparse)) => {
                    Ok(Plan::Copied(bound.saturating_add(self.fill_len()?)))
                }
                _ => Ok(plan),
            };
        }
        match self.form {
            Form::Scalar(_)
            | Form::Items(..)
            | Form::Array(Encoding::VarBinView | Encoding::VarBin | Encoding::Constant) => {
                Ok(Plan::Borrowed(self.blob.bytes))
            }
            Form::Layout(LayoutId::Chunked) | Form::Array(Encoding::Chunked) => self.plan_chunks(at, len, run, s),
            Form::Array(Encoding::Fsst) => {
                let bytes = below.enter_fsst_codes()?.bytes;
                let codes = match below.fsst_range(bytes, at, len, run, s) {
                    Ok((from, to)) => to.saturating_sub(from),
                    // Offsets that take more memory than there is here.
                    Err(e) if e.kind() == Kind::NoRoom => bytes.len(),
                    Err(e) => return Err(e),
                };
                Ok(Plan::Copied((codes as u64).saturating_mul(8)))
            }
            Form::Array(Encoding::OnPair) => {
                let codes = match self.onpair_range(at, len, run, s) {
                    Ok((from, to)) => to.saturating_sub(from),
                    Err(e) if e.kind() == Kind::NoRoom => self.number(4)?,
                    Err(e) => return Err(e),
                };
                Ok(Plan::Copied(codes.saturating_mul(onpair::LONGEST.into())))
            }
            #[cfg(feature = "zstd")]
            Form::Array(Encoding::Zstd) => Ok(Plan::Copied(self.zstd_bound(at, len, run, s)?)),
            _ => Err(self.undecoded()),
        }
    }

    /// Rows of one chunk are read as that chunk is; texts of several are copied, unless all lie in one blob.
    fn plan_chunks(&self, at: u64, len: usize, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<Plan<'f>> {
        let (mut done, mut bound, mut blob, mut same) = (0usize, Ok(0u64), None, true);
        while done < len {
            let left = len.saturating_sub(done) as u64;
            let mut rows = Rows { node: *self, at: at.saturating_add(done as u64), left };
            rows.enter_chunk(run, s)?;
            let part = saturated(rows.left);
            let plan = rows.node.plan(rows.at, part, run, s)?;
            if part == len {
                return Ok(plan);
            }
            let more = match plan {
                Plan::Copied(bound) => {
                    same = false;
                    Ok(bound)
                }
                Plan::Borrowed(own) => {
                    same &= core::ptr::eq(*blob.get_or_insert(own), own);
                    rows.node.lengths(rows.at, part, run, s)
                }
            };
            bound = bound.and_then(|bound| Ok(bound.saturating_add(more?)));
            done = done.saturating_add(part);
        }
        match blob {
            Some(blob) if same => Ok(Plan::Borrowed(blob)),
            _ => bound.map(Plan::Copied),
        }
    }

    /// The bytes of texts that lie in a blob, counted as often as they are read.
    fn lengths(&self, at: u64, len: usize, run: &mut Run<'_>, s: &mut Scratch<'_>) -> Result<u64> {
        match self.form {
            Form::Layout(LayoutId::Flat) => {
                let mut array = *self;
                array.enter_flat()?;
                array.lengths(at, len, run, s)
            }
            Form::Array(Encoding::VarBin) => {
                let offsets = self.var_bin_offsets();
                let offsets = offsets.as_ref()?;
                let [from, to] = offsets.ends(at, len as u64, run, s)?;
                Ok(to.saturating_sub(from))
            }
            Form::Array(Encoding::VarBinView) => {
                let mut data = Data::new(self)?;
                let views = data.views(at, len)?;
                let mut sum = 0u64;
                for i in 0..len {
                    let place = data.place(views.bytes, views.start, i, run)?;
                    sum = sum.saturating_add(place.map_or(0, |(_, len)| len as u64));
                }
                Ok(sum)
            }
            Form::Array(Encoding::Constant) => Ok(self.fill_len()?.saturating_mul(len as u64)),
            // Texts of other forms, of several chunks at once, cannot be measured without reading them.
            _ => Err(self.undecoded()),
        }
    }

    /// Bytes of the text that every row of a constant is, or those of a sparse array without patches.
    fn fill_len(&self) -> Result<u64> {
        Ok(self.fill().as_ref()?.bytes()?.bytes().len() as u64)
    }
}
