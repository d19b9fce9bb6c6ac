//! The names of the fields that an [`Error`](super::Error) can point at.

/// Declares [`What`]: one line per field, the name in the format's own terms.
macro_rules! fields {
    ($($(#[$section:meta])* $id:ident = $name:literal,)*) => {
        /// The field, structure or resource that an error is about, in the terms of its format.
        ///
        /// Two bytes; its name is looked up only when an error is printed, so an image that never
        /// prints carries none of the texts.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, zerocopy::TryFromBytes)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        #[non_exhaustive]
        #[repr(u16)]
        pub enum What {
            $(#[doc = concat!("The ", $name, ".")] $id,)*
        }

        impl What {
            /// The field of that number, which has ten bits.
            #[allow(clippy::cast_possible_truncation, reason = "it has ten bits")]
            pub(super) fn of(number: u32) -> Self {
                const { assert!([$(What::$id,)*].len() < 1 << 10) };
                zerocopy::try_transmute!(number as u16).unwrap_or(What::Input)
            }

            /// The name as a message shows it, for instance `filo header word`.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(What::$id => $name,)* }
            }
        }
    };
}

fields! {
    // The caller's side: memory, indices and limits.
    Input = "input",
    Destination = "destination buffer",
    Scratch = "scratch memory",
    Bits = "bit field",
    Row = "row",
    Column = "column",
    Child = "child column",
    Text = "text",
    MaxDepth = "limit max_depth",
    MaxNodes = "limit max_nodes",
    MaxColumns = "limit max_columns",
    MaxRows = "limit max_rows",
    MaxDecoded = "limit max_decoded",

    // Which format it is.
    Magic = "magic number",
    FiloVector = "Filo vector",
    DataSeriesFile = "DataSeries file",
    JayFile = "Jay file",
    BcolzChunk = "bcolz chunk",
    VortexFile = "Vortex file",

    // Byte codecs.
    Codec = "compression",
    Lz4Token = "LZ4 token",
    Lz4Length = "LZ4 length",
    Lz4Literals = "LZ4 literals",
    Lz4Distance = "LZ4 distance",
    LzfControl = "LZF control byte",
    LzfLiterals = "LZF literals",
    LzfDistance = "LZF distance",
    SnappyLength = "snappy length",
    SnappyTag = "snappy tag",
    SnappyLiterals = "snappy literals",
    SnappyDistance = "snappy distance",
    LzoInstruction = "LZO instruction",
    LzoLength = "LZO length",
    LzoLiterals = "LZO literals",
    LzoDistance = "LZO distance",
    LzoEnd = "LZO end marker",
    ZlibHeader = "zlib header",
    ZlibChecksum = "zlib checksum",
    DeflateBlock = "deflate block",
    DeflateStored = "deflate stored block",
    DeflateCode = "deflate code lengths",
    DeflateSymbol = "deflate symbol",
    DeflateDistance = "deflate distance",
    Bzip2Header = "bzip2 header",
    Bzip2Block = "bzip2 block",
    Bzip2Origin = "bzip2 block origin",
    Bzip2Selector = "bzip2 selector",
    Bzip2Code = "bzip2 code lengths",
    Bzip2Symbol = "bzip2 symbol",
    Bzip2Checksum = "bzip2 checksum",
    BlosclzControl = "blosclz control byte",
    BlosclzLength = "blosclz length",
    BlosclzLiterals = "blosclz literals",
    BlosclzDistance = "blosclz distance",
    ZstdFrame = "zstd frame",
    ZstdBlock = "zstd block",
    ZstdLiterals = "zstd literals",
    ZstdHuffman = "zstd Huffman code",
    ZstdTable = "zstd FSE table",
    ZstdSequences = "zstd sequences",
    ZstdOffset = "zstd offset",
    ZstdChecksum = "zstd checksum",
    ZstdDictionary = "zstd dictionary",

    // FlatBuffers.
    FlatRoot = "flatbuffer root offset",
    FlatTable = "flatbuffer table",
    FlatVtable = "flatbuffer vtable",
    FlatField = "flatbuffer field",
    FlatOffset = "flatbuffer offset",
    FlatVector = "flatbuffer vector",
    FlatString = "flatbuffer string",
    FlatUnion = "flatbuffer union",

    // Protocol Buffers.
    Proto = "protobuf field",

    // XML.
    XmlDeclaration = "xml declaration",
    XmlEncoding = "xml encoding",
    XmlDoctype = "xml document type",
    XmlTag = "xml tag",
    XmlAttribute = "xml attribute",
    XmlMaxAttributes = "limit of xml attributes",
    XmlEntity = "xml reference",
    XmlText = "xml text",

    // JSON.
    Json = "json",
    JsonNumber = "json number",
    JsonString = "json string",

    // Filo.
    FiloHeader = "filo header word",
    FiloElement = "filo element type",
    FiloRows = "filo row count",
    FiloInfo = "filo data info",
    FiloData = "filo data",
    FiloMask = "filo NA mask",
    FiloMaskType = "filo mask type",
    FiloSubVector = "filo sub-vector offset",
    FiloPacked = "filo packed vector header",
    FiloValue = "filo repeated value",
    FiloBase = "filo base",
    FiloSlope = "filo slope",
    FiloZone = "filo zone offset",
    FiloVars = "filo datetime vars",
    FiloDictionary = "filo dictionary",
    FiloCodes = "filo codes",
    FiloWords = "filo utf8 words",
    FiloString = "filo string",
    FiloSlot = "filo fixed-max slot",

    // DataSeries.
    DsHeader = "dataseries file header",
    DsExtent = "dataseries extent",
    DsTypeName = "dataseries type name",
    DsType = "dataseries extent type",
    DsField = "dataseries field",
    DsMode = "dataseries compression mode",
    DsRows = "dataseries record count",
    DsSize = "dataseries stored size",
    DsFixed = "dataseries fixed part",
    DsVariable = "dataseries variable part",
    DsPool = "dataseries string pool",
    DsCell = "dataseries string cell",
    DsAdler = "dataseries extent adler32",
    DsHash = "dataseries extent hash",
    DsIndex = "dataseries index",
    DsTrailer = "dataseries trailer",
    FlashRegion = "region of a flash log",
    FlashSegment = "segment of a flash log",

    // Blosc 1 chunks.
    BloscChunk = "blosc chunk",
    BloscHeader = "blosc header",
    BloscVersion = "blosc version",
    BloscFlags = "blosc flags",
    BloscCodec = "blosc compressor",
    BloscTypesize = "blosc type size",
    BloscNbytes = "blosc decoded size",
    BloscBlocksize = "blosc block size",
    BloscSize = "blosc chunk size",
    BloscStarts = "blosc block start",
    BloscStream = "blosc stream length",

    // bcolz datasets.
    BcolzFile = "bcolz file",
    BcolzName = "bcolz column name",
    BcolzDtype = "bcolz dtype",
    BcolzShape = "bcolz shape",
    BcolzChunklen = "bcolz chunklen",
    BcolzParams = "bcolz cparams",
    BcolzRows = "bcolz row count",
    BcolzMissing = "bcolz array, which has no missing values,",

    // Jay.
    JayHead = "jay signature",
    JayTail = "jay end signature",
    JayMeta = "jay metadata size",
    JayColumns = "jay column count",
    JayRows = "jay row count",
    JayKeys = "jay key count",
    JayName = "jay column name",
    JayType = "jay column type",
    JayBuffer = "jay buffer",
    JayBuffers = "jay buffer list",
    JayChildren = "jay child columns",
    JayValidity = "jay validity bitmap",
    JayBool = "jay bool8 value",
    JayOffsets = "jay offsets",
    JayText = "jay string",
    JayNulls = "jay null count",
    JayStats = "jay statistics",
    JayKey = "jay key",
    // Encodings.
    FastLanes = "fastlanes block",
    Runs = "run ends",
    Codes = "dictionary code",
    Patches = "patch index",
    Alp = "ALP exponent",
    AlpRd = "ALP-RD dictionary",
    Fsst = "FSST code",
    FsstSymbol = "FSST symbol length",
    OnPair = "OnPair code",
    OnPairToken = "OnPair token",
    Pco = "pco chunk metadata",
    PcoPage = "pco page",

    // Vortex.
    VtxEnd = "vortex end marker",
    VtxVersion = "vortex version",
    VtxPostscript = "vortex postscript",
    VtxDType = "vortex dtype",
    VtxLayout = "vortex layout",
    VtxLayoutId = "vortex layout id",
    VtxFooter = "vortex footer",
    VtxStatistics = "vortex statistics",
    VtxSegment = "vortex segment",
    VtxMetadata = "vortex metadata",
    VtxArray = "vortex array",
    VtxEncoding = "vortex encoding id",
    VtxBuffer = "vortex buffer",
    VtxScalar = "vortex scalar",
    VtxRows = "vortex row count",
    VtxChunks = "vortex chunk offsets",
    VtxOffsets = "vortex offsets",
    VtxText = "vortex string length",
    VtxZones = "vortex zone map",
}
