//! Names of the fields that errors of Jay files refer to.

use crate::error::fields;

fields! { 0x200;
    JAY_HEAD = "jay signature",
    JAY_TAIL = "jay end signature",
    JAY_META = "jay metadata size",
    JAY_COLUMNS = "jay column count",
    JAY_ROWS = "jay row count",
    JAY_KEYS = "jay key count",
    JAY_NAME = "jay column name",
    JAY_TYPE = "jay column type",
    JAY_BUFFER = "jay buffer",
    JAY_BUFFERS = "jay buffer list",
    JAY_CHILDREN = "jay child columns",
    JAY_VALIDITY = "jay validity bitmap",
    JAY_BOOL = "jay bool8 value",
    JAY_OFFSETS = "jay offsets",
    JAY_TEXT = "jay string",
    JAY_NULLS = "jay null count",
    JAY_STATS = "jay statistics",
    JAY_KEY = "jay key",
}
