//! Names of the fields of value encodings that an error can be about.

use crate::error::fields;

fields! { 0x100;
    FASTLANES = "fastlanes block",
    RUNS = "run ends",
    CODES = "dictionary code",
    PATCHES = "patch index",
    ALP = "ALP exponent",
    ALP_RD = "ALP-RD dictionary",
    FSST = "FSST code",
    FSST_SYMBOL = "FSST symbol length",
    ONPAIR = "OnPair code",
    ONPAIR_TOKEN = "OnPair token",
    PCO = "pco chunk metadata",
    PCO_PAGE = "pco page",
    VARIANT = "variant value",
}
