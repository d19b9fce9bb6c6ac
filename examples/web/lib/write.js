import { ELEMENTS } from './elements.js'
import { PilasterError, sourceError } from './error.js'
import { writer } from './module.js'
import { sourceOf } from './source.js'
import { Vector } from './vector.js'

/** The kinds of values that the module accepts. See `write.rs`. */
const BOOL = 1
const INT32 = 4
const INT64 = 5
const BYTE = 8
const FLOAT = 13
const DOUBLE = 14
const BYTES = 15
const UTF8 = 16

/** The kind and array type of each typed array in a DataSeries file, and in a Filo vector. */
const SERIES = new Map([
  [Int8Array, [INT32, Int32Array]], [Int16Array, [INT32, Int32Array]], [Int32Array, [INT32, Int32Array]],
  [Uint8Array, [BYTE, Uint8Array]], [Uint8ClampedArray, [BYTE, Uint8Array]], [Uint16Array, [INT32, Int32Array]],
  [Uint32Array, [INT64, BigInt64Array]], [BigInt64Array, [INT64, BigInt64Array]], [BigUint64Array, [INT64, BigInt64Array]],
  [Float32Array, [FLOAT, Float32Array]], [Float64Array, [DOUBLE, Float64Array]],
])
const FILO = new Map([...SERIES, [Uint8Array, [INT32, Int32Array]], [Uint8ClampedArray, [INT32, Int32Array]]])

/** The type of a field, by kind. */
const FIELDS = {
  [BOOL]: 'bool', [BYTE]: 'byte', [INT32]: 'int32', [INT64]: 'int64', [FLOAT]: 'double', [DOUBLE]: 'double',
  [BYTES]: 'variable32', [UTF8]: 'variable32',
}
/** The element types that fit each kind; the first one is the default. */
const FITTING = {
  [BOOL]: ['boolean'], [INT32]: ['int'], [INT64]: ['long', 'timestamp', 'datetime'], [FLOAT]: ['float'], [DOUBLE]: ['double'],
  [BYTES]: ['blob', 'utf8', 'string'], [UTF8]: ['utf8', 'string', 'blob'],
}
const UNITS = { s: 'seconds', ms: 'milliseconds', us: 'microseconds', ns: 'nanoseconds' }

const text = new TextEncoder()
const misuse = (field) => new PilasterError({ kind: 'Misuse', field, offset: 0, need: 0 })

/** Writes columns as a DataSeries file. See `index.d.ts`. */
export async function writeDataSeries({ name = 'Table', columns, compress = true }) {
  const given = columns.map((column) => prepared(column, SERIES))
  const rows = given[0]?.rows ?? 0
  const odd = given.findIndex((column) => column.rows !== rows)
  if (odd >= 0) throw misuse(`column ${columns[odd].name} has ${given[odd].rows} rows, not ${rows}`)
  const module = await writer()
  for (const column of given) module.column(column)
  module.input(text.encode(description(name, columns, given)))
  module.make((exports) => exports.dataseries(compress ? 1 : 0))
  return module.made()
}

/** Writes values as a Filo vector. See `index.d.ts`. */
export async function writeFilo(values, { validity, type, offsets } = {}) {
  const given = prepared({ values, validity }, FILO)
  const fitting = FITTING[given.kind]
  const time = values instanceof Vector && values.type === 'timestamp' && values.column.unit === 'ms'
  const element = type ?? (time ? 'timestamp' : fitting[0])
  if (!fitting.includes(element)) throw misuse(`a vector of ${element} cannot store such values (${fitting.join(', ')} can)`)
  if (element === 'datetime') given.spans = zones(offsets, given.rows)
  else if (offsets !== undefined) throw misuse(`a vector of ${element} has no offsets`)
  const module = await writer()
  module.column(given)
  module.make((exports) => exports.filo(ELEMENTS.indexOf(element) + 1))
  return module.made()
}

/** Returns offsets from UTC in milliseconds, a number for each row. Without `offsets`, all are 0. */
function zones(offsets, rows) {
  const of = offsets instanceof Vector ? offsets.values : offsets ?? new Int32Array(rows)
  if (of.length !== rows) throw misuse(`${of.length} offsets for ${rows} rows`)
  return of instanceof Int32Array ? of : Int32Array.from(of, (offset) => offset ?? 0)
}

/** Writes the intact extents of a damaged DataSeries file to a new one. See `index.d.ts`. */
export async function recover(from, options = {}) {
  const source = await sourceOf(from, options)
  if (source.byteLength > 2 ** 31) throw sourceError('a file of more than 2 GB cannot be recovered in a browser')
  const bytes = await source.slice(0, source.byteLength, options.signal)
  options.signal?.throwIfAborted()
  const module = await writer()
  module.input(bytes)
  module.make((exports) => exports.recover())
  const { lost, rows, extents } = module.about()
  return {
    bytes: module.made(), rows, extents,
    lost: lost.map(({ at, size, table, index = false, ...why }) => ({ offset: at, size, table, index, why: new PilasterError(why) })),
  }
}

/** Returns the XML description of a type. */
function description(name, columns, given) {
  const fields = columns.map((column, k) => {
    const unit = UNITS[column.unit ?? (column.values instanceof Vector ? column.values.column.unit : undefined)]
    return `  <field type="${FIELDS[given[k].kind]}" name="${escaped(column.name)}"` +
      `${given[k].validity ? ' opt_nullable="yes"' : ''}${unit ? ` units="${unit}" epoch="unix"` : ''} />\n`
  })
  return `<ExtentType name="${escaped(name)}">\n${fields.join('')}</ExtentType>\n`
}

function escaped(name) {
  return String(name).replace(/[&<>"\t\n\r]/g, (c) => `&#${c.charCodeAt(0)};`)
}

/** Converts a column to the form of the module: kind, rows, and bytes of values, validity and spans. */
function prepared({ values, validity = null }, kinds) {
  if (values instanceof Vector) return ofVector(values, kinds)
  if (Array.isArray(values)) return ofArray(values, kinds)
  if (ArrayBuffer.isView(values) && kinds.has(values.constructor)) return numbers(values, validity, kinds)
  throw misuse('values must be a typed array, an array or a Vector')
}

function ofVector(vector, kinds) {
  const { type, length: rows, validity } = vector
  switch (type) {
    case 'bool': return { kind: BOOL, rows, values: packed(vector.values), validity }
    case 'string': case 'bytes': case 'fixed_bytes': case 'object': {
      const spans = new Uint32Array(2 * rows)
      for (let i = 0; i < rows; i++) [spans[2 * i], spans[2 * i + 1]] = [vector.starts[i], vector.lengths[i]]
      return { kind: type === 'string' ? UTF8 : BYTES, rows, values: vector.data, validity, spans }
    }
    case 'null': case 'float16': case 'decimal': case 'list': case 'fixed_list': case 'struct': case 'map': case 'unknown':
      throw misuse(`a column of ${type} cannot be written`)
    default: return numbers(vector.values, validity, kinds)
  }
}

function numbers(values, validity, kinds) {
  const [kind, Type] = kinds.get(values.constructor)
  const rows = values.length
  if (validity && validity.length * 8 < rows) throw misuse(`${validity.length} bytes of validity for ${rows} rows`)
  if (values instanceof Type) return { kind, rows, values, validity }
  const to = new Type(rows)
  if (to instanceof BigInt64Array) {
    for (let i = 0; i < rows; i++) {
      const value = BigInt(values[i])
      if (value >= 2n ** 63n) throw new PilasterError({ kind: 'Lossy', field: 'an int64', offset: i, need: 0 })
      to[i] = value
    }
  } else {
    to.set(values)
  }
  return { kind, rows, values: to, validity }
}

/** Converts an array in which null or undefined are missing values. */
function ofArray(values, kinds) {
  const rows = values.length
  const first = values.find((value) => value !== null && value !== undefined)
  const some = values.some((value) => value === null || value === undefined)
  const validity = some ? packed(values.map((value) => value !== null && value !== undefined)) : null
  const same = (type) => {
    const odd = values.findIndex((value) => value !== null && value !== undefined && typeof value !== type)
    if (odd >= 0) throw misuse(`row ${odd} is not a ${type} like the rows before it`)
  }
  switch (typeof first) {
    case 'boolean':
      same('boolean')
      return { kind: BOOL, rows, values: packed(values), validity }
    case 'number':
      same('number')
      return numbers(Float64Array.from(values, (value) => value ?? 0), validity, kinds)
    case 'bigint':
      same('bigint')
      return numbers(BigInt64Array.from(values, (value) => {
        if (BigInt.asIntN(64, value ?? 0n) !== (value ?? 0n)) throw new PilasterError({ kind: 'Lossy', field: 'an int64', offset: values.indexOf(value), need: 0 })
        return value ?? 0n
      }), validity, kinds)
    case 'undefined': return { ...strings(values.map(() => new Uint8Array())), kind: UTF8, validity }
    case 'string':
      same('string')
      return { ...strings(values.map((value) => text.encode(value ?? ''))), kind: UTF8, validity }
  }
  const odd = values.findIndex((value) => value !== null && value !== undefined && !(value instanceof Uint8Array))
  if (odd >= 0) throw misuse(`row ${odd} is neither bytes nor null`)
  return { ...strings(values.map((value) => value ?? new Uint8Array())), kind: BYTES, validity }
}

/** Concatenates strings, and returns the bytes and the spans. */
function strings(all) {
  const spans = new Uint32Array(2 * all.length)
  let at = 0
  for (const [i, bytes] of all.entries()) {
    [spans[2 * i], spans[2 * i + 1]] = [at, bytes.length]
    at += bytes.length
  }
  const values = new Uint8Array(at)
  for (const [i, bytes] of all.entries()) values.set(bytes, spans[2 * i])
  return { rows: all.length, values, spans }
}

/** Packs booleans to one bit per row, the lowest bit first. */
function packed(truths) {
  const bits = new Uint8Array(Math.ceil(truths.length / 8))
  for (let i = 0; i < truths.length; i++) if (truths[i]) bits[i >> 3] |= 1 << (i & 7)
  return bits
}
