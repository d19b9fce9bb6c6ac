import { readFileSync } from 'node:fs'

import { open } from '../lib/index.js'

/**
 * A Jay file whose data section lies 5 GB further back, or as far as `gap` says, as each buffer of its metadata says; it
 * keeps count of what is asked of it.
 */
export async function farAway(gap = 5 * 2 ** 30) {
  const bytes = new Uint8Array(readFileSync(new URL('../../../tests/golden/jay/stats_n7.jay', import.meta.url)))
  const { columns } = await (await open(bytes)).info()
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const metadata = bytes.length - 16 - Number(view.getBigUint64(bytes.length - 16, true))
  for (const { offset, size } of columns.flatMap((column) => column.buffers).filter((buffer) => buffer.size > 0)) {
    // Offsets are stored without the eight bytes in front.
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
