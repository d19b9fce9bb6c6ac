// Correct code compiles, incorrect code does not. `npm run types` compiles this file; nothing runs it.
import {
  init, open, PilasterError, preload, recover, writeDataSeries, writeFilo, type Column, type Value, type Vector,
} from 'pilaster'

export async function use(blob: Blob): Promise<Value> {
  await init({ reader: new URL('https://example.org/pilaster.wasm'), writer: new Uint8Array() })
  await preload('jay', 'writer')
  const file = await open(blob, { type: 'long', signal: AbortSignal.timeout(1000), onProgress: ({ done, of }) => done / of })
  const [times, prices]: Vector[] = await file.table().read({ columns: ['time', 1], start: 10, end: 20 })
  if (times?.values instanceof BigInt64Array) times.values[0]
  for await (const { start, vectors } of file.table('Trade').batches({ size: 1000 })) vectors[0]?.get(start)
  const columns: readonly Column[] = file.tables[0]!.columns
  await file.verify().catch((error: unknown) => error instanceof PilasterError && [error.kind, error.offset, error.id])
  file.free()
  return columns.length > 0 ? (prices?.get(0) ?? null) : null
}

export async function rows(url: URL): Promise<number> {
  using file = await open(url)
  return file.rows
}

export async function directories(): Promise<void> {
  await open(new Map([['meta/sizes', new Uint8Array()]]))
  await open({ file: async (path) => (path === '__attrs__' ? null : new Blob()) })
  await open({ byteLength: 2 ** 33, slice: async (start: number, end: number) => new ArrayBuffer(end - start) })
  // @ts-expect-error: not an element type
  await open('x.filo', { type: 'integer' })
  // @ts-expect-error: an object without a length is not a source
  await open({ slice: () => new Uint8Array() })
}

export async function write(vector: Vector): Promise<number> {
  const columns = [
    { name: 'time', values: new BigInt64Array(2), unit: 'ns' as const },
    { name: 'text', values: ['a', null] }, { name: 'copy', values: vector },
  ]
  const file: Uint8Array = await writeDataSeries({ name: 'T', columns, compress: false })
  const { bytes, rows, lost } = await recover(new Blob([new Uint8Array(file)]), { signal: AbortSignal.timeout(1000) })
  const chunk = await writeFilo([1n, null], { type: 'timestamp' })
  // @ts-expect-error: values of several types
  await writeFilo(['a', 1])
  await writeFilo([1n, null], { type: 'datetime', offsets: [3_600_000, 0] })
  return bytes.length + rows + lost.length + chunk.length
}
