// Times whole files, read by two builds of the module for all formats: `node test/speed.js ONE.wasm OTHER.wasm FILE...`, where a
// directory is a bcolz dataset. Milliseconds of CPU, medians of five alternating rounds after one to warm up. Above 1: the other is faster.
import { appendFileSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { init, open } from '../lib/index.js'
import { sourceOf } from './golden.js'

const ROUNDS = 5

/** Reads all tables by batches of 65,536 rows. Returns the CPU time in milliseconds, and a sum over the cells that both builds must share. */
async function read(module, source) {
  await init({ reader: module })
  let seen = 0
  const start = process.cpuUsage()
  const file = await open(source)
  for (const table of file.tables) {
    for await (const { vectors } of table.batches()) {
      for (const vector of vectors) seen = (seen * 31 + vector.length + (vector.values?.byteLength ?? 0)) % 2 ** 32
    }
  }
  const { user, system } = process.cpuUsage(start)
  file.free()
  return [(user + system) / 1000, seen]
}

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1]

const [one, other, ...files] = process.argv.slice(2)
const modules = await Promise.all([one, other].map((path) => WebAssembly.compile(readFileSync(path))))
const sums = [0, 0]
for (const path of files) {
  const source = sourceOf({ path })
  const times = [[], []]
  for (let round = -1; round < ROUNDS; round++) {
    const seen = []
    for (const [k, module] of modules.entries()) {
      const [time, sum] = await read(module, source)
      if (round >= 0) times[k].push(time)
      seen.push(sum)
    }
    if (seen[0] !== seen[1]) throw new Error(`${path}: the builds read other rows`)
  }
  const found = times.map(median)
  for (const [k, time] of found.entries()) sums[k] += time
  say(basename(path), found)
}
say('all', sums)

function say(name, [before, after]) {
  console.log(`${name}: ${before.toFixed(1)} ms, ${after.toFixed(1)}: ${(before / after).toFixed(2)}`)
  const line = ['wasm', name, basename(other, '.wasm'), before.toFixed(2), after.toFixed(2), 'ms', (before / after).toFixed(3)]
  if (process.env.PILASTER_RESULTS) appendFileSync(process.env.PILASTER_RESULTS, line.join('\t') + '\n')
}
