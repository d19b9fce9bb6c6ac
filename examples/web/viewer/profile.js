// Computes the profile of a column in batches: minimum and maximum, missing values, and the points of its plot.
import { half } from '../lib/vector.js'
import { text } from './text.js'

/** Number of points of a plot. */
export const BINS = 400
const BATCH = 1 << 16

/** Types with minimum and maximum, and types that are drawn. */
const ORDERED = /^(u?int\d+|float\d+|decimal|date|time|timestamp)$/
const DRAWN = /^(u?int\d+|float\d+|decimal)$/

const isOrdered = (column) => ORDERED.test(column.type)
const isDrawn = (column) => DRAWN.test(column.type)

/** Returns the numbers of a vector to compare and draw: as stored, decimals without the point. */
function numbersOf(vector) {
  if (vector.type === 'float16') return (i) => half(vector.values[i])
  if (vector.lanes > 1) return (i) => vector.get(i)
  return (i) => vector.values[i]
}

/**
 * Reads column `k` of `table`. `x`: the number of the column on the x axis, whose minimum and maximum are `range`, or null for
 * row numbers.
 */
export async function profile(table, k, x, range, { signal, onProgress }) {
  const bins = isDrawn(table.columns[k]) ? { low: new Float64Array(BINS).fill(NaN), high: new Float64Array(BINS).fill(NaN) } : null
  const [from, to] = x === null ? [0, Math.max(table.rows - 1, 0)] : (range ?? [0, 0])
  const scale = to > from ? (BINS - 1) / (to - from) : 0
  const shift = 10 ** -(table.columns[k].scale ?? 0)
  let nulls = 0
  let [least, greatest] = [null, null]
  const seen = { least: undefined, greatest: undefined }
  const columns = x === null || x === k ? [k] : [k, x]
  for await (const { start, end, vectors } of table.batches({ columns, size: BATCH, signal })) {
    const [vector, places = vector] = vectors
    const value = isOrdered(vector.column) ? numbersOf(vector) : null
    const place = x === null ? null : numbersOf(places)
    for (let i = 0; i < vector.length; i++) {
      if (!vector.isValid(i)) {
        nulls++
        continue
      }
      if (value === null) continue
      const v = value(i)
      // NaN is ignored.
      if (v !== v) continue
      if (least === null || v < least) [least, seen.least] = [v, text(vector, i)]
      if (greatest === null || v > greatest) [greatest, seen.greatest] = [v, text(vector, i)]
      if (bins === null || (place !== null && !places.isValid(i))) continue
      const bin = Math.floor(((place === null ? start + i : Number(place(i))) - from) * scale)
      const y = Number(v) * shift
      if (!(bins.low[bin] <= y)) bins.low[bin] = y
      if (!(bins.high[bin] >= y)) bins.high[bin] = y
    }
    onProgress({ done: end, of: table.rows })
  }
  return { rows: table.rows, nulls, ...seen, bins, from, to }
}

/** Returns the minimum and maximum of a column as numbers. */
export async function rangeOf(table, k, { signal }) {
  let [least, greatest] = [Infinity, -Infinity]
  for await (const { vectors: [vector] } of table.batches({ columns: [k], size: BATCH, signal })) {
    const value = numbersOf(vector)
    for (let i = 0; i < vector.length; i++) {
      if (!vector.isValid(i)) continue
      const v = Number(value(i))
      if (v < least) least = v
      if (v > greatest) greatest = v
    }
  }
  return least <= greatest ? [least, greatest] : [0, 0]
}
