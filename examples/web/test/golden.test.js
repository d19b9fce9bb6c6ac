// Reads every golden file with the package, and compares with the original program.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'

import { PilasterError, open } from '../lib/index.js'
import { compare, exact, goldens, sourceOf } from './golden.js'

/** Single Vortex arrays, whose types are in the expectation only; the tool does not open them either. */
const isBlob = ({ name }) => name.endsWith('.varr')

const all = goldens().filter((golden) => !isBlob(golden))

test('all goldens are found', () => {
  const count = (format) => all.filter((golden) => golden.format === format).length
  assert.ok(count('filo') >= 177 && count('dataseries') >= 166 && count('jay') >= 48, 'filo, dataseries, jay')
  assert.ok(count('bcolz') >= 81 + 108 && count('vortex') >= 60, 'bcolz, vortex')
})

for (const golden of all) {
  test(golden.name, async () => {
    const { expect } = golden.expected
    if (expect === 'either') await check.anything(golden).catch((error) => assert.ok(error instanceof PilasterError))
    else if (expect === 'error') await assert.rejects(() => check.anything(golden), PilasterError)
    else await check[golden.format](golden)
  })
}

/** Reads a table at once and in small batches, and compares. */
async function columns(table, expected) {
  const rows = expected.nrows ?? expected.columns[0]?.values?.length
  if (rows !== undefined) assert.equal(table.rows, rows, 'rows')
  assert.deepEqual(table.columns.map((column) => column.name), expected.columns.map((column) => column.name))
  const whole = await table.read()
  for (const [k, column] of expected.columns.entries()) {
    values(whole[k], column)
  }
  // Reads a range in the middle.
  const [start, end] = [Math.floor(table.rows / 3), Math.ceil((table.rows * 2) / 3)]
  const part = await table.read({ start, end })
  for (const [k, vector] of part.entries()) {
    for (const i of [0, 1, vector.length - 1].filter((i) => i >= 0 && i < vector.length)) {
      assert.equal(exact(vector, i), exact(whole[k], start + i), `row ${start + i}`)
    }
  }
}

function values(vector, expected) {
  const texts = expected.type === 'string' && vector.type === 'bytes'
  const got = Array.from({ length: vector.length }, (_, i) => exact(vector, i, texts))
  const wrong = compare(got, expected)
  assert.equal(wrong, undefined, `column ${expected.name}: ${wrong}`)
}

/** Encodings that the modules do not decode, which the error names: previews, and variants, which would exceed the size of a module. */
const UNDECODED = /\.v2$|^vortex\.variant$/

const check = {
  async anything(golden) {
    const file = await open(sourceOf(golden), { name: golden.name })
    await file.verify()
  },

  async filo(golden) {
    const type = golden.expected.facts.element_type.toLowerCase()
    const file = await open(sourceOf(golden), { name: golden.name, type })
    await file.verify()
    await columns(file.tables[0], golden.expected)
  },

  async jay(golden) {
    const file = await open(sourceOf(golden))
    assert.equal(file.format, 'jay')
    await file.verify()
    await columns(file.tables[0], golden.expected)
  },

  async vortex(golden) {
    if (golden.expected.facts?.open_without_dtype) {
      await assert.rejects(open(sourceOf(golden)), { kind: 'Invalid', field: 'vortex dtype' })
      return
    }
    const file = await open(sourceOf(golden))
    const [table] = file.tables
    try {
      await columns(table, golden.expected)
      await file.verify()
    } catch (error) {
      if (error.kind !== 'Unsupported') throw error
      assert.match(error.id, UNDECODED)
      // The other columns can be read.
      for (const [k, column] of golden.expected.columns.entries()) {
        const read = await table.read({ columns: [k] }).catch((error) => error)
        if (read instanceof PilasterError) assert.match(read.id, UNDECODED)
        else values(read[0], column)
      }
    }
  },

  async bcolz(golden) {
    const { expected } = golden
    const file = await open(sourceOf(golden))
    await file.verify()
    if (expected.kind === 'blosc1_chunk') {
      assert.equal(file.rows, expected.nbytes)
      const [bytes] = await file.tables[0].read()
      assert.equal(createHash('sha256').update(bytes.values).digest('hex'), expected.sha256)
      return
    }
    const table = file.tables[0]
    assert.equal(table.rows, expected.nrows)
    const whole = await table.read()
    for (const [k, column] of expected.columns.entries()) {
      for (const [vector, one] of fields(whole[k], column)) values(vector, one)
    }
  },

  async dataseries(golden) {
    const { expected } = golden
    const ways = [
      ['tail_and_index_all_checks', { sequential: false }, expected.tables],
      ['sequential_without_tail_all_checks', { sequential: true }, expected.tables_without_tail ?? expected.tables],
    ]
    for (const [way, options, tables] of ways) {
      const read = async () => {
        const file = await open(sourceOf(golden), options)
        await file.verify()
        if (!tables) return
        assert.equal(file.tables.length, tables.length)
        for (const table of tables) await columns(file.table(table.type_name), table)
      }
      const verdict = expected.reference_verdict?.[way] ?? 'accept'
      if (verdict === 'accept') await read()
      else await assert.rejects(read, PilasterError, `${way} is taken`)
    }
  },
}

/** Returns the fields of a record, also of nested ones, each with its expectation. */
function fields(vector, expected) {
  if (!expected.fields) return [[leaf(vector), expected]]
  assert.equal(vector.children.length, expected.fields.length)
  return expected.fields.flatMap((field, k) => fields(vector.children[k], field))
}

/** Returns the flattened items of several dimensions. */
function leaf(vector) {
  return vector.type === 'fixed_list' ? leaf(vector.children[0]) : vector
}
