// Detects columns of times.

/** The units of a DataSeries field in the description of its type. */
const UNITS = { seconds: 's', milliseconds: 'ms', microseconds: 'us', nanoseconds: 'ns', '2^-32 seconds': '2^-32 s' }
const NAMES = /^(t|ts|time|timestamp|date|datetime)$|(^|[^a-z])(time|timestamp|date)$|(Time|Timestamp|Date)$/

/** Returns the columns of the tables of a file; for a DataSeries file, with the units in the descriptions of the types. */
export function described(file, info) {
  return file.tables.map(({ name, rows, columns }) => {
    const xml = info?.types.find((type) => type.name === name)?.xml ?? ''
    const fields = [...xml.matchAll(/<field\s([^>]*?)\/?>/g)].map(([, field]) => Object.fromEntries(
      [...field.matchAll(/([\w.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(([, key, a, b]) => [key, a ?? b])))
    const all = columns.map((column, k) => {
      const unit = UNITS[fields[k]?.units]
      return unit && fields[k].name === column.name ? { ...column, unit, instants: fields[k].epoch === 'unix' } : column
    })
    return { name, rows, columns: all, times: all.map((_, k) => k).filter((k) => isTime(all[k])) }
  })
}

function isTime({ name, type, instants }) {
  return instants || type === 'timestamp' || type === 'date' || (/^u?int(32|64)$|^float64$/.test(type) && NAMES.test(name))
}
