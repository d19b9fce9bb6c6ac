//! Names of the fields that an error can refer to: in DataSeries files, and in flash logs of them.

use crate::error::fields;

fields! { 0x180;
    DATASERIES_HEADER = "dataseries file header",
    DATASERIES_EXTENT = "dataseries extent",
    DATASERIES_TYPE_NAME = "dataseries type name",
    DATASERIES_TYPE = "dataseries extent type",
    DATASERIES_FIELD = "dataseries field",
    DATASERIES_MODE = "dataseries compression mode",
    DATASERIES_ROWS = "dataseries record count",
    DATASERIES_SIZE = "dataseries stored size",
    DATASERIES_FIXED = "dataseries fixed part",
    DATASERIES_VARIABLE = "dataseries variable part",
    DATASERIES_POOL = "dataseries string pool",
    DATASERIES_CELL = "dataseries string cell",
    DATASERIES_ADLER = "dataseries extent adler32",
    DATASERIES_HASH = "dataseries extent hash",
    DATASERIES_INDEX = "dataseries index",
    DATASERIES_TRAILER = "dataseries trailer",
    FLASH_SEGMENT = "segment of a flash log",
}
