//! How much scratch memory a read takes for what it needs on the way: an upper bound that mirrors the walk.

use super::arrays::SMALL;
use super::node::{Form, Node};
use super::raw::{Encoding, LayoutId};
use super::tree::{Run, Text};
use crate::bytes::FAST;
#[cfg(feature = "zstd")]
use crate::bytes::saturated;
#[cfg(feature = "zstd")]
use crate::codec::Codec;
use crate::encoding::fastlanes::BLOCK;
use crate::encoding::onpair;
use crate::error::Result;

/// What alignment may cost with each piece taken.
const SLACK: u64 = 64;

/// Larger counts are taken for this one: no memory holds as many, and sums of some pieces do not overflow.
const MOST: u64 = 1 << 48;

/// Bytes of `count` values of up to 40 bytes, wherever they begin.
fn piece(count: u64, size: u64) -> u64 {
    count.min(MOST).wrapping_mul(size).wrapping_add(SLACK)
}

impl<'f> Node<'f> {
    /// Bytes that reading `n` rows in cells of `width` bytes takes on the way, the cells not counted.
    /// `run` says whether texts are copied.
    pub(super) fn temporaries(&self, n: u64, width: u64, run: &mut Run<'_>) -> Result<u64> {
        run.fuel.spend(self.at())?;
        let n = n.min(self.rows).clamp(1, MOST);
        // Lengths, offsets and indices are read as words of 8 bytes whatever is asked for.
        let width = width.max(8);
        let mut child = *self;
        if self.layout().is_some() && child.enter_wrapped()? {
            return child.temporaries(n, width, run);
        }
        match self.form {
            Form::Layout(layout) => match layout {
                LayoutId::Dict => self.dictionary_temporaries(n, width, run),
                LayoutId::Chunked => {
                    let mut most = 0;
                    for k in 0..self.children()? {
                        most = self.child(k, &self.dtype, 0).as_ref()?.temporaries(n, width, run)?.max(most);
                    }
                    Ok(most)
                }
                LayoutId::Struct => match self.fields_from()? {
                    0 => Ok(0),
                    _ => self.child(0, &super::dtype::Ty::BOOL, self.rows).as_ref()?.temporaries(n, width, run),
                },
                _ => Ok(0),
            },
            Form::Array(encoding) => self.array_temporaries(encoding, n, width, run),
            _ => Ok(0),
        }
    }

    fn array_temporaries(&self, encoding: Encoding, n: u64, width: u64, run: &mut Run<'_>) -> Result<u64> {
        let block = BLOCK as u64;
        let (mut own, mut rows) = (0, n);
        match encoding {
            Encoding::Dict => return self.dictionary_temporaries(n, width, run),
            Encoding::RunEnd => own = piece(n, width.wrapping_add(8)).wrapping_add(SLACK),
            Encoding::Sparse => {
                own = piece(n.min(self.sparse_patches()?.len()), width.wrapping_add(8)).wrapping_add(SLACK);
            }
            Encoding::Rle => own = piece(block.min(n), 4).wrapping_add(piece(block.max(SMALL), width)),
            Encoding::Delta => {
                own = piece(block.wrapping_mul(2).wrapping_add(128), width).wrapping_add(2 * SLACK);
                rows = n.max(block);
            }
            Encoding::AlpRd => own = piece(n, 2),
            Encoding::ListView | Encoding::DateTimeParts | Encoding::DecimalByteParts => own = piece(n, 8),
            Encoding::OnPair => {
                let tokens = self.number(3)?.min(MOST).wrapping_add(1);
                // Codes are decoded in pieces, whatever memory is left.
                own = piece(tokens, 4).wrapping_add(piece(block, 4));
                // With so many rows there are more codes than tokens.
                if FAST && n >= tokens && (2..=onpair::ROWS as u64).contains(&tokens) {
                    own = own.wrapping_add(piece(1, size_of::<onpair::Room>() as u64));
                }
                rows = n.max(tokens).max(block);
            }
            #[cfg(feature = "zstd")]
            Encoding::Zstd => {
                let frame = self.zstd_largest(run)?;
                let workspace = Codec::Zstd.workspace_len(saturated(frame)) as u64;
                own = piece(n, 1).saturating_add(workspace).saturating_add(SLACK);
                // Texts are unpacked where they stay, and counted there.
                if !matches!(run.text, Text::Copied { .. }) {
                    own = own.saturating_add(piece(frame, 1));
                }
            }
            #[cfg(feature = "pco")]
            Encoding::Pco => own = piece(n, 1).saturating_add(self.pco_need(run)?),
            _ => {}
        }
        let patches = match encoding {
            Encoding::BitPacked | Encoding::Alp => self.patches(3)?,
            Encoding::AlpRd => self.patches(5)?,
            _ => None,
        };
        if let Some(patches) = patches {
            own = own.saturating_add(piece(n.min(patches.len()), width.wrapping_add(8))).saturating_add(SLACK);
        }
        for k in 0..self.children()? {
            // Elements and fields are not read with the rows that hold them.
            let rows = match encoding {
                Encoding::Struct if k >= self.fields_from()? => break,
                Encoding::List | Encoding::ListView | Encoding::FixedSizeList if k == 0 => continue,
                _ => rows,
            };
            // What the child means does not matter here, only what it is made of.
            own = own.saturating_add(self.child(k, &self.dtype, u64::MAX).as_ref()?.temporaries(rows, width, run)?);
        }
        Ok(own)
    }

    /// Codes, and the values that are read whole, or one by one.
    fn dictionary_temporaries(&self, n: u64, width: u64, run: &mut Run<'_>) -> Result<u64> {
        let codes = self.codes();
        let (codes, mut values) = (codes.as_ref()?, *self);
        values.enter_values()?;
        let copied = matches!(run.text, Text::Copied { .. });
        let whole = if copied { values.rows } else { values.rows.min(n.max(SMALL)) };
        let own = piece(n, 5).wrapping_add(piece(whole, width)).wrapping_add(2 * SLACK);
        let codes = codes.temporaries(n, width, run)?;
        Ok(own.saturating_add(codes).saturating_add(values.temporaries(whole.max(1), width, run)?))
    }
}
