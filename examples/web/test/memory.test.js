// If memory runs out, the result is an error: the module never traps, however little memory there is.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { PilasterError, init, open, recover, writeDataSeries, writeFilo } from '../lib/index.js'

const golden = (name) => new Uint8Array(readFileSync(new URL(`../../../tests/golden/${name}`, import.meta.url)))
const module = (name) => new Uint8Array(readFileSync(new URL(`../pilaster-${name}.wasm`, import.meta.url)))

/** Returns the LEB128 number at `at` of a module, and the position after it. */
function leb(bytes, at) {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]
    value += (byte & 127) * 2 ** shift
    if (byte < 128) return [value, at]
  }
}

function lebOf(value) {
  const bytes = []
  for (; value > 127; value >>>= 7) bytes.push(128 | value & 127)
  return [...bytes, value]
}

/** Returns the module with a memory that can grow by at most `pages` pages. */
function limited(bytes, pages) {
  for (let at = 8; at < bytes.length; ) {
    const [size, from] = leb(bytes, at + 1)
    if (bytes[at] === 5) {
      const [least] = leb(bytes, from + 2)
      const section = [1, 1, ...lebOf(least), ...lebOf(least + pages)]
      return new Uint8Array([...bytes.subarray(0, at), 5, section.length, ...section, ...bytes.subarray(from + size)])
    }
    at = from + size
  }
  throw new Error('a module without memory')
}

/** Returns whether a call succeeds. If not, checks that the error is about memory. */
async function done(what) {
  try {
    await what()
    return true
  } catch (error) {
    assert.ok(error instanceof PilasterError, error.stack)
    assert.equal(error.kind, 'NoRoom', error.message)
    return false
  }
}

test('reading, verifying and describing with little memory', async () => {
  const files = [
    ['dataseries/all_types_auto.ds'], ['filo/bin_double.filo', { type: 'double' }], ['jay/stats_n7.jay'],
    ['vortex/def_bools_a.vortex'], ['bcolz/blosclz_sh1_cl9/data/__1.blp'],
  ]
  let failed = 0
  for (const [name, options] of files) {
    const format = name.split('/')[0]
    let whole = 0
    for (const pages of [0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 40, 80, 200, 600]) {
      await init({ [format]: limited(module(format), pages) })
      if (format === 'vortex') await init({ verifier: limited(module('vortex-verify'), pages) })
      const all = await done(async () => {
        const file = await open(golden(name), options)
        await file.info()
        await file.verify()
        for (const table of file.tables) await table.read()
      })
      whole += all
    }
    assert.ok(whole > 0, name)
    failed += 15 - whole
  }
  assert.ok(failed > 15, `only ${failed} times there was too little`)
})

test('writing and recovering with little memory', async () => {
  const n = 20_000
  const columns = [
    { name: 'i', values: BigInt64Array.from({ length: n }, (_, i) => BigInt(i)) },
    { name: 's', values: Array.from({ length: n }, (_, i) => `text ${i}`) },
  ]
  await init({ writer: module('write') })
  const file = await writeDataSeries({ columns })
  const tries = [
    () => writeDataSeries({ columns }), () => writeFilo(columns[1].values), () => recover(file.subarray(0, file.length - 9)),
  ]
  for (const [k, write] of tries.entries()) {
    let whole = 0
    for (const pages of [0, 1, 2, 3, 5, 8, 12, 16, 24, 40, 80, 200]) {
      await init({ writer: limited(module('write'), pages) })
      whole += await done(write)
    }
    assert.ok(whole > 0 && whole < 12, `${k}: ${whole}`)
  }
  await init({ writer: module('write') })
})
