/// <reference lib="esnext.disposable" />

/** The element types of Filo vectors. A vector does not store its element type. */
export type FiloType =
  | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'string' | 'utf8' | 'blob' | 'timestamp' | 'datetime'

export type Format = 'filo' | 'dataseries' | 'jay' | 'bcolz' | 'vortex'

/** An object that returns ranges of a file. */
export interface RangeSource {
  readonly byteLength: number
  /** The name of the file; Filo vectors are detected by its extension. */
  readonly name?: string
  slice(start: number, end: number, signal?: AbortSignal): Uint8Array | ArrayBuffer | Promise<Uint8Array | ArrayBuffer>
}

/** A single file. A URL is read by ranges if the server supports them. */
export type FileSource = Uint8Array | ArrayBuffer | Blob | string | URL | RangeSource

/** A bcolz dataset: its files by their paths relative to the directory, such as `price/meta/sizes`. */
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
  /** The element type of a Filo vector. Without it, the error lists the types that fit. */
  type?: FiloType
  /** The name of the file, if the source has none. */
  name?: string
  /** Reads a DataSeries file sequentially, because its end is lost. */
  sequential?: boolean
  /** Reads the readable part of a damaged Jay file. */
  tolerant?: boolean
  /** A replacement for the global `fetch`. */
  fetch?: typeof fetch
}

export interface ReadOptions extends CallOptions {
  /** Names or numbers of columns; all columns by default. */
  columns?: readonly (string | number)[]
  /** The first row. */
  start?: number
  /** The row after the last one. */
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
  /** For dates, times and timestamps: the unit of the count since 1970 (or midnight): `D`, `s`, `ms`, `us`, `ns`, … */
  readonly unit?: string
  /** The time zone of a timestamp. */
  readonly zone?: string
  /** For a decimal: the number of all digits, and of digits after the point. */
  readonly precision?: number
  readonly scale?: number
  /** The size of a row of fixed_bytes and fixed_list. */
  readonly size?: number
  /** The name of the type in the format, if it differs: `variable32`, `str64`. */
  readonly stored?: string
  /** For a list or map the column of its items, for a struct its fields. */
  readonly children?: readonly Column[]
}

export type TypedArray =
  | Int8Array | Int16Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array | Uint32Array | BigUint64Array
  | Float32Array | Float64Array

export type Value =
  | null | boolean | number | bigint | string | Uint8Array | Value[] | { [field: string]: Value }

/** Rows of a column. A copy: nothing in it refers to the memory of the module. */
export class Vector implements Iterable<Value> {
  private constructor()
  readonly column: Column
  readonly type: TypeName
  readonly length: number
  /** One bit per row, the lowest first, 1 = valid; null if all rows have a value. */
  readonly validity: Uint8Array | null
  /** Numbers: 64-bit ones as BigInt; booleans as 0 and 1, float16 as its bits, wide decimals as words. */
  readonly values?: TypedArray
  /** Number of elements of `values` per row: 2 or 4 for decimals of 128 or 256 bits, the lowest word first; else 1. */
  readonly lanes?: number
  /** The bytes of strings; row `i` begins at `starts[i]` and has `lengths[i]` bytes. */
  readonly data?: Uint8Array
  /** Start and length of each row: of strings in `data`, of nested rows in the children. */
  readonly starts?: Uint32Array
  readonly lengths?: Uint32Array
  readonly children?: readonly Vector[]
  readonly nullCount: number
  isValid(row: number): boolean
  /** Returns the value of a row. A decimal is its integer without the point; times are the stored integers. */
  get(row: number): Value
  /** Returns the bytes of a row of strings as a view. */
  bytes(row: number): Uint8Array
  toArray(): Value[]
  [Symbol.iterator](): Iterator<Value>
}

export interface Batch {
  readonly start: number
  readonly end: number
  readonly vectors: Vector[]
}

/** A table. A DataSeries file can have several tables; files of other formats have one without a name. */
export class Table {
  private constructor()
  readonly name: string
  readonly rows: number
  readonly columns: readonly Column[]
  /** Reads rows of some columns, a vector for each. Fetches only the bytes of these rows. */
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
  /** The number of rows of all tables. */
  readonly rows: number
  /** The number of bytes of memory that the file uses now. */
  readonly memory: number
  /** Returns the table called `name`, or the only one. */
  table(name?: string): Table
  /** Verifies the file; throws the first error. */
  verify(options?: CallOptions): Promise<void>
  /** Describes how the file is stored; the result depends on the format. */
  info(options?: CallOptions): Promise<Record<string, unknown>>
  /** Releases all memory. */
  free(): void
  /** Calls `free` at the end of the scope of a `using` declaration. */
  [Symbol.dispose](): void
}

export type ErrorKind =
  | 'Truncated' | 'Trailing' | 'Invalid' | 'Unsupported' | 'WrongType' | 'Checksum' | 'Overflow' | 'Limit' | 'NoRoom'
  | 'OutOfRange' | 'Utf8' | 'Lossy' | 'Misuse' | 'Source'

/** An error in a file, with its position; if the kind is `Source`, an error of the source of the file. */
export class PilasterError extends Error {
  readonly kind: ErrorKind
  /** The name of the field in the format. */
  readonly field: string
  /** The offset in the file. */
  readonly offset: number
  /** The required size, or the value found. */
  readonly need: number
  /** The id of an unsupported encoding. */
  readonly id?: string
  /** The types that fit a Filo vector that was opened without one. */
  readonly fits?: FiloType[]
}

/** Opens a file. Fetches its metadata only, no rows. */
export function open(source: FileSource | DirectorySource, options?: OpenOptions): Promise<File>

type ModuleSource = WebAssembly.Module | BufferSource | Response | string | URL

/**
 * The modules of the package: one for each format, such as `pilaster-jay.wasm`, the verifier of Vortex,
 * `pilaster-vortex-verify.wasm`, and `pilaster-write.wasm`.
 */
export type ModuleName = Format | 'verifier' | 'writer'

/**
 * Sets WebAssembly modules to use instead of the modules of the package: compiled modules, their bytes, Responses, or URLs.
 * Not
 * required if the modules are in the folder of the package: the module of a format is loaded when the first such file is
 * opened, and the module that writes when something is written. A `reader` reads files of all formats: `pilaster.wasm`, which
 * has no `verify` and `info`; the module of the format is used for these.
 */
export function init(modules: { readonly [name in ModuleName | 'reader']?: ModuleSource }): Promise<void>

/** Loads modules ahead of time, one after the other; all if no name is given. They can then be used offline. */
export function preload(...modules: ModuleName[]): Promise<void>

/**
 * Values to write: a typed array, an array in which null is a missing value (of booleans, numbers as doubles, bigints, strings
 * or
 * bytes), or a Vector that was read.
 */
export type WritableValues =
  | TypedArray | Uint8ClampedArray | Vector
  | readonly (boolean | null)[] | readonly (number | null)[] | readonly (bigint | null)[] | readonly (string | null)[]
  | readonly (Uint8Array | null)[]

export interface WritableColumn {
  readonly name: string
  readonly values: WritableValues
  /** For a typed array: one bit per row, the lowest first, 1 = valid. */
  readonly validity?: Uint8Array | null
  /** The unit of integers that count since 1970, for the description of the type. */
  readonly unit?: 's' | 'ms' | 'us' | 'ns'
}

export interface WriteDataSeriesOptions {
  /** The name of the type of the rows. */
  name?: string
  columns: readonly WritableColumn[]
  /** Compresses by LZ4 each extent that becomes smaller; default true. */
  compress?: boolean
}

/**
 * Writes a DataSeries file. Integers up to 32 bits become int32 (Uint8Array: byte), wider ones int64, floats double, strings
 * and
 * bytes variable32. A value that no field can store is a PilasterError.
 */
export function writeDataSeries(table: WriteDataSeriesOptions): Promise<Uint8Array>

export interface WriteFiloOptions {
  validity?: Uint8Array | null
  /** If several types fit: `timestamp` or `datetime` (milliseconds) for 64-bit integers, `string` or `blob` for strings. */
  type?: FiloType
  /** For `datetime`: the offset from UTC of each row in milliseconds, multiples of a quarter of an hour; default 0. */
  offsets?: Int32Array | Vector | readonly (number | null)[]
}

/** Writes a Filo vector in the smallest lossless encoding. */
export function writeFilo(values: WritableValues, options?: WriteFiloOptions): Promise<Uint8Array>

/** Bytes of a damaged file that belong to no intact extent. */
export interface Loss {
  offset: number
  size: number
  /** The type of the lost rows, if known. */
  table?: string
  /** True if it is the index, which contains no rows and is written again. */
  index: boolean
  why: PilasterError
}

export interface Recovered {
  /** The new file. */
  bytes: Uint8Array
  rows: number
  extents: number
  lost: Loss[]
}

/** Writes all intact extents of a damaged or truncated DataSeries file to a new one. */
export function recover(source: FileSource, options?: { signal?: AbortSignal; fetch?: typeof fetch }): Promise<Recovered>
