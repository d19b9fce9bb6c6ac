// Written files are read back bit for bit; values that cannot be stored are errors; intact extents are recovered.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { PilasterError, open, recover, writeDataSeries, writeFilo } from '../lib/index.js'
import { exact, goldens, sourceOf } from './golden.js'

const golden = (name) => new Uint8Array(readFileSync(new URL(`../../../tests/golden/${name}`, import.meta.url)))

const columns = [
  { name: 'time', values: new BigInt64Array([1n, -2n, 2n ** 62n, 0n]), unit: 'ns' },
  { name: 'a & "b" <c>', values: new Int16Array([1, -32768, 3, 32767]) },
  { name: 'byte', values: new Uint8Array([0, 255, 1, 2]), validity: new Uint8Array([0b1101]) },
  { name: 'x', values: new Float32Array([0.5, -0, NaN, 1e30]) },
  { name: 'y', values: [1.5, null, -2, Infinity] },
  { name: 'flag', values: [true, false, null, true] },
  { name: 'text', values: ['', 'grün', null, 'x'.repeat(100_000)] },
  { name: 'bytes', values: [new Uint8Array([0xff, 0]), null, new Uint8Array(), new Uint8Array([7])] },
  { name: 'big', values: [1n, null, 3n, -4n] },
]

test('a DataSeries file with all supported types', async () => {
  for (const compress of [false, true]) {
    const bytes = await writeDataSeries({ name: 'T', columns, compress })
    const file = await open(bytes)
    await file.verify()
    const table = file.table('T')
    assert.deepEqual(table.columns.map((column) => column.name), columns.map((column) => column.name))
    assert.deepEqual(table.columns.map((column) => column.stored),
      ['int64', 'int32', 'byte', 'double', 'double', 'bool', 'variable32', 'variable32', 'int64'])
    const [time, a, byte, x, y, flag, text, raw, big] = (await table.read()).map((vector) => vector.toArray())
    assert.deepEqual(time, [1n, -2n, 2n ** 62n, 0n])
    assert.deepEqual(a, [1, -32768, 3, 32767])
    assert.deepEqual(byte, [0, null, 1, 2])
    assert.deepEqual(x, [0.5, -0, NaN, Math.fround(1e30)])
    assert.deepEqual(y, [1.5, null, -2, Infinity])
    assert.deepEqual(flag, [true, false, null, true])
    assert.ok(text.map((bytes) => bytes && new TextDecoder().decode(bytes)).every((text, i) => text === columns[6].values[i]))
    assert.deepEqual(raw, [new Uint8Array([0xff, 0]), null, new Uint8Array(), new Uint8Array([7])])
    assert.deepEqual(big, [1n, null, 3n, -4n])
    assert.match((await file.info()).types[0].xml, /name="time" units="nanoseconds" epoch="unix"/)
  }
})

test('many extents, the smaller the better', async () => {
  const rows = 100_000
  const columns = [
    { name: 'n', values: Int32Array.from({ length: rows }, (_, i) => i >> 4) },
    { name: 's', values: Array.from({ length: rows }, (_, i) => `row ${i % 100}`) },
  ]
  const [plain, small] = await Promise.all([false, true].map((compress) => writeDataSeries({ columns, compress })))
  assert.ok(small.length < plain.length / 2, `${small.length} of ${plain.length} bytes`)
  for (const bytes of [plain, small]) {
    const file = await open(bytes)
    await file.verify()
    assert.ok((await file.info()).extents.length > 20)
    const [n, s] = await file.table().read({ start: 50_000, end: 50_002 })
    assert.deepEqual([n.toArray(), s.toArray().map((text) => new TextDecoder().decode(text))], [[3125, 3125], ['row 0', 'row 1']])
  }
})

test('no rows, no columns, and unsupported values', async () => {
  assert.equal((await open(await writeDataSeries({ columns: [{ name: 'n', values: new Int32Array(0) }] }))).rows, 0)
  const wrong = [
    { columns: [{ name: 'n', values: new Int32Array(1) }, { name: 'm', values: new Int32Array(2) }] },
    { columns: [{ name: 'n', values: new BigUint64Array([2n ** 63n]) }] },
    { columns: [{ name: 'n', values: [1, 'two'] }] },
    { columns: [{ name: 'n', values: [2n ** 64n] }] },
    { columns: [{ name: 'n', values: 'text' }] },
    { columns: [{ name: 'n', values: new Int32Array(9), validity: new Uint8Array(1) }] },
    { columns: [{ name: 'twice', values: new Int32Array(1) }, { name: 'twice', values: new Int32Array(1) }] },
  ]
  for (const table of wrong) await assert.rejects(writeDataSeries(table), PilasterError)
  await assert.rejects(writeFilo(new Int32Array(1), { type: 'double' }), { kind: 'Misuse' })
})

test('Filo vectors of every element type', async () => {
  const cases = [
    ['boolean', [true, null, false]], ['int', new Int32Array([1, -5, 2 ** 31 - 1])], ['int', new Uint8Array([1, 2])],
    ['long', new BigInt64Array([1n, -(2n ** 63n)])], ['long', [5n, null]], ['float', new Float32Array([0.1, -0])],
    ['double', [0.1, null, 3]], ['utf8', ['a', null, 'grün', 'a']], ['string', ['a', 'b']],
    ['timestamp', new BigInt64Array([1_480_000_000_000n, 1_480_000_001_000n])],
    ['blob', [new Uint8Array([0xff]), new Uint8Array([1, 2])]],
  ]
  for (const [type, values] of cases) {
    const file = await open(await writeFilo(values, { type }), { type })
    assert.deepEqual((await file.table().read())[0].toArray(), Array.from(values), type)
  }
  const numbers = Int32Array.from({ length: 10_000 }, (_, i) => i & 15)
  assert.ok((await writeFilo(numbers)).length < 6000, 'four bits a row')
})

test('Filo vectors of date-times with their offsets', async () => {
  const millis = [1_480_000_000_000n, null, 1_480_000_001_000n]
  for (const offsets of [undefined, [3_600_000, 0, -20_700_000], Int32Array.of(0, 900_000, 900_000)]) {
    const [instants, zones] = await (await open(await writeFilo(millis, { type: 'datetime', offsets }), { type: 'datetime' })).table().read()
    assert.deepEqual(instants.toArray(), millis)
    assert.deepEqual(zones.toArray().filter((_, i) => i !== 1), [0, 2].map((i) => offsets?.[i] ?? 0))
  }
  for (const offsets of [[1, 2, 3], [0, 0]]) {
    await assert.rejects(writeFilo(millis, { type: 'datetime', offsets }), PilasterError)
  }
  await assert.rejects(writeFilo(millis, { type: 'long', offsets: [0, 0, 0] }), { kind: 'Misuse' })
})

test('values that were read from Filo goldens are written again', async () => {
  const types = ['int', 'long', 'float', 'double', 'utf8', 'boolean', 'timestamp', 'datetime']
  const some = goldens().filter(({ format, expected }) =>
    format === 'filo' && expected.expect !== 'error' && expected.expect !== 'either' && types.includes(expected.facts?.element_type?.toLowerCase()))
  assert.ok(some.length > 50)
  for (const one of some) {
    const type = one.expected.facts.element_type.toLowerCase()
    const [vector, offsets] = await (await open(sourceOf(one), { type })).table().read()
    const bytes = await writeFilo(vector, { type, offsets })
    const [again] = await (await open(bytes, { type })).table().read()
    const texts = (vector) => Array.from({ length: vector.length }, (_, i) => exact(vector, i))
    assert.deepEqual(texts(again), texts(vector), one.name)
  }
})

test('a truncated log', async () => {
  const values = Int32Array.from({ length: 100_000 }, (_, i) => i)
  const whole = await writeDataSeries({ name: 'Log', columns: [{ name: 'n', values }], compress: false })
  const cut = whole.slice(0, whole.length - 70_000)
  await assert.rejects(open(cut), PilasterError)
  const { bytes, rows, extents, lost } = await recover(cut)
  assert.ok(rows > 60_000 && rows < 100_000 && extents === Math.ceil(rows / 8192), `${rows} rows in ${extents} extents`)
  assert.equal(lost.length, 1)
  assert.equal(lost[0].table, 'Log')
  assert.ok(lost[0].why instanceof PilasterError)
  const file = await open(bytes)
  await file.verify()
  const [n] = await file.table('Log').read()
  assert.deepEqual(n.values, values.subarray(0, rows))
  const sound = await recover(whole)
  assert.deepEqual([sound.bytes, sound.lost], [whole, []])
  await assert.rejects(recover(new Uint8Array(100)), PilasterError)
})

test('damaged DataSeries goldens are recovered or a typed error', async () => {
  let whole = 0
  for (const { name, format, path } of goldens()) {
    if (format !== 'dataseries' || path.endsWith('.varr')) continue
    const done = await recover(golden(name)).catch((error) => {
      assert.ok(error instanceof PilasterError, `${name}: ${error.stack}`)
    })
    if (!done) continue
    whole += 1
    await (await open(done.bytes)).verify()
  }
  assert.ok(whole > 100, `${whole} files`)
})
