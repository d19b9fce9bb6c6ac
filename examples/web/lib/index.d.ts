/// <reference lib="esnext.disposable" />

/** The element types of Filo vectors: no byte of a vector says which one it has. */
export type FiloType =
  | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'string' | 'utf8' | 'blob' | 'timestamp' | 'datetime'

export type Format = 'filo' | 'dataseries' | 'jay' | 'bcolz' | 'vortex'

/** An object that gives ranges of a file. */
export interface RangeSource {
  readonly byteLength: number
  /** Of a file: Filo vectors are recognised by it. */
  readonly name?: string
  slice(start: number, end: number, signal?: AbortSignal): Uint8Array | ArrayBuffer | Promise<Uint8Array | ArrayBuffer>
}

/** A single file. A URL is read by ranges where the server has them. */
export type FileSource = Uint8Array | ArrayBuffer | Blob | string | URL | RangeSource

/** A bcolz dataset: its files by their paths below the directory, such as `price/meta/sizes`. */
export type DirectorySource =
  | ReadonlyMap<string, FileSource>
  | { file(path: string, signal?: AbortSignal): FileSource | null | Promise<FileSource | null> }

export interface Progress {
  done: number
  of: number
}

export interface CallOptions {
  signal?: AbortSignal
  onProgress?(progress: Progress): void
}

export interface OpenOptions extends CallOptions {
  /** What a Filo vector holds. Where it is not told, the error lists what fits. */
  type?: FiloType
  /** The name of the file, where the source has none. */
  name?: string
  /** Reads a DataSeries file from the front: its end is lost. */
  sequential?: boolean
  /** Reads of a damaged Jay file what can be read. */
  tolerant?: boolean
  /** Instead of the global one. */
  fetch?: typeof fetch
}

export interface ReadOptions extends CallOptions {
  /** Names or numbers; all columns without. */
  columns?: readonly (string | number)[]
  /** The first row. */
  start?: number
  /** Behind the last row. */
  end?: number
}

export type TypeName =
  | 'null' | 'bool' | 'int8' | 'int16' | 'int32' | 'int64' | 'uint8' | 'uint16' | 'uint32' | 'uint64'
  | 'float16' | 'float32' | 'float64' | 'decimal' | 'date' | 'time' | 'timestamp'
  | 'bytes' | 'fixed_bytes' | 'string' | 'list' | 'fixed_list' | 'struct' | 'map' | 'object' | 'unknown'

export interface Column {
  readonly name: string
  readonly type: TypeName
  readonly nullable: boolean
  /** Of dates, times and timestamps: what they count since 1970 (or midnight): `D`, `s`, `ms`, `us`, `ns`, … */
  readonly unit?: string
  /** Of a timestamp. */
  readonly zone?: string
  /** Of a decimal: digits in all, and behind the point. */
  readonly precision?: number
  readonly scale?: number
  /** Of fixed_bytes and fixed_list. */
  readonly size?: number
  /** The type in the format's own words, where it has one: `variable32`, `str64`. */
  readonly stored?: string
  /** Of a list or map the one of its items, of a struct its fields. */
  readonly children?: readonly Column[]
}

export type TypedArray =
  | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array
  | Float32Array | Float64Array

export type Value =
  | null | boolean | number | bigint | string | Uint8Array | Value[] | { [field: string]: Value }

/** Rows of a column, owned by the caller: nothing in it points into the module. */
export class Vector implements Iterable<Value> {
  private constructor()
  readonly column: Column
  readonly type: TypeName
  readonly length: number
  /** A bit per row, the lowest first, 1 where the row has a value; null where all have. */
  readonly validity: Uint8Array | null
  /** Numbers: 64-bit ones as BigInt; truth values as 0 and 1, float16 as its bits, wide decimals as words. */
  readonly values?: TypedArray
  /** Elements of `values` per row: 2 or 4 for decimals of 128 or 256 bits, the lowest word first; else 1. */
  readonly lanes?: number
  /** The bytes of strings; row `i` begins at `starts[i]` and has `lengths[i]` of them. */
  readonly data?: Uint8Array
  /** Of strings in `data`, of nested rows in the children. */
  readonly starts?: Uint32Array
  readonly lengths?: Uint32Array
  readonly children?: readonly Vector[]
  readonly nullCount: number
  isValid(row: number): boolean
  /** The value of a row, made when it is asked for. A decimal is its integer without the point, times are as stored. */
  get(row: number): Value
  /** The bytes of a row of strings: a view. */
  bytes(row: number): Uint8Array
  toArray(): Value[]
  [Symbol.iterator](): Iterator<Value>
}

export interface Batch {
  readonly start: number
  readonly end: number
  readonly vectors: Vector[]
}

/** Rows of one kind: a DataSeries file can have several tables, other formats have one without a name. */
export class Table {
  private constructor()
  readonly name: string
  readonly rows: number
  readonly columns: readonly Column[]
  /** Reads rows of some columns, a vector for each. Only the bytes that hold them are fetched. */
  read(options?: ReadOptions): Promise<Vector[]>
  /** Reads rows `size` at a time. */
  batches(options?: ReadOptions & { size?: number }): AsyncGenerator<Batch, void, void>
}

/** An open file. */
export class File {
  private constructor()
  readonly name: string
  readonly format: Format
  readonly byteLength: number
  readonly tables: readonly Table[]
  /** Rows of all tables. */
  readonly rows: number
  /** Bytes of memory that it holds now. */
  readonly memory: number
  /** The table of that name, or the only one. */
  table(name?: string): Table
  /** Walks everything; throws what is wrong first. */
  verify(options?: CallOptions): Promise<void>
  /** How the file is stored; what it says depends on the format. */
  info(options?: CallOptions): Promise<Record<string, unknown>>
  /** Gives all memory back. */
  free(): void
  /** The same, where a `using` declaration ends. */
  [Symbol.dispose](): void
}

export type ErrorKind =
  | 'Truncated' | 'Trailing' | 'Invalid' | 'Unsupported' | 'WrongType' | 'Checksum' | 'Overflow' | 'Limit' | 'NoRoom'
  | 'OutOfRange' | 'Utf8' | 'Lossy' | 'Misuse' | 'Source'

/** What is wrong with a file, and where; of kind `Source`, what is wrong with the place that it comes from. */
export class PilasterError extends Error {
  readonly kind: ErrorKind
  /** The field, in the words of the format. */
  readonly field: string
  /** Where in the file. */
  readonly offset: number
  /** How much is needed, or the value found. */
  readonly need: number
  /** The encoding that is not supported, where that is it. */
  readonly id?: string
  /** The types that a Filo vector without one could have. */
  readonly fits?: FiloType[]
}

/** Opens a file: fetches what describes it, and no rows. */
export function open(source: FileSource | DirectorySource, options?: OpenOptions): Promise<File>

type ModuleSource = WebAssembly.Module | BufferSource | Response | string | URL

/** The modules beside the package: `pilaster-jay.wasm` and so on, one for each format, and `pilaster-write.wasm`. */
export type ModuleName = Format | 'writer'

/**
 * Says which WebAssembly modules are used instead of those beside the package: compiled ones, their bytes, Responses, or
 * their URLs. Not needed where all lie beside it: a file is read by the module of its format, which is loaded when the first
 * such file is opened, and the one that writes when something is written. A `reader` reads files of all formats:
 * `pilaster.wasm`, which leaves `verify` and `info` to the module of the format.
 */
export function init(modules: { readonly [name in ModuleName | 'reader']?: ModuleSource }): Promise<void>

/** Loads modules before they are needed, one after the other: all where none is named. From then on they need no network. */
export function preload(...modules: ModuleName[]): Promise<void>

/**
 * Values to be written: a typed array, an array with null where there is none (of booleans, numbers as doubles, bigints,
 * strings or bytes), or a Vector that was read.
 */
export type WritableValues =
  | TypedArray | Uint8ClampedArray | Vector
  | readonly (boolean | null)[] | readonly (number | null)[] | readonly (bigint | null)[] | readonly (string | null)[]
  | readonly (Uint8Array | null)[]

export interface WritableColumn {
  readonly name: string
  readonly values: WritableValues
  /** For a typed array: a bit per row, the lowest first, 1 where the row has a value. */
  readonly validity?: Uint8Array | null
  /** What integers count since 1970: noted in the description of the type. */
  readonly unit?: 's' | 'ms' | 'us' | 'ns'
}

export interface WriteDataSeriesOptions {
  /** The name of the type of the rows. */
  name?: string
  columns: readonly WritableColumn[]
  /** By LZ4, where it makes an extent smaller; true where nothing is said. */
  compress?: boolean
}

/**
 * Makes a DataSeries file. Integers up to 32 bits become int32 (Uint8Array: byte), wider ones int64, floats double,
 * strings and bytes variable32. What no field can hold is a PilasterError.
 */
export function writeDataSeries(table: WriteDataSeriesOptions): Promise<Uint8Array>

export interface WriteFiloOptions {
  validity?: Uint8Array | null
  /** Where several fit: `timestamp` or `datetime` (milliseconds) for 64-bit integers, `string` or `blob` for strings. */
  type?: FiloType
  /** Of `datetime`: the offset from UTC of each row in milliseconds, whole quarters of an hour; all UTC without. */
  offsets?: Int32Array | Vector | readonly (number | null)[]
}

/** Makes a Filo vector, in the smallest encoding that loses nothing. */
export function writeFilo(values: WritableValues, options?: WriteFiloOptions): Promise<Uint8Array>

/** Bytes of a damaged file that belong to nothing whole. */
export interface Loss {
  offset: number
  size: number
  /** The type of the rows that were there, as far as the bytes tell. */
  table?: string
  /** Whether it is the index, which holds no rows and is written anew. */
  index: boolean
  why: PilasterError
}

export interface Recovered {
  /** A clean file. */
  bytes: Uint8Array
  rows: number
  extents: number
  lost: Loss[]
}

/** Makes a clean DataSeries file of all extents that are whole in a damaged or cut one. */
export function recover(source: FileSource, options?: { signal?: AbortSignal; fetch?: typeof fetch }): Promise<Recovered>
