// Does all work on files, so that the page never blocks. A message is a call by name; its answer has the same number.
import { PilasterError, open, preload, recover, writeDataSeries, writeFilo } from '../lib/index.js'
import { described } from './fields.js'
import { profile, rangeOf } from './profile.js'
import { csv, json, text } from './text.js'

/** Number of rows of an export that are read at a time. */
const BATCH = 1 << 14
/** Maximum number of values of a new file, which is written at once. */
const MOST = 50_000_000

// Allows offline use later. A call that requires a missing module reports the error.
preload().catch(() => {})

let file = null
let given = null
/** Minimum and maximum of each column that was an x axis. */
let ranges = new Map()
const running = new Map()

const calls = {
  async open({ source, options }, { signal, onProgress }) {
    file?.free()
    file = null
    ranges = new Map()
    given = Array.isArray(source) ? new Map(source) : source
    file = await open(given, { ...options, signal, onProgress })
    const info = file.format === 'dataseries' ? await file.info({ signal }) : null
    return {
      name: file.name, format: file.format, size: file.byteLength, rows: file.rows, tables: described(file, info),
    }
  },
  async rows({ table, columns, start, end }, options) {
    const vectors = await file.tables[table].read({ ...options, columns, start, end })
    return vectors.map((vector) => Array.from({ length: vector.length }, (_, i) => text(vector, i)))
  },
  async profile({ table, column, x }, options) {
    const of = file.tables[table]
    const key = `${table} ${x}`
    if (x !== null && !ranges.has(key)) {
      // Further requests wait for the same promise.
      const [known, found] = [ranges, rangeOf(of, x, options)]
      known.set(key, found)
      found.catch(() => known.delete(key))
    }
    return profile(of, column, x, await ranges.get(key), options)
  },
  verify: (_, options) => file.verify(options),
  info: (_, options) => file.info(options),
  recover: async (_, { signal }) => {
    const { bytes, rows, extents, lost } = await recover(given, { signal })
    const losses = lost.map(({ offset, size, table, index, why }) => ({ offset, size, table, index, why: why.message }))
    return { blob: new Blob([bytes]), rows, extents, losses }
  },
  async save({ table, columns, as, start, end }, { signal, onProgress }) {
    const to = file.tables[table]
    const write = as === 'csv' ? csv : json
    const parts = as === 'csv' ? [write.head(columns.map((k) => to.columns[k]))] : []
    for await (const { end: done, vectors } of to.batches({ columns, start, end, size: BATCH, signal })) {
      parts.push(new Blob([write.rows(vectors)]))
      onProgress({ done: done - start, of: end - start })
    }
    return new Blob(parts, { type: as === 'csv' ? 'text/csv' : 'application/x-ndjson' })
  },
  async write({ table, columns, as, start, end }, { signal, onProgress }) {
    const from = file.tables[table]
    if ((end - start) * columns.length > MOST) {
      const field = `more than ${MOST.toLocaleString()} values are not written at once; choose fewer columns or rows`
      throw new PilasterError({ kind: 'Source', field, offset: 0, need: 0 })
    }
    const vectors = await from.read({ columns, start, end, signal, onProgress })
    const bytes = as === 'filo' ? await writeFilo(vectors[0])
      : await writeDataSeries({
        name: from.name || 'Table', columns: vectors.map((values, k) => ({ name: from.columns[columns[k]].name || `column ${k}`, values })),
      })
    return new Blob([bytes])
  },
}

/** Returns whether a file that cannot be opened begins like a DataSeries file. */
async function isSeries() {
  if (!(given instanceof Blob)) return false
  const [a, b] = new Uint8Array(await given.slice(0, 2).arrayBuffer())
  return a === 0x44 && b === 0x53
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
    const recoverable = call === 'open' && name === 'PilasterError' && (await isSeries())
    postMessage({ id, error: { name, message, kind, field, offset, fits, recoverable } })
  } finally {
    running.delete(id)
  }
})
