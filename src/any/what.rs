//! Names of the fields that errors of format detection refer to.

use crate::error::fields;

fields! { 0x040;
    MAGIC = "magic number",
    TABLE = "table",
    TABLE_CHOICE = "choice of one of several tables by its name",
    FILO_VECTOR = "Filo vector",
    DATASERIES_FILE = "DataSeries file",
    JAY_FILE = "Jay file",
    BCOLZ_CHUNK = "bcolz chunk",
    VORTEX_FILE = "Vortex file",
}
