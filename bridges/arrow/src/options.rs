//! What of a table is read, and how.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use arrow_array::ArrayRef;
use arrow_buffer::Buffer;
use pilaster::column::{Place, Zone};
use pilaster::limits::Limits;

use crate::pool::Pool;

/// Which rows and columns [`read`](crate::read()) returns, and in which form.
#[derive(Debug)]
pub struct ReadOptions<'o> {
    /// The bytes of the file that the table was opened from. Aligned raw values then remain there; without it they are
    /// copied.
    pub bytes: Option<Buffer>,
    /// The names of the columns, in this order; all if `None`.
    pub columns: Option<Vec<String>>,
    /// The rows, counted over all parts; all if `None`. An end after the last row is allowed.
    pub rows: Option<Range<u64>>,
    /// Maximum number of rows in a batch; 0 counts as 1.
    pub batch_rows: usize,
    /// Whether a column that is stored with a dictionary is returned as plain values: as views, which refer to the texts of the dictionary,
    /// so that these are not copied, unless [`offsets`](Self::offsets) asks for offsets.
    pub flat: bool,
    /// Whether texts and lists have offsets of 32 bits, however they are stored. The types then do not depend on how a file stores
    /// its rows, and no row is read to find them; texts that are stored otherwise are copied.
    pub offsets: bool,
    /// Whether texts are views, however they are stored; lists are as [`offsets`](Self::offsets) says.
    pub views: bool,
    /// Whether only types are returned that all consumers read. Lists that lie in any order are then copied in order, and have offsets
    /// of 32 bits instead of views, as have texts in lists; decimals have 128 bits or more.
    pub common: bool,
    /// Upper limits: [`Limits::max_decoded`] of what one read of a column may take, and the items of lists in a batch, and half of what
    /// one part may, so that a few bytes of a file cannot claim any amount of memory. Where the items take more, batches have fewer rows.
    pub limits: Limits,
    /// Rows that need not be returned.
    pub filters: Vec<Filter<'o>>,
    /// Metadata of the schema, such as attributes of the file.
    pub metadata: HashMap<String, String>,
    /// What an earlier reader of the same columns leaves ([`Reader::into_spare`](crate::Reader::into_spare)).
    pub spare: Spare,
}

/// The memory of a reader, and where it was in the file, so that the next reader of the same columns neither asks for new memory nor
/// searches for its rows. One of other columns of the same open file reads as without it; a reader of another file must not have it.
#[derive(Debug, Default)]
pub struct Spare {
    pub(crate) block: Vec<u8>,
    pub(crate) pool: Pool,
    pub(crate) places: Vec<Place>,
    /// The values of the last dictionary of each column.
    pub(crate) values: Known,
}

/// Values of dictionaries, with the first row of each dictionary in its part.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The numbers of the columns.
    pub columns: Vec<usize>,
    /// The first row of the part.
    pub part: u64,
    pub values: Vec<Option<(u64, ArrayRef)>>,
}

impl Default for ReadOptions<'_> {
    /// All rows of all columns in batches of 65,536 rows.
    fn default() -> Self {
        ReadOptions {
            bytes: None,
            columns: None,
            rows: None,
            batch_rows: 1 << 16,
            flat: false,
            offsets: false,
            views: false,
            common: false,
            limits: Limits::DEFAULT,
            filters: Vec::new(),
            metadata: HashMap::new(),
            spare: Spare::default(),
        }
    }
}

/// A condition on one column, for zones of rows: ranges of rows with stored bounds are left out if none of their rows
/// can meet it. Rows that do not meet the condition are still returned where the bounds do not exclude them, and one row after each
/// million of zones that are left out, so the consumer filters again.
pub struct Filter<'o> {
    /// The name of the column.
    pub column: String,
    /// Whether a row of the zone may meet the condition. The facts of a [`Zone`] may be claims of the file; a caller that
    /// does not trust the file should only use exact ones.
    pub may_match: Box<dyn Fn(&Zone<'_>) -> bool + Send + 'o>,
}

impl fmt::Debug for Filter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Filter").field("column", &self.column).finish_non_exhaustive()
    }
}
