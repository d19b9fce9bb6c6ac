/** Forms of values on the tape: 0 for nulls, the size of a number in bytes, or one of these. See `tape.rs`. */
const BOOL = 64
const STRINGS = 65
const NESTED = 66
/** The form of each type; for decimals and times, the narrowest. */
const FORMS = {
  null: 0, bool: BOOL, int8: 1, int16: 2, int32: 4, int64: 8, uint8: 1, uint16: 2, uint32: 4, uint64: 8, float16: 2, float32: 4,
  float64: 8, bytes: STRINGS, fixed_bytes: STRINGS, object: STRINGS, string: STRINGS, list: NESTED, fixed_list: NESTED,
  struct: NESTED, map: NESTED, decimal: 1, date: 4, time: 4, timestamp: 8,
}
/** Array type and number of elements per row, for all types but signed integers. */
const ARRAYS = {
  null: [Uint8Array, 0], bool: [Uint8Array, 1], uint8: [Uint8Array, 1], uint16: [Uint16Array, 1], uint32: [Uint32Array, 1],
  uint64: [BigUint64Array, 1], float16: [Uint16Array, 1], float32: [Float32Array, 1], float64: [Float64Array, 1],
}
const SIGNED = {
  0: [Uint8Array, 0], 1: [Int8Array, 1], 2: [Int16Array, 1], 4: [Int32Array, 1], 8: [BigInt64Array, 1], 16: [BigUint64Array, 2],
  32: [BigUint64Array, 4],
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Rows of a column. */
export class Vector {
  #texts

  constructor(column, length, parts) {
    this.column = column
    this.type = column.type
    this.length = length
    Object.assign(this, parts)
  }

  /** Returns whether row `i` has a value. */
  isValid(i) {
    return i >= 0 && i < this.length && (this.validity === null || (this.validity[i >> 3] >> (i & 7) & 1) === 1)
  }

  /** The number of missing rows. */
  get nullCount() {
    let count = 0
    if (this.validity !== null) for (let i = 0; i < this.length; i++) if (!this.isValid(i)) count++
    return count
  }

  /** Returns the value of row `i`, or null if it is missing. */
  get(i) {
    if (!this.isValid(i)) return null
    switch (this.type) {
      case 'null': return null
      case 'bool': return this.values[i] === 1
      case 'float16': return half(this.values[i])
      case 'decimal': return this.lanes > 1 ? wide(this.values, i, this.lanes) : BigInt(this.values[i])
      case 'string': return (this.#texts ??= []) [i] ??= utf8.decode(this.bytes(i))
      case 'bytes': case 'fixed_bytes': case 'object': return this.bytes(i)
      case 'list': case 'fixed_list': case 'map': {
        const start = this.starts[i]
        return Array.from({ length: this.lengths[i] }, (_, k) => this.children[0].get(start + k))
      }
      case 'struct':
        return Object.fromEntries(this.children.map((child) => [child.column.name, child.get(this.starts[i])]))
      default: return this.values[i]
    }
  }

  /** Returns the bytes of a row of strings as a view, not a copy. */
  bytes(i) {
    return this.data.subarray(this.starts[i], this.starts[i] + this.lengths[i])
  }

  *[Symbol.iterator]() {
    for (let i = 0; i < this.length; i++) yield this.get(i)
  }

  /** Returns all rows as an array. */
  toArray() {
    return Array.from(this)
  }
}

/** Returns a signed number of several 64-bit words, the lowest first. */
function wide(words, i, lanes) {
  let value = 0n
  for (let lane = lanes - 1; lane >= 0; lane--) value = value << 64n | words[i * lanes + lane]
  return BigInt.asIntN(64 * lanes, value)
}

/** Converts the bits of a half float. */
export function half(bits) {
  const exponent = bits >> 10 & 0x1f
  const fraction = bits & 0x3ff
  const size = exponent === 0 ? fraction * 2 ** -24
    : exponent < 0x1f ? (1 + fraction / 1024) * 2 ** (exponent - 15)
    : fraction === 0 ? Infinity : NaN
  return bits >> 15 ? -size : size
}

/** Concatenates the batches of a column. */
export class Builder {
  #column
  #length = 0
  #form
  #values
  #valid = null
  #data = { bytes: new Uint8Array(0), used: 0 }
  #starts
  #lengths
  #children = []

  constructor(column, capacity) {
    this.#column = column
    this.#form = FORMS[column.type] ?? 0
    this.#allocate(capacity)
    if (this.#form === NESTED) this.#children = column.children.map((child) => new Builder(child, 0))
  }

  get length() {
    return this.#length
  }

  /** Returns array type and number of elements per row, for numbers and booleans. */
  #array(form = this.#form) {
    return ARRAYS[this.#column.type] ?? SIGNED[form]
  }

  #allocate(capacity) {
    if (this.#form >= STRINGS) {
      this.#starts = new Uint32Array(capacity)
      this.#lengths = new Uint32Array(capacity)
    } else {
      const [Type, lanes] = this.#array()
      this.#values = new Type(capacity * lanes)
    }
  }

  /** Reads nodes from the tape until `rows` more rows are complete. Returns the position of the next node. */
  take(tape, at, rows) {
    const end = this.#length + rows
    do {
      at = this.#node(tape, at)
    } while (this.#length < end)
    return at
  }

  #node({ words, memory }, at) {
    const [form, rows, validity, address, bytes, spans, childRows] = words.subarray(at, at + 8)
    at += 8
    const first = this.#length
    this.#grow(first + rows)
    if (form > this.#form) this.#change(form)
    if (form >= STRINGS) {
      const base = form === NESTED ? (this.#children[0]?.length ?? 0) : this.#bytes(new Uint8Array(memory, address, bytes))
      this.#starts.set(new Uint32Array(memory, spans, rows), first)
      this.#lengths.set(new Uint32Array(memory, spans + 4 * rows, rows), first)
      if (base > 0) for (let i = first; i < first + rows; i++) this.#starts[i] += base
    } else if (form === BOOL) {
      const bits = new Uint8Array(memory, address, Math.ceil(rows / 8))
      for (let i = 0; i < rows; i++) this.#values[first + i] = bits[i >> 3] >> (i & 7) & 1
    } else if (form > 0) {
      const [Type, lanes] = this.#array(form)
      const values = new Type(memory, address, rows * lanes)
      if (form === this.#form) this.#values.set(values, first * lanes)
      else this.#widen(values, lanes, rows, first)
    }
    // A column of type null has neither validity nor values.
    if (validity > 0 && this.#form > 0) {
      this.#missing(validity === 1 ? null : new Uint8Array(memory, validity, Math.ceil(rows / 8)), first, rows)
    } else if (this.#valid) {
      for (let i = first; i < first + rows; i++) this.#valid[i >> 3] |= 1 << (i & 7)
    }
    this.#length += rows
    for (const child of this.#children) at = child.take({ words, memory }, at, childRows)
    return at
  }

  #bytes(more) {
    const { bytes, used } = this.#data
    if (used + more.length > bytes.length) {
      const room = new Uint8Array(Math.max(used + more.length, used > 0 ? bytes.length * 2 : 0))
      room.set(bytes.subarray(0, used))
      this.#data.bytes = room
    }
    this.#data.bytes.set(more, used)
    this.#data.used += more.length
    return used
  }

  #missing(bits, first, rows) {
    if (this.#valid === null) {
      this.#valid = new Uint8Array(Math.ceil(Math.max(this.#rows(), first + rows) / 8))
      for (let i = 0; i < first; i++) this.#valid[i >> 3] |= 1 << (i & 7)
    }
    if (bits === null) return
    if ((first & 7) === 0) {
      this.#valid.set(bits, first >> 3)
      if (rows & 7) this.#valid[first + rows >> 3] &= (1 << (rows & 7)) - 1
      return
    }
    for (let i = 0; i < rows; i++) if (bits[i >> 3] >> (i & 7) & 1) this.#valid[first + i >> 3] |= 1 << (first + i & 7)
  }

  /** Returns the capacity in rows. */
  #rows() {
    if (this.#form >= STRINGS) return this.#starts.length
    const [, lanes] = this.#array()
    return lanes > 0 ? this.#values.length / lanes : Infinity
  }

  #grow(rows) {
    if (this.#valid && this.#valid.length * 8 < rows) this.#valid = grown(this.#valid, Math.ceil(rows / 8))
    if (rows <= this.#rows()) return
    if (this.#form >= STRINGS) {
      this.#starts = grown(this.#starts, rows)
      this.#lengths = grown(this.#lengths, rows)
    } else {
      this.#values = grown(this.#values, rows * this.#array()[1])
    }
  }

  /** Widens the values. The width of decimals differs by chunk, that of times by unit; the widest so far can hold all. */
  #change(form) {
    const [values, lanes, room] = [this.#values, this.#array()[1], this.#rows()]
    this.#form = form
    this.#allocate(room)
    this.#widen(values, lanes, this.#length, 0)
  }

  /** Inserts narrower integers. */
  #widen(values, lanes, rows, first) {
    const [, to] = this.#array()
    for (let i = 0; i < rows; i++) {
      const value = lanes > 1 ? wide(values, i, lanes) : BigInt(values[i])
      if (to === 1) this.#values[first + i] = this.#values instanceof BigInt64Array ? value : Number(value)
      else for (let k = 0; k < to; k++) this.#values[(first + i) * to + k] = value >> BigInt(64 * k)
    }
  }

  finish() {
    const rows = this.#length
    const parts = { validity: this.#valid && this.#valid.subarray(0, Math.ceil(rows / 8)) }
    if (this.#column.type === 'null') parts.validity = new Uint8Array(Math.ceil(rows / 8))
    if (this.#form >= STRINGS) {
      parts.starts = this.#starts.subarray(0, rows)
      parts.lengths = this.#lengths.subarray(0, rows)
      if (this.#form === NESTED) parts.children = this.#children.map((child) => child.finish())
      else parts.data = this.#data.bytes.subarray(0, this.#data.used)
    } else {
      parts.lanes = this.#array()[1]
      parts.values = this.#values.subarray(0, rows * parts.lanes)
    }
    return new Vector(this.#column, rows, parts)
  }
}

function grown(array, length) {
  const more = new array.constructor(Math.max(length, array.length * 2))
  more.set(array)
  return more
}
