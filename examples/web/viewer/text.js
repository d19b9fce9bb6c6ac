// The text forms of values, for display and for files.
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Divisor and factor that convert a timestamp to milliseconds. */
const PER_MILLI = { s: [1n, 1000n], ms: [1n, 1n], us: [1000n, 1n], ns: [1000000n, 1n] }

/** Returns the text of a cell, or null if the value is missing. */
export function text(vector, i) {
  const value = vector.get(i)
  return value === null ? null : shown(vector.column, value)
}

function shown(column, value) {
  switch (column.type) {
    case 'bytes': case 'fixed_bytes': case 'object': return bytes(value)
    case 'decimal': return decimal(value, column.scale)
    case 'timestamp': return instant(value, column.unit) ?? String(value)
    case 'date': return (column.unit === 'D' && iso(Number(value) * 864e5)?.slice(0, 10)) || String(value)
    case 'list': case 'fixed_list': case 'map': case 'struct': return JSON.stringify(value, plain)
    default: return String(value)
  }
}

/** Returns the bytes as text if they are UTF-8, else as hexadecimal digits. */
export function bytes(value) {
  try {
    return utf8.decode(value)
  } catch {
    return Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join('')
  }
}

function decimal(value, scale) {
  if (scale <= 0) return String(value * 10n ** BigInt(-scale))
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0')
  return `${value < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

function instant(value, unit) {
  const per = PER_MILLI[unit]
  if (!per) return undefined
  const [down, up] = per
  const millis = ((value * up) - (((value * up) % down) + down) % down) / down
  return iso(Number(millis))
}

/** Milliseconds per unit. */
const MILLIS = { D: 864e5, s: 1000, ms: 1, us: 1e-3, ns: 1e-6, '2^-32 s': 1000 / 2 ** 32 }

/** Returns the label of a position on an axis: a time if the column contains times, else a number. */
export function timed(column, value) {
  const instants = column.type === 'timestamp' || column.type === 'date' || column.instants
  return (instants && iso(value * MILLIS[column.unit])?.replace(/T00:00:00.000Z$/, '')) || number(value)
}

/** Returns a number for display. */
export function number(value) {
  return Number(value.toPrecision(7)).toLocaleString(undefined, { maximumSignificantDigits: 7 })
}

/** Returns a time in ISO 8601, or undefined if it is out of the range of `Date`. */
function iso(millis) {
  const date = new Date(millis)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function plain(_, value) {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  return value instanceof Uint8Array ? bytes(value) : value
}

/** Rows as CSV: an empty field is a missing value, `""` an empty string. */
export const csv = {
  head: (columns) => `${columns.map((column) => quoted(column.name)).join(',')}\r\n`,
  rows: (vectors) => lines(vectors, (i) => vectors.map((vector) => {
    const cell = text(vector, i)
    return cell === null ? '' : quoted(cell)
  }).join(','), '\r\n'),
}

function quoted(cell) {
  return cell === '' || /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}

/** Rows as JSON lines; integers that a JSON parser might round are strings. */
export const json = {
  rows: (vectors) => lines(vectors, (i) => JSON.stringify(Object.fromEntries(vectors.map((vector) => {
    const { type, name } = vector.column
    const value = vector.get(i)
    const timed = type === 'decimal' || type === 'timestamp' || type === 'date'
    const odd = typeof value === 'number' && !Number.isFinite(value)
    return [name, value === null ? null : timed ? text(vector, i) : odd ? String(value) : value]
  })), plain), '\n'),
}

function lines(vectors, line, end) {
  return Array.from({ length: vectors[0]?.length ?? 0 }, (_, i) => line(i) + end).join('')
}
