// All work on files, so that the page never waits. A message is a call by name; its answer has the same number.
import { open } from '../lib/index.js'
import { csv, json, text } from './text.js'

/** Rows of an export that are read at a time. */
const BATCH = 1 << 14

let file = null
const running = new Map()

const calls = {
  async open({ source, options }, { signal, onProgress }) {
    file?.free()
    file = null
    file = await open(Array.isArray(source) ? new Map(source) : source, { ...options, signal, onProgress })
    return {
      name: file.name, format: file.format, size: file.byteLength, rows: file.rows,
      tables: file.tables.map(({ name, rows, columns }) => ({ name, rows, columns })),
    }
  },
  async rows({ table, columns, start, end }, options) {
    const vectors = await file.tables[table].read({ ...options, columns, start, end })
    return vectors.map((vector) => Array.from({ length: vector.length }, (_, i) => text(vector, i)))
  },
  verify: (_, options) => file.verify(options),
  info: (_, options) => file.info(options),
  async save({ table, columns, as }, { signal, onProgress }) {
    const to = file.tables[table]
    const write = as === 'csv' ? csv : json
    const parts = as === 'csv' ? [write.head(columns.map((k) => to.columns[k]))] : []
    for await (const { end, vectors } of to.batches({ columns, size: BATCH, signal })) {
      parts.push(new Blob([write.rows(vectors)]))
      onProgress({ done: end, of: to.rows })
    }
    return new Blob(parts, { type: as === 'csv' ? 'text/csv' : 'application/x-ndjson' })
  },
}

addEventListener('message', async ({ data: { id, call, args } }) => {
  if (call === 'cancel') {
    running.get(args)?.abort()
    return
  }
  const control = new AbortController()
  running.set(id, control)
  const onProgress = (progress) => postMessage({ id, progress })
  try {
    postMessage({ id, result: await calls[call](args, { signal: control.signal, onProgress }) })
  } catch (error) {
    const { name, message, kind, field, offset, fits } = error
    postMessage({ id, error: { name, message, kind, field, offset, fits } })
  } finally {
    running.delete(id)
  }
})
