//! Names of the fields that an error can be about. Vortex files.

use crate::error::fields;

fields! { 0x240;
    VORTEX_END = "vortex end marker",
    VORTEX_VERSION = "vortex version",
    VORTEX_POSTSCRIPT = "vortex postscript",
    VORTEX_DTYPE = "vortex dtype",
    VORTEX_LAYOUT = "vortex layout",
    VORTEX_LAYOUT_ID = "vortex layout id",
    VORTEX_FOOTER = "vortex footer",
    VORTEX_STATISTICS = "vortex statistics",
    VORTEX_SEGMENT = "vortex segment",
    VORTEX_METADATA = "vortex metadata",
    VORTEX_ARRAY = "vortex array",
    VORTEX_ENCODING = "vortex encoding id",
    VORTEX_BUFFER = "vortex buffer",
    VORTEX_SCALAR = "vortex scalar",
    VORTEX_ROWS = "vortex row count",
    VORTEX_CHUNKS = "vortex chunk offsets",
    VORTEX_OFFSETS = "vortex offsets",
    VORTEX_TEXT = "vortex string length",
    VORTEX_ZONES = "vortex zone map",
    VORTEX_ALIGNMENT = "alignment of a vortex buffer",
    VORTEX_CHUNK_SIZE = "vortex option chunk_size",
    VORTEX_ZONE_ROWS = "vortex option zone_rows",
    VORTEX_ENCODINGS = "vortex option encodings",
    VORTEX_LOG = "frame of a vortex log",
    VORTEX_CHECKPOINT = "checkpoint of a vortex log",
    VORTEX_GROUPS = "memory for row groups of a vortex log",
    VORTEX_ROW_MEMORY = "memory for rows of a vortex log",
    VORTEX_TEXT_MEMORY = "memory for texts of a vortex log",
    VORTEX_FIELD = "field of a vortex log",
    VORTEX_VARIANT = "variant (profile 2026)",
    VORTEX_DIGITS = "number of digits of a decimal",

    // What the notation of a type has at a position.
    NOTATION_TYPE = "name of a vortex type",
    NOTATION_OPEN = "( in a vortex type",
    NOTATION_CLOSE = ") in a vortex type",
    NOTATION_BRACKET = "[ in a vortex type",
    NOTATION_BRACKET_END = "] in a vortex type",
    NOTATION_COMMA = ", in a vortex type",
    NOTATION_EQUALS = "= after a name in a vortex type",
    NOTATION_NEXT = ", or } in a vortex type",
    NOTATION_NUMBER = "number in a vortex type",
    NOTATION_UNIT = "unit (ns, µs, ms, s or days) in a vortex type",
    NOTATION_SORTED = "keys_sorted=true or =false in a vortex type",
    NOTATION_END = "end of a vortex type",

    // What helps follows: with a heap there is more, and reading into memory of another size measures nothing.
    VORTEX_MEASURING = "memory for measuring variants (more with feature alloc; none to read without need)",
}
