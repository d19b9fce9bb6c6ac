import { readFileSync } from 'node:fs'

import { open } from '../lib/index.js'

/**
 * Creates a Jay file whose data section is `gap` bytes further back, and so are the offsets of the buffers in its metadata.
 * The
 * source counts the requests.
 */
export async function farAway(gap = 5 * 2 ** 30) {
  const bytes = new Uint8Array(readFileSync(new URL('../../../tests/golden/jay/stats_n7.jay', import.meta.url)))
  const { columns } = await (await open(bytes)).info()
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const metadata = bytes.length - 16 - Number(view.getBigUint64(bytes.length - 16, true))
  for (const { offset, size } of columns.flatMap((column) => column.buffers).filter((buffer) => buffer.size > 0)) {
    // Stored offsets do not include the first eight bytes of the file.
    for (let at = metadata; at + 16 <= bytes.length - 16; at += 8) {
      if (view.getBigUint64(at, true) === BigInt(offset - 8) && view.getBigUint64(at + 8, true) === BigInt(size)) {
        view.setBigUint64(at, BigInt(offset - 8 + gap), true)
      }
    }
  }
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
