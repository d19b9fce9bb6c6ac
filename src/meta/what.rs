//! Names of the fields that an error can be about. Metadata: FlatBuffers, Protocol Buffers, XML, JSON.

use crate::error::fields;

fields! { 0x0c0;
    // FlatBuffers.
    FLAT_ROOT = "flatbuffer root offset",
    FLAT_TABLE = "flatbuffer table",
    FLAT_VTABLE = "flatbuffer vtable",
    FLAT_FIELD = "flatbuffer field",
    FLAT_OFFSET = "flatbuffer offset",
    FLAT_VECTOR = "flatbuffer vector",
    FLAT_STRING = "flatbuffer string",
    FLAT_UNION = "flatbuffer union",

    // Protocol Buffers.
    PROTO = "protobuf field",

    // XML.
    XML_DECLARATION = "xml declaration",
    XML_ENCODING = "xml encoding",
    XML_DOCTYPE = "xml document type",
    XML_TAG = "xml tag",
    XML_ATTRIBUTE = "xml attribute",
    XML_MAX_ATTRIBUTES = "number of xml attributes",
    XML_ENTITY = "xml reference",
    XML_TEXT = "xml text",

    // JSON.
    JSON = "json",
    JSON_NUMBER = "json number",
    JSON_STRING = "json string",

    FLAT_ALIGNMENT = "position of a flatbuffer number",
}
