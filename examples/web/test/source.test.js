// Sources: ranges, servers with and without ranges, large offsets, cancelled calls, damaged files.
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { test } from 'node:test'

import { PilasterError, open } from '../lib/index.js'
import { farAway, long } from './far.js'

const golden = (name) => new Uint8Array(readFileSync(new URL(`../../../tests/golden/${name}`, import.meta.url)))

test('a server with ranges, one without, and one that refuses', async () => {
  const bytes = golden('jay/stats_n7.jay')
  const server = createServer((request, response) => {
    const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range) ?? []
    if (request.url === '/none') return response.writeHead(404).end()
    if (request.url === '/plain.jay') return response.writeHead(200).end(bytes)
    const end = Math.min(Number(to) + 1, bytes.length)
    response.writeHead(206, { 'content-range': `bytes ${from}-${end - 1}/${bytes.length}` }).end(bytes.subarray(from, end))
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const at = `http://127.0.0.1:${server.address().port}`
    for (const path of ['/ranges.jay', '/plain.jay']) {
      const file = await open(`${at}${path}`)
      assert.equal(file.rows, 7)
      assert.equal((await file.table().read({ columns: ['int8_nulls'] }))[0].get(3), -1)
    }
    await assert.rejects(open(`${at}/none`), { name: 'PilasterError', kind: 'Source' })
  } finally {
    server.close()
    server.closeAllConnections()
  }
})

test('offsets beyond 4 GB, and only the requested bytes', async () => {
  const far = await farAway()
  const source = { byteLength: far.byteLength, slice: async (start, end) => far.bytes(start, end) }
  const [moved, still] = [await open(source), await open(golden('jay/stats_n7.jay'))]
  const { columns } = await moved.info()
  assert.ok(columns.some((column) => column.buffers.some((buffer) => buffer.offset > 2 ** 32)))
  const [a, b] = [await moved.table().read(), await still.table().read()]
  assert.deepEqual(a.map((vector) => vector.toArray()), b.map((vector) => vector.toArray()))
  assert.ok(far.fetched < 100_000, `${far.fetched} bytes were fetched`)
})

test('a file that is too large for memory is not fetched, and takes no memory', async () => {
  for (const gigabytes of [3, 5]) {
    const far = await farAway(gigabytes * 2 ** 30)
    const source = { byteLength: far.byteLength, slice: async (start, end) => far.bytes(start, end) }
    const file = await open(source)
    await assert.rejects(file.verify(), { name: 'PilasterError', kind: 'NoRoom' })
    assert.ok(far.fetched < 100_000, `${far.fetched} bytes were fetched`)
    assert.ok(file.memory < 4 << 20, `${file.memory} bytes of memory`)
  }
})

test('of a long column, only the requested rows are fetched', async () => {
  const rows = 1 << 22
  const source = await long(rows)
  const file = await open(source)
  assert.equal(file.rows, rows)
  const [table, opened] = [file.table(), source.fetched]
  assert.ok(opened < 100_000, `${opened} bytes to open it`)
  const [a, b] = await table.read({ columns: ['A', 'B'], start: 3_000_000, end: 3_000_100 })
  assert.deepEqual([a.length, a.get(99), b.length, b.get(99)], [100, 0, 100, 0])
  // Ranges that are near each other are fetched together with the bytes between them; these are not.
  assert.equal(source.fetched - opened, 100 * (4 + 8))
  // More rows than one call and one batch read.
  assert.equal((await table.read({ columns: ['A'], start: 0, end: 200_000 }))[0].length, 200_000)
  assert.equal(source.fetched - opened, 100 * (4 + 8) + 200_000 * 4)
})

test('columns that are not requested are not fetched', async () => {
  const file = (name) => golden(`bcolz/ctable_basic/${name}`)
  const asked = []
  const directory = {
    file(path) {
      asked.push(path)
      try {
        return file(path)
      } catch {
        return null
      }
    },
  }
  const table = (await open(directory)).table()
  assert.ok(!asked.some((path) => path.includes('/data/')), 'no rows to open it')
  const name = table.columns[1].name
  const [vector] = await table.read({ columns: [name], start: 0, end: 5 })
  assert.equal(vector.length, 5)
  assert.deepEqual(asked.filter((path) => path.includes('/data/')), [`${name}/data/__0.blp`])
})

test('a call that is cancelled, and the next one', async () => {
  await assert.rejects(open(golden('jay/stats_n7.jay'), { signal: AbortSignal.abort() }), { name: 'AbortError' })
  const control = new AbortController()
  const directory = {
    async file(path, signal) {
      if (signal && path.includes('/data/')) control.abort()
      const url = new URL(`../../../tests/golden/bcolz/ctable_basic/${path}`, import.meta.url)
      return existsSync(url) ? new Uint8Array(readFileSync(url)) : null
    },
  }
  const table = (await open(directory)).table()
  await assert.rejects(table.read({ signal: control.signal }), { name: 'AbortError' })
  assert.equal((await table.read())[0].length, 333)
})

test('a file that was freed is an error', async () => {
  const file = await open(golden('jay/stats_n7.jay'))
  assert.ok(file.memory > 0)
  file.free()
  assert.equal(file.memory, 0)
  await assert.rejects(file.table().read(), { kind: 'Source' })
})

test('a Filo vector without a type lists the types that fit', async () => {
  const bytes = golden('filo/bin_int_readme.filo')
  const error = await open(bytes, { name: 'x.filo' }).catch((error) => error)
  assert.equal(error.kind, 'Misuse')
  assert.ok(error.fits.includes('int'))
  assert.equal((await open(bytes, { type: 'int' })).format, 'filo')
})

test('verifying Vortex finds what reading the rows does not', async () => {
  const bytes = golden('vortex/enc_runend_a.vortex')
  await (await open(bytes)).verify()
  // The ends of runs are no longer in order.
  bytes[59] ^= 0x80
  const file = await open(bytes)
  for (const table of file.tables) await table.read()
  await assert.rejects(file.verify(), { kind: 'Invalid', field: 'run ends' })
  // The file can still be read, and the verdict is the same.
  await assert.rejects(file.verify(), { kind: 'Invalid', field: 'run ends' })
  await file.table().read({ start: 0, end: 1 })
})

test('a truncated or changed file is read or a typed error', async () => {
  for (const name of ['jay/stats_n7.jay', 'dataseries/tiny.ds', 'vortex/enc_alp_a.vortex', 'filo/bin_int_readme.filo']) {
    const bytes = golden(name)
    const type = name.startsWith('filo') ? 'int' : undefined
    let failed = 0
    for (let i = 0; i < 60; i++) {
      const at = Math.floor((i * bytes.length) / 60)
      const changed = bytes.slice(0, i % 2 ? at : bytes.length)
      if (i % 2 === 0) changed[at] ^= 0x41
      try {
        const file = await open(changed, { type, name })
        await file.verify()
        for (const table of file.tables) await table.read()
      } catch (error) {
        assert.ok(error instanceof PilasterError, `${name}, ${at}: ${error.stack}`)
        failed++
      }
    }
    assert.ok(failed > 20, `${name}: ${failed} failed`)
  }
})
