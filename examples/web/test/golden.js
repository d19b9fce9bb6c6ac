// Finds the golden files in their folder.
import { createHash } from 'node:crypto'
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../tests/golden', import.meta.url))

/** Returns every file (for bcolz, directory) with an expectation. */
export function goldens() {
  return walk(root).filter((path) => path.endsWith('.expected.json')).map((path) => {
    const expected = JSON.parse(readFileSync(path, 'utf8'))
    const file = join(dirname(path), expected.file ?? basename(path, '.expected.json'))
    return { name: relative(root, file), format: relative(root, file).split('/')[0], path: file, expected }
  }).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function walk(dir) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name)
    return entry.isDirectory() ? walk(path) : [path]
  })
}

/** Returns the argument of `open` for a golden: bytes, or the files of a directory. */
export function sourceOf({ path }) {
  if (statSync(path).isDirectory()) {
    return new Map(walk(path).map((file) => [relative(path, file), new Uint8Array(readFileSync(file))]))
  }
  return new Uint8Array(readFileSync(path))
}

/** Returns the JSON text of a value in the form of the expectations. */
export function exact(vector, i, texts) {
  if (!vector.isValid(i)) return 'null'
  const { column, type } = vector
  switch (type) {
    case 'null': return 'null'
    case 'bool': return String(vector.get(i))
    case 'float16': return `"bits:${hex(vector.values[i], 2)}"`
    case 'float32': return `"bits:${hex(bits(vector.values[i], 4), 4)}"`
    case 'float64': return `"bits:${hex(bits(vector.values[i], 8), 8)}"`
    case 'string': return JSON.stringify(vector.get(i))
    case 'bytes': case 'fixed_bytes': case 'object': {
      const bytes = Buffer.from(vector.bytes(i))
      return texts ? JSON.stringify(bytes.toString('utf8')) : `"hex:${bytes.toString('hex')}"`
    }
    case 'list': case 'fixed_list': case 'map': {
      const start = vector.starts[i]
      return `[${Array.from({ length: vector.lengths[i] }, (_, k) => exact(vector.children[0], start + k)).join(',')}]`
    }
    case 'struct':
      return `{${column.children.map((child, k) => `${JSON.stringify(child.name)}:${exact(vector.children[k], vector.starts[i])}`).join(',')}}`
    default: return `"${vector.get(i)}"`
  }
}

function bits(value, size) {
  const view = new DataView(new ArrayBuffer(8))
  if (size === 4) {
    view.setFloat32(0, value)
    return view.getUint32(0)
  }
  view.setFloat64(0, value)
  return view.getBigUint64(0)
}

const hex = (value, size) => value.toString(16).padStart(size * 2, '0')

/** Returns the difference between the values of a column and the expectation, or undefined. */
export function compare(values, expected) {
  const all = expected.values?.map((value) => JSON.stringify(value))
  if (all) return same(values, all)
  const text = (key) => expected[key].map((value) => JSON.stringify(value))
  const [head, tail] = [text('head'), text('tail')]
  const wrong = same(values.slice(0, head.length), head) ?? same(values.slice(values.length - tail.length), tail)
  const digest = createHash('sha256').update(values.join('\n')).digest('hex')
  return wrong ?? (digest === expected.sha256 ? undefined : 'the digest differs')
}

function same(values, expected) {
  const row = expected.findIndex((value, i) => value !== values[i])
  if (row >= 0) return `row ${row} is ${values[row]} and not ${expected[row]}`
  return values.length === expected.length ? undefined : `${values.length} rows and not ${expected.length}`
}
