import { ELEMENTS } from './elements.js'
import { PilasterError, sourceError } from './error.js'
import { Module, init, preload } from './module.js'
import { isDirectory, sourceOf } from './source.js'
import { Builder, Vector } from './vector.js'
import { recover, writeDataSeries, writeFilo } from './write.js'

export { PilasterError, Vector, init, open, preload, recover, writeDataSeries, writeFilo }

/** Opens a file. See `index.d.ts`. */
async function open(from, options = {}) {
  const { signal, type, name, sequential = false, tolerant = false } = options
  signal?.throwIfAborted()
  const element = type === undefined ? 0 : ELEMENTS.indexOf(type) + 1
  if (type !== undefined && element === 0) throw sourceError(`there is no element type ${type}`)
  const directory = isDirectory(from) ? from : null
  const source = directory ? { byteLength: 0, name: '' } : await sourceOf(from, options)
  const flags = (directory ? 1 : 0) | (sequential ? 2 : 0) | (tolerant ? 4 : 0)
  const said = { length: source.byteLength, name: name ?? source.name ?? '', flags, element }
  const module = await Module.open(source, directory, said, options)
  return new File(module, said.name)
}

/** An open file. */
class File {
  #module

  constructor(module, name) {
    const { format, size, tables } = module.facts
    this.#module = module
    this.name = name
    this.format = format
    this.byteLength = size
    const live = () => this.#live()
    this.tables = tables.map((table, number) => new Table(live, number, table))
  }

  /** Returns the table called `name`, or the only one. */
  table(name) {
    const found = name === undefined ? this.tables[0] : this.tables.find((table) => table.name === name)
    if (!found || (name === undefined && this.tables.length > 1)) {
      throw sourceError(`choose a table: ${this.tables.map((table) => table.name).join(', ')}`)
    }
    return found
  }

  /** The number of rows of all tables. */
  get rows() {
    return this.tables.reduce((sum, table) => sum + table.rows, 0)
  }

  /** The number of bytes of memory that the file uses now. */
  get memory() {
    return this.#module ? this.#module.memory : 0
  }

  /** Verifies the file; throws the first error. */
  async verify(options = {}) {
    const module = await this.#live().having('verify', options.signal)
    await module.call((exports) => exports.verify(), (reply) => reply, options)
  }

  /** Describes how the file is stored. */
  async info(options = {}) {
    const module = await this.#live().having('info', options.signal)
    return module.call((exports) => exports.info(), (reply) => reply, options)
  }

  /** Releases all memory. */
  free() {
    this.#module = null
  }

  [Symbol.dispose ?? Symbol.for('Symbol.dispose')]() {
    this.free()
  }

  #live() {
    if (!this.#module) throw sourceError('the file was freed')
    return this.#module
  }
}

/** A table of a file. */
class Table {
  #live
  #number

  constructor(live, number, facts) {
    this.#live = live
    this.#number = number
    this.name = facts.name
    this.rows = facts.rows
    this.columns = facts.columns
  }

  /** Reads rows of some columns. Returns a vector for each, in their order. */
  async read(options = {}) {
    const { columns, start = 0, end = this.rows, onProgress, ...rest } = options
    const numbers = this.#numbers(columns)
    const to = Math.min(end, this.rows)
    const from = Math.min(Math.max(start, 0), to)
    const builders = numbers.map((k) => new Builder(this.columns[k], to - from))
    for (let row = from; row < to; ) {
      row += await this.#step(numbers, builders, row, to, rest)
      onProgress?.({ done: row - from, of: to - from })
    }
    return builders.map((builder) => builder.finish())
  }

  /** Reads rows in batches; the memory does not grow with the number of rows. */
  async *batches(options = {}) {
    const { size = 1 << 16, start = 0, end = this.rows, ...rest } = options
    const to = Math.min(end, this.rows)
    for (let row = Math.max(start, 0); row < to; row += size) {
      const last = Math.min(row + size, to)
      yield { start: row, end: last, vectors: await this.read({ ...rest, start: row, end: last }) }
    }
  }

  async #step(numbers, builders, row, to, options) {
    const wanted = new Uint8Array(new Uint32Array(numbers).buffer)
    const make = (exports, module) => {
      module.input(wanted)
      return exports.read(this.#number, BigInt(row), BigInt(to))
    }
    const take = (rows, module) => {
      const tape = module.tape()
      let at = 0
      for (const builder of builders) at = builder.take(tape, at, rows)
      return rows
    }
    const rows = await this.#live().call(make, take, options)
    if (rows === 0) throw new PilasterError({ kind: 'Truncated', field: 'row', offset: row, need: to - row })
    return rows
  }

  #numbers(columns) {
    if (columns === undefined) return this.columns.map((_, k) => k)
    return columns.map((wanted) => {
      const k = typeof wanted === 'number' ? wanted : this.columns.findIndex((column) => column.name === wanted)
      if (!this.columns[k]) {
        throw new PilasterError({ kind: 'OutOfRange', field: `column ${wanted}`, offset: k, need: this.columns.length })
      }
      return k
    })
  }
}
