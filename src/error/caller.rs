//! Names of the fields that an error can be about: those that depend on the caller, such as memory, indices and limits.

use crate::error::fields;

fields! { 0x000;
    INPUT = "input",
    DESTINATION = "destination buffer",
    SCRATCH = "scratch memory",
    BITS = "bit field",
    ROW = "row",
    COLUMN = "column",
    CHILD = "child column",
    TEXT = "text",
    FLASH_REGION = "region of a flash log",
    MAX_DEPTH = "limit max_depth",
    MAX_NODES = "limit max_nodes",
    MAX_COLUMNS = "limit max_columns",
    MAX_ROWS = "limit max_rows",
    MAX_DECODED = "limit max_decoded",
}
