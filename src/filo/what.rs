//! Names of the fields that errors of Filo vectors refer to.

use crate::error::fields;

fields! { 0x140;
    FILO_HEADER = "filo header word",
    FILO_ELEMENT = "filo element type",
    FILO_ROWS = "filo row count",
    FILO_INFO = "filo data info",
    FILO_DATA = "filo data",
    FILO_MASK = "filo NA mask",
    FILO_MASK_TYPE = "filo mask type",
    FILO_SUB_VECTOR = "filo sub-vector offset",
    FILO_PACKED = "filo packed vector header",
    FILO_VALUE = "filo repeated value",
    FILO_BASE = "filo base",
    FILO_SLOPE = "filo slope",
    FILO_ZONE = "filo zone offset",
    FILO_VARS = "filo datetime vars",
    FILO_DICTIONARY = "filo dictionary",
    FILO_CODES = "filo codes",
    FILO_WORDS = "filo utf8 words",
    FILO_STRING = "filo string",
    FILO_SLOT = "filo fixed-max slot",
    FILO_BUFFER = "buffer of a filo vector",
    FILO_VALUE_WIDTH = "filo value",
    FILO_DIFFERENCE = "filo difference to line or base",
    FILO_WHOLE = "filo double",
}
