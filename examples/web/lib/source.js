import { sourceError } from './error.js'

/** Number of bytes of the first HTTP request, which fetches small files completely. */
const FIRST = 64 << 10

/**
 * Makes a source of any argument of `open`: `byteLength`, and `slice(start, end, signal)`, which returns bytes or a promise.
 */
export async function sourceOf(from, { fetch = globalThis.fetch, signal } = {}) {
  if (from instanceof Uint8Array) return new Bytes(from)
  if (from instanceof ArrayBuffer) return new Bytes(new Uint8Array(from))
  if (typeof Blob !== 'undefined' && from instanceof Blob) return new OfBlob(from)
  if (typeof from === 'string' || from instanceof URL) return http(from, fetch, signal)
  if (typeof from?.byteLength === 'number' && typeof from.slice === 'function') return new Sliced(from)
  throw sourceError('not a source: bytes, a Blob, a URL, or an object with byteLength and slice(start, end)')
}

/** Bytes in memory. */
class Bytes {
  constructor(bytes) {
    this.bytes = bytes
    this.byteLength = bytes.byteLength
  }
  slice(start, end) {
    return this.bytes.subarray(start, end)
  }
}

/** A Blob, or a File with its name. */
class OfBlob {
  constructor(blob) {
    this.blob = blob
    this.byteLength = blob.size
    this.name = blob.name
  }
  async slice(start, end) {
    return new Uint8Array(await this.blob.slice(start, end).arrayBuffer())
  }
}

/** A source object of the caller. */
class Sliced {
  constructor(object) {
    this.object = object
    this.byteLength = object.byteLength
    this.name = object.name
    this.far = true
  }
  async slice(start, end, signal) {
    const got = await this.object.slice(start, end, signal)
    return got instanceof Uint8Array ? got : new Uint8Array(got)
  }
}

/** A file on a server that supports ranges. */
class Ranged {
  constructor(url, byteLength, first, fetch) {
    Object.assign(this, { url, byteLength, first, fetch, far: true })
    this.name = nameOf(url)
  }
  async slice(start, end, signal) {
    if (end <= this.first.length) return this.first.subarray(start, end)
    const response = await ask(this.fetch, this.url, start, end, signal)
    if (response.status !== 206) throw sourceError(`${this.url}: ${response.status} instead of a range`)
    const bytes = new Uint8Array(await response.arrayBuffer())
    if (bytes.length !== end - start) throw sourceError(`${this.url}: ${bytes.length} bytes instead of ${end - start}`)
    return bytes
  }
}

/** Makes the first request. A server without ranges answers it with the complete file. */
async function http(from, fetch, signal) {
  const url = String(from)
  const response = await ask(fetch, url, 0, FIRST, signal)
  if (response.status === 416) return Object.assign(new Bytes(new Uint8Array(0)), { name: nameOf(url) })
  if (!response.ok) throw sourceError(`${url}: ${response.status} ${response.statusText}`)
  const bytes = new Uint8Array(await response.arrayBuffer())
  const all = /\/(\d+)$/.exec(response.headers.get('content-range') ?? '')
  if (response.status !== 206) return Object.assign(new Bytes(bytes), { name: nameOf(url) })
  if (!all) throw sourceError(`${url}: the server does not say how long the file is (Content-Range)`)
  return new Ranged(url, Number(all[1]), bytes, fetch)
}

async function ask(fetch, url, start, end, signal) {
  try {
    return await fetch(url, { headers: { Range: `bytes=${start}-${end - 1}` }, signal })
  } catch (cause) {
    if (signal?.aborted) throw cause
    throw sourceError(`${url}: ${cause.message}`, cause)
  }
}

function nameOf(url) {
  try {
    return decodeURIComponent(new URL(url, 'file:///').pathname.split('/').pop())
  } catch {
    return ''
  }
}

/** Returns whether `from` is a directory: a Map of paths, or an object whose `file(path)` returns a source or null. */
export function isDirectory(from) {
  return from instanceof Map || typeof from?.file === 'function'
}

/** Returns the bytes of a file of a directory, or null if it does not exist. */
export async function fileOf(directory, path, options) {
  const found = directory instanceof Map ? (directory.get(path) ?? null) : await directory.file(path, options.signal)
  if (found === null || found === undefined) return null
  const source = await sourceOf(found, options)
  return source.slice(0, source.byteLength, options.signal)
}
