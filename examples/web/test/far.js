import { readFileSync } from 'node:fs'

import { open } from '../lib/index.js'

/**
 * Creates a Jay file whose data section is `gap` bytes further back, and so are the offsets of the buffers in its metadata.
 * The
 * source counts the requests.
 */
export async function farAway(gap = 5 * 2 ** 30) {
  const bytes = await patched('stats_n7', ({ offset, size }) => [offset + gap, size])
  return {
    byteLength: bytes.length + gap,
    fetched: 0,
    bytes(start, end) {
      this.fetched += end - start
      return Uint8Array.from({ length: end - start }, (_, i) => {
        const at = start + i
        return at < 8 ? bytes[at] : at < 8 + gap ? 0 : bytes[at - gap]
      })
    },
  }
}

/**
 * Creates a Jay file of `rows` rows, at least 10. All rows are zeros, which exist only when they are read. The source counts
 * the bytes.
 */
export async function long(rows) {
  // Its three columns have up to eight bytes per row.
  const room = Math.ceil(rows + 1) * 8
  let end = 8
  const bytes = await patched('legacy_oldstyle', ({ size }) => {
    const at = end
    end += room
    return [at, size === 20 ? (rows + 1) * 4 : size === 14 ? 14 : (size / 4) * rows]
  })
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const metadata = start(view)
  for (let at = metadata; at + 8 <= bytes.length; at += 8) {
    if (view.getBigUint64(at, true) === 4n) view.setBigUint64(at, BigInt(rows), true)
  }
  return {
    byteLength: end + bytes.length - metadata,
    fetched: 0,
    slice(start, stop) {
      this.fetched += stop - start
      const part = new Uint8Array(stop - start)
      for (const [at, known] of [[0, bytes.subarray(0, 8)], [end, bytes.subarray(metadata)]]) {
        const [from, to] = [Math.max(start, at), Math.min(stop, at + known.length)]
        if (from < to) part.set(known.subarray(from - at, to - at), from - start)
      }
      return part
    },
  }
}

/** Returns the offset of the metadata. */
function start(view) {
  return view.byteLength - 16 - Number(view.getBigUint64(view.byteLength - 16, true))
}

/** Returns a golden file whose metadata describe other buffers: `move` returns offset and size for those of a buffer. */
async function patched(name, move) {
  const bytes = new Uint8Array(readFileSync(new URL(`../../../tests/golden/jay/${name}.jay`, import.meta.url)))
  const { columns } = await (await open(bytes)).info()
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const places = columns.flatMap((column) => column.buffers).filter((buffer) => buffer.size > 0).map((buffer) => {
    for (let at = start(view); at + 16 <= bytes.length - 16; at += 8) {
      // Stored offsets do not include the first eight bytes of the file.
      const stored = [view.getBigUint64(at, true), view.getBigUint64(at + 8, true)]
      if (stored[0] === BigInt(buffer.offset - 8) && stored[1] === BigInt(buffer.size)) return [at, move(buffer)]
    }
    throw new Error(`no buffer at ${buffer.offset}`)
  })
  for (const [at, [offset, size]] of places) {
    view.setBigUint64(at, BigInt(offset - 8), true)
    view.setBigUint64(at + 8, BigInt(size), true)
  }
  return bytes
}
