//! A share of the work on a file.

/// One of several shares of the work on a file, for threads that check it together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The number of the share.
    pub number: u64,
    /// The number of shares.
    pub of: u64,
}

impl Share {
    /// The only share.
    pub const ALL: Share = Share { number: 0, of: 1 };

    /// Returns whether the share contains a piece of the work, by its number. Each piece is in one share.
    #[must_use]
    pub const fn has(self, piece: u64) -> bool {
        match piece.checked_rem(self.of) {
            Some(rest) => rest == self.number,
            None => true,
        }
    }
}
