//! Frames of a serial line: COBS of a chunk, and a zero byte. A chunk is an offset in the file, bytes, and the CRC-32 of both; without bytes
//! it is the end of the file.

use crc::{CRC_32_ISO_HDLC, Crc};

/// The check value of Ethernet and zip.
static CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// Size of the longest frame; a longer one is no frame.
const LONGEST: usize = 1 << 16;

/// A chunk of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// The offset of its bytes in the file, without the higher bits.
    pub at: u32,
    /// None at the end of the file.
    pub bytes: Vec<u8>,
}

/// Cuts what arrives into frames.
#[derive(Default)]
pub struct Frames {
    /// The frame so far.
    frame: Vec<u8>,
    /// Number of frames that hold no chunk, as they are damaged or began before the first byte that was read.
    pub damaged: u64,
}

impl Frames {
    /// Adds bytes. Calls `each` with the chunks that they complete, until it returns true. Returns whether it did.
    pub fn add<E>(&mut self, bytes: &[u8], mut each: impl FnMut(Chunk) -> Result<bool, E>) -> Result<bool, E> {
        for part in bytes.split_inclusive(|byte| *byte == 0) {
            let (part, ends) = part.strip_suffix(&[0]).map_or((part, false), |part| (part, true));
            // A frame that is too long is damaged. The rest of it is dropped.
            let free = LONGEST.saturating_add(1).saturating_sub(self.frame.len());
            self.frame.extend_from_slice(part.get(..free).unwrap_or(part));
            if !ends {
                continue;
            }
            let frame = std::mem::take(&mut self.frame);
            match chunk(&frame) {
                Some(chunk) if frame.len() <= LONGEST => {
                    if each(chunk)? {
                        return Ok(true);
                    }
                }
                // Nothing between two zeros: some senders begin a frame with one.
                _ if frame.is_empty() => {}
                _ => self.damaged = self.damaged.saturating_add(1),
            }
        }
        Ok(false)
    }

    /// Counts a frame that is not complete at the end.
    pub fn end(&mut self) {
        if !self.frame.is_empty() {
            self.damaged = self.damaged.saturating_add(1);
        }
    }
}

/// Returns the chunk in a frame, if it is intact.
fn chunk(frame: &[u8]) -> Option<Chunk> {
    let bytes = cobs(frame)?;
    let (rest, crc) = bytes.split_last_chunk::<4>()?;
    let (at, bytes) = rest.split_first_chunk::<4>()?;
    (CRC.checksum(rest) == u32::from_le_bytes(*crc))
        .then(|| Chunk { at: u32::from_le_bytes(*at), bytes: bytes.to_vec() })
}

/// Decodes COBS without its last zero: each run of bytes that are not zero follows its length plus 1.
fn cobs(mut frame: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let [code, rest @ ..] = frame {
        let (run, rest) = rest.split_at_checked(usize::from(*code).checked_sub(1)?)?;
        bytes.extend_from_slice(run);
        if *code < u8::MAX && !rest.is_empty() {
            bytes.push(0);
        }
        frame = rest;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(CRC.checksum(b"123456789"), 0xcbf4_3926);
        for (frame, bytes) in [
            (&[1][..], &[][..]),
            (&[1, 1], &[0]),
            (&[3, 0x11, 0x22, 2, 0x33], &[0x11, 0x22, 0, 0x33]),
            (&[2, 0x11, 1, 1, 1], &[0x11, 0, 0, 0]),
        ] {
            assert_eq!(cobs(frame).as_deref(), Some(bytes), "{frame:?}");
        }
        let long: Vec<u8> = std::iter::once(255).chain(1..=254).collect();
        assert_eq!(cobs(&long).unwrap(), (1..=254).collect::<Vec<u8>>(), "no zero after the longest run");
        assert_eq!(cobs(&[3, 1]), None, "cut off");
    }

    #[test]
    fn endless_noise_takes_bounded_memory() {
        let mut frames = Frames::default();
        for _ in 0..100 {
            frames.add(&[7; 5000], |_| Ok::<_, ()>(false)).unwrap();
        }
        assert!(frames.frame.len() <= LONGEST + 1);
        frames.add(&[0], |_| Err(())).unwrap();
        assert_eq!((frames.frame.len(), frames.damaged), (0, 1));
    }
}
