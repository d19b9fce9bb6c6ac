// Checks which modules are loaded: for a file, only the module of its format.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { init, open, preload, writeFilo } from '../lib/index.js'

const golden = (name) => new Uint8Array(readFileSync(new URL(`../../../tests/golden/${name}`, import.meta.url)))
const lengths = new Map(['filo', 'dataseries', 'jay', 'bcolz', 'vortex', 'vortex-verify', 'write'].map((name) =>
  [readFileSync(new URL(`../pilaster-${name}.wasm`, import.meta.url)).length, name]))

let loaded = []
let broken = false
const { compile } = WebAssembly
WebAssembly.compile = (bytes) => {
  const name = lengths.get(bytes.byteLength)
  // Node compiles modules of its own, which have no name here.
  if (name && broken) return Promise.reject(new WebAssembly.CompileError('half a module'))
  if (name) loaded.push(name)
  return compile(bytes)
}

/** Returns the modules that a call loads. */
async function cost(what) {
  loaded = []
  await what()
  return loaded
}

test('a module that could not be loaded is loaded by the next call', async () => {
  broken = true
  await assert.rejects(open(golden('jay/stats_n7.jay')), WebAssembly.CompileError)
  broken = false
  assert.deepEqual(await cost(() => open(golden('jay/stats_n7.jay'))), ['jay'])
})

test('a file loads the module of its format once', async () => {
  assert.deepEqual(await cost(() => open(golden('jay/stats_n7.jay'))), [])
  assert.deepEqual(await cost(() => open(golden('dataseries/tiny.ds'))), ['dataseries'])
  assert.deepEqual(await cost(() => open(new Map([['__rootdirs__', golden('bcolz/ctable_basic/__rootdirs__')]])).catch(() => {})), ['bcolz'])
  assert.deepEqual(await cost(() => open(golden('filo/bin_int_readme.filo'), { type: 'int' })), ['filo'])
})

test('a file with unknown first bytes is opened in the Filo module, and fetched once', async () => {
  const bytes = golden('vortex/enc_alp_a.vortex')
  bytes.set([0, 0, 0, 0])
  let fetched = 0
  const slice = (start, end) => {
    fetched += end - start
    return bytes.slice(start, end)
  }
  const file = await open({ byteLength: bytes.length, slice })
  assert.equal(file.format, 'vortex')
  assert.deepEqual(loaded.slice(-1), ['vortex'])
  assert.ok(fetched < bytes.length + 100, `${fetched} bytes of ${bytes.length}`)
  assert.equal((await open(golden('bcolz/chunks/bitshuf_n12_ts4_bs0.blosc'))).format, 'bcolz')
  await assert.rejects(open(new Uint8Array(64)), { kind: 'Unsupported', field: 'magic number' })
})

test('verifying loads no further module, writing loads one', async () => {
  const file = await open(golden('jay/stats_n7.jay'))
  assert.deepEqual(await cost(() => file.verify()), [])
  assert.deepEqual(await cost(() => file.info()), [])
  assert.deepEqual(await cost(() => writeFilo(Int32Array.of(1))), ['write'])
})

test('verifying Vortex loads the verifier, once', async () => {
  const bytes = golden('vortex/enc_alp_a.vortex')
  let fetched = 0
  const slice = (start, end) => {
    fetched += end - start
    return bytes.slice(start, end)
  }
  const file = await open({ byteLength: bytes.length, slice })
  assert.deepEqual(await cost(() => file.info()), [])
  assert.deepEqual(await cost(() => file.verify()), ['vortex-verify'])
  assert.deepEqual(await cost(() => file.verify()), [])
  // What was fetched to open the file is not fetched again; of a file this small, it is everything.
  assert.ok(fetched < bytes.length + 100, `${fetched} bytes of ${bytes.length}`)
})

test('with a reader of all formats, the module of the format verifies', async () => {
  await init({ reader: new URL('../pilaster.wasm', import.meta.url) })
  const file = await open(golden('dataseries/tiny.ds'))
  assert.deepEqual(await cost(() => file.verify()), [])
  const vortex = await open(golden('vortex/enc_alp_a.vortex'))
  assert.deepEqual(await cost(() => vortex.verify()), [])
  assert.equal((await vortex.info()).segments > 0, true)
  await assert.rejects(init({ parquet: new Uint8Array() }), { kind: 'Source' })
  await assert.rejects(preload('parquet'), { kind: 'Source' })
})
