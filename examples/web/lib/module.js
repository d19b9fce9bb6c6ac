import { PilasterError, sourceError } from './error.js'
import { fileOf } from './source.js'

const DONE = 0
const WANTED = 1
const FAILED = 2

/** Files up to this length are taken whole, when they are near. */
const WHOLE = 4 << 20
/** Ranges that are no further apart than this are one request. */
const GAP = 16 << 10
/** Requests at once. */
const AT_ONCE = 8

const text = new TextDecoder()

/** The modules beside this package: one for each format, and one that writes. Bundlers look for these very words. */
const PLACES = {
  filo: () => new URL('../pilaster-filo.wasm', import.meta.url),
  dataseries: () => new URL('../pilaster-dataseries.wasm', import.meta.url),
  jay: () => new URL('../pilaster-jay.wasm', import.meta.url),
  bcolz: () => new URL('../pilaster-bcolz.wasm', import.meta.url),
  vortex: () => new URL('../pilaster-vortex.wasm', import.meta.url),
  writer: () => new URL('../pilaster-write.wasm', import.meta.url),
}
/** What files of these formats begin with. */
const MAGIC = { DSv1: 'dataseries', JAY1: 'jay', VTXF: 'vortex', blpk: 'bcolz' }
/** How a module of other formats names one of these. */
const NAMED = {
  'Filo vector': 'filo', 'DataSeries file': 'dataseries', 'Jay file': 'jay', 'bcolz chunk': 'bcolz', 'Vortex file': 'vortex',
}
/** Promises of compiled modules: those that the caller named, and those that were loaded from beside this package. */
const named = {}
const loaded = {}

/**
 * Says which WebAssembly modules are used instead of those beside this package: compiled ones, their bytes, Responses, or
 * their URLs.
 */
export async function init(modules = {}) {
  for (const [which, module] of Object.entries(modules)) {
    if (which !== 'reader') known(which)
    named[which] = compile(module)
  }
  await Promise.all(Object.values(named))
}

/** Loads modules before they are needed, one after the other: all where none is named. */
export async function preload(...modules) {
  for (const which of modules.length ? modules : Object.keys(PLACES)) await moduleOf(which)
}

function known(which) {
  if (!Object.hasOwn(PLACES, which)) throw sourceError(`there is no module ${which}`)
}

/** A module, which is loaded when it is wanted first. */
async function moduleOf(which) {
  if (named[which]) return named[which]
  known(which)
  loaded[which] ??= compile(PLACES[which]())
  try {
    return await loaded[which]
  } catch (error) {
    // Whoever comes next tries again.
    delete loaded[which]
    throw error
  }
}

async function compile(module) {
  if (module instanceof WebAssembly.Module) return module
  if (module instanceof Uint8Array || module instanceof ArrayBuffer) return WebAssembly.compile(module)
  if (typeof Response !== 'undefined' && module instanceof Response) return WebAssembly.compile(await module.arrayBuffer())
  const url = new URL(module, import.meta.url)
  if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
    const { readFile } = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises')
    return WebAssembly.compile(await readFile(url))
  }
  const response = await fetch(url)
  if (!response.ok) throw sourceError(`${url}: ${response.status} ${response.statusText}`)
  return WebAssembly.compile(await response.arrayBuffer())
}

/** Hands bytes over to an instance. */
function put(exports, bytes) {
  const at = exports.input(bytes.byteLength)
  if (at === 0) throw new PilasterError({ kind: 'NoRoom', field: 'input', offset: 0, need: bytes.byteLength })
  const from = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  new Uint8Array(exports.memory.buffer, at >>> 0, bytes.byteLength).set(from)
}

/** The module says whether it had memory to note what it was told. */
function noted(done) {
  if (!done) throw new PilasterError({ kind: 'NoRoom', field: 'memory', offset: 0, need: 0 })
}

/** One instance: one open file. Dropping it frees all its memory. */
export class Module {
  /**
   * Opens a file in the module of its format; `said` is what there is to say of it. Filo vectors begin with anything: what
   * begins as no other format does is opened in their module, the smallest, which names the format if it is another one.
   */
  static async open(source, directory, said, options) {
    if (named.reader) return new Module('reader', source, directory, said, options).#opened(options)
    const format = directory ? 'bcolz' : await begun(source, options.signal)
    const first = new Module(format, source, directory, said, options)
    try {
      return await first.#opened(options)
    } catch (error) {
      const other = error?.kind === 'Unsupported' ? NAMED[error.field] : undefined
      if (other === undefined || other === format) throw error
      return first.#again(other, options)
    }
  }

  /** An instance over the same source that can verify and describe: this one, unless the caller named a module that cannot. */
  async checker(signal) {
    return this.#exports.verify ? this : this.#again(this.facts.format, { signal })
  }

  /** The file opened once more in another module, without fetching again what opened it here. */
  #again(which, options) {
    const source = remembering(this.#source, this.#opening)
    return new Module(which, source, this.#directory, this.#said, this.#options).#opened(options)
  }

  /** What the file was found to be. */
  facts = null
  #which
  #exports
  #source
  #directory
  #options
  #said
  /** What was fetched to open the file: whoever verifies opens it again. */
  #opening = []
  #queue = Promise.resolve()

  constructor(which, source, directory, said, options) {
    this.#which = which
    this.#source = source
    this.#directory = directory
    this.#said = said
    this.#options = options
  }

  /** Says what the file is, and opens it. */
  async #opened(options) {
    this.#exports = (await WebAssembly.instantiate(await moduleOf(this.#which))).exports
    const { length, name, flags, element } = this.#said
    this.input(new TextEncoder().encode(name))
    this.#exports.file(BigInt(length), flags, element)
    this.facts = await this.call((exports) => exports.open(), (reply) => reply, options)
    return this
  }

  /** How many bytes of memory the module holds. */
  get memory() {
    return this.#exports.memory.buffer.byteLength
  }

  /** Hands over bytes. */
  input(bytes) {
    put(this.#exports, bytes)
  }

  /**
   * Makes a call until it has all bytes that it wants. Calls of one file come one after the other; `take` sees the
   * memory before the next one.
   */
  call(make, take, { signal, onProgress } = {}) {
    const run = async () => {
      for (;;) {
        signal?.throwIfAborted()
        const status = make(this.#exports, this)
        if (status === DONE) return take(this.reply(), this)
        if (status === FAILED) throw new PilasterError(this.reply())
        if (status === WANTED) {
          await this.#fetch(this.reply(), signal)
        } else {
          onProgress?.(this.reply())
          // Others have their turn.
          await new Promise((resolve) => setTimeout(resolve))
        }
      }
    }
    const result = this.#queue.then(run)
    this.#queue = result.catch(() => {})
    return result
  }

  reply() {
    const { memory, reply, reply_len } = this.#exports
    return JSON.parse(text.decode(new Uint8Array(memory.buffer, reply() >>> 0, reply_len())))
  }

  /** The words about the rows that were read, and the memory that they point into. */
  tape() {
    const { memory, tape, tape_len } = this.#exports
    return { words: new Uint32Array(memory.buffer, tape() >>> 0, tape_len()).slice(), memory: memory.buffer }
  }

  async #fetch(wanted, signal) {
    const requests = this.#directory ? wanted.map((one, number) => ({ ...one, number })) : merged(wanted, this.#source)
    // Each is handed over when it is there, so that none waits in memory for the others.
    const next = async () => {
      for (let one = requests.shift(); one; one = requests.shift()) {
        const bytes = this.#directory
          ? await fileOf(this.#directory, one.path, { ...this.#options, signal })
          : await this.#source.slice(one.at, one.at + one.len, signal)
        signal?.throwIfAborted()
        if (bytes === null) {
          noted(this.#exports.absent(one.number))
          continue
        }
        if (!this.#directory && bytes.length !== one.len) {
          throw sourceError(`the source gave ${bytes.length} bytes instead of ${one.len} at ${one.at}`)
        }
        if (this.facts === null && this.#source.far) this.#opening.push({ at: one.at, bytes })
        this.input(bytes)
        noted(this.#exports.give(one.number, BigInt(one.at)))
      }
    }
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, requests.length) }, next))
  }
}

/** One instance of the module that writes: one file. */
class Writer {
  #exports

  constructor(instance) {
    this.#exports = instance.exports
  }

  input(bytes) {
    put(this.#exports, bytes)
  }

  /** Hands over a column: its parts by their numbers. */
  column({ kind, rows, values, validity, spans }) {
    noted(this.#exports.column(kind, rows))
    for (const [which, bytes] of [values, validity, spans].entries()) {
      if (!bytes) continue
      this.input(bytes)
      this.#exports.part(which)
    }
  }

  make(call) {
    if (call(this.#exports) !== DONE) throw new PilasterError(this.about())
  }

  /** The file, which is the caller's. */
  made() {
    const { memory, made, made_len } = this.#exports
    return new Uint8Array(memory.buffer, made() >>> 0, made_len()).slice()
  }

  about() {
    const { memory, about, about_len } = this.#exports
    return JSON.parse(text.decode(new Uint8Array(memory.buffer, about() >>> 0, about_len())))
  }
}

/** A new instance of the module that writes. */
export async function writer() {
  return new Writer(await WebAssembly.instantiate(await moduleOf('writer')))
}

/** The format by what a file begins with. */
async function begun(source, signal) {
  if (source.byteLength < 4) return 'filo'
  const bytes = await source.slice(0, 4, signal)
  return MAGIC[text.decode(bytes)] ?? 'filo'
}

/** The same source, of which some ranges are there already. */
function remembering(source, ranges) {
  const slice = async (start, end, signal) => {
    const known = ranges.find(({ at, bytes }) => at <= start && end <= at + bytes.length)
    return known ? known.bytes.subarray(start - known.at, end - known.at) : source.slice(start, end, signal)
  }
  return { byteLength: source.byteLength, far: source.far, slice }
}

/** The ranges to ask for: neighbours together, and a small near file whole. */
function merged(wanted, source) {
  if (!source.far && source.byteLength <= WHOLE) return [{ number: 0, at: 0, len: source.byteLength }]
  const sorted = wanted.map((one, number) => ({ ...one, number })).sort((a, b) => a.at - b.at)
  const all = []
  for (const one of sorted) {
    const last = all.at(-1)
    if (last && one.at <= last.at + last.len + GAP) {
      last.len = Math.max(last.len, one.at + one.len - last.at)
    } else {
      all.push(one)
    }
  }
  return all
}
