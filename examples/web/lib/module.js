import { PilasterError, sourceError } from './error.js'
import { fileOf } from './source.js'

const DONE = 0
const WANTED = 1
const FAILED = 2

/** Local files up to this length in bytes are fetched completely. */
const WHOLE = 4 << 20
/** Ranges with at most this many bytes between them are fetched by one request. */
const GAP = 16 << 10
/** Maximum number of simultaneous requests. */
const AT_ONCE = 8

const text = new TextDecoder()

/** The modules of this package: one for each format, one that verifies Vortex, and one that writes. Bundlers recognise exactly this form. */
const PLACES = {
  filo: () => new URL('../pilaster-filo.wasm', import.meta.url),
  dataseries: () => new URL('../pilaster-dataseries.wasm', import.meta.url),
  jay: () => new URL('../pilaster-jay.wasm', import.meta.url),
  bcolz: () => new URL('../pilaster-bcolz.wasm', import.meta.url),
  vortex: () => new URL('../pilaster-vortex.wasm', import.meta.url),
  verifier: () => new URL('../pilaster-vortex-verify.wasm', import.meta.url),
  writer: () => new URL('../pilaster-write.wasm', import.meta.url),
}
/** The first bytes of files of these formats. */
const MAGIC = { DSv1: 'dataseries', JAY1: 'jay', VTXF: 'vortex', blpk: 'bcolz' }
/** The names of formats in the errors of a module for another format. */
const NAMED = {
  'Filo vector': 'filo', 'DataSeries file': 'dataseries', 'Jay file': 'jay', 'bcolz chunk': 'bcolz', 'Vortex file': 'vortex',
}
/** Promises of compiled modules: modules that the caller provided, and modules of this package that were loaded. */
const named = {}
const loaded = {}

/**
 * Sets WebAssembly modules to use instead of the modules of this package: compiled modules, their bytes, Responses, or URLs.
 */
export async function init(modules = {}) {
  for (const [which, module] of Object.entries(modules)) {
    if (which !== 'reader') known(which)
    named[which] = compile(module)
  }
  await Promise.all(Object.values(named))
}

/** Loads modules ahead of time, one after the other; all if no name is given. */
export async function preload(...modules) {
  for (const which of modules.length ? modules : Object.keys(PLACES)) await moduleOf(which)
}

function known(which) {
  if (!Object.hasOwn(PLACES, which)) throw sourceError(`there is no module ${which}`)
}

/** Returns a module, which is loaded on first use. */
async function moduleOf(which) {
  if (named[which]) return named[which]
  known(which)
  loaded[which] ??= compile(PLACES[which]())
  try {
    return await loaded[which]
  } catch (error) {
    // The next call retries.
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

/** Copies bytes into the input of an instance. */
function put(exports, bytes) {
  const at = exports.input(bytes.byteLength)
  if (at === 0) throw new PilasterError({ kind: 'NoRoom', field: 'input', offset: 0, need: bytes.byteLength })
  const from = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  new Uint8Array(exports.memory.buffer, at >>> 0, bytes.byteLength).set(from)
}

/** Throws if the module had no memory for a call. */
function noted(done) {
  if (!done) throw new PilasterError({ kind: 'NoRoom', field: 'memory', offset: 0, need: 0 })
}

/** An instance for one open file. Dropping it frees all its memory. */
export class Module {
  /**
   * Opens a file in the module of its format. `said`: the description of the file. A Filo vector can begin with any bytes, so
   * a
   * file that does not begin like another format is opened in the Filo module, the smallest. Its error names another format.
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

  /**
   * Returns an instance with the function `name` for the same source: this one, or of the module of the format. The module of
   * Vortex does not verify; the verifier does.
   */
  async having(name, signal) {
    if (this.#exports[name]) return this
    const { format } = this.facts
    return this.#again(name === 'verify' && format === 'vortex' ? 'verifier' : format, { signal })
  }

  /** Opens the file again in another module, without fetching again the bytes that were used to open it here. */
  #again(which, options) {
    const source = remembering(this.#source, this.#opening)
    return new Module(which, source, this.#directory, this.#said, this.#options).#opened(options)
  }

  /** The description of the opened file. */
  facts = null
  #which
  #exports
  #source
  #directory
  #options
  #said
  /** The ranges that were fetched to open the file; another module uses them to open it again. */
  #opening = []
  #queue = Promise.resolve()

  constructor(which, source, directory, said, options) {
    this.#which = which
    this.#source = source
    this.#directory = directory
    this.#said = said
    this.#options = options
  }

  /** Passes the description of the file to the module, and opens the file. */
  async #opened(options) {
    this.#exports = (await WebAssembly.instantiate(await moduleOf(this.#which))).exports
    const { length, name, flags, element } = this.#said
    this.input(new TextEncoder().encode(name))
    this.#exports.file(BigInt(length), flags, element)
    this.facts = await this.call((exports) => exports.open(), (reply) => reply, options)
    return this
  }

  /** The size of the memory of the module in bytes. */
  get memory() {
    return this.#exports.memory.buffer.byteLength
  }

  /** Copies bytes into the input of the module. */
  input(bytes) {
    put(this.#exports, bytes)
  }

  /**
   * Repeats a call until it has all requested bytes. The calls of one file run one after the other; `take` reads the memory
   * before
   * the next one.
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
          // Lets other tasks run.
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

  /** The words that locate the rows that were read, and the memory that they point into. */
  tape() {
    const { memory, tape, tape_len } = this.#exports
    return { words: new Uint32Array(memory.buffer, tape() >>> 0, tape_len()).slice(), memory: memory.buffer }
  }

  async #fetch(wanted, signal) {
    const requests = this.#directory ? wanted.map((one, number) => ({ ...one, number })) : merged(wanted, this.#source)
    // Passes each on as soon as it arrives, so that none is kept in memory until the others arrive.
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

/** An instance of the module that writes, for one file. */
class Writer {
  #exports

  constructor(instance) {
    this.#exports = instance.exports
  }

  input(bytes) {
    put(this.#exports, bytes)
  }

  /** Passes a column to the module. The index of a part is its number. */
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

  /** Returns a copy of the file. */
  made() {
    const { memory, made, made_len } = this.#exports
    return new Uint8Array(memory.buffer, made() >>> 0, made_len()).slice()
  }

  about() {
    const { memory, about, about_len } = this.#exports
    return JSON.parse(text.decode(new Uint8Array(memory.buffer, about() >>> 0, about_len())))
  }
}

/** Creates an instance of the module that writes. */
export async function writer() {
  return new Writer(await WebAssembly.instantiate(await moduleOf('writer')))
}

/** Detects the format by the first bytes of a file. */
async function begun(source, signal) {
  if (source.byteLength < 4) return 'filo'
  const bytes = await source.slice(0, 4, signal)
  return MAGIC[text.decode(bytes)] ?? 'filo'
}

/** Wraps a source of which some ranges are already fetched. */
function remembering(source, ranges) {
  const slice = async (start, end, signal) => {
    const known = ranges.find(({ at, bytes }) => at <= start && end <= at + bytes.length)
    return known ? known.bytes.subarray(start - known.at, end - known.at) : source.slice(start, end, signal)
  }
  return { byteLength: source.byteLength, far: source.far, slice }
}

/** Returns the ranges to request: near ones merged, and a small local file completely. */
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
