// The package in Deno, with the permission to read only: `deno run --allow-read test/deno.js`.
import { open, writeFilo } from '../lib/index.js'

const golden = new URL('../../../tests/golden/jay/stats_n7.jay', import.meta.url)
const file = await open(Deno.readFileSync(golden))
await file.verify()
const [vector] = await file.table().read({ columns: [0] })
const copy = await open(await writeFilo(BigInt64Array.of(1n, -2n)), { type: 'long' })
const [numbers] = await copy.table().read()
if (vector.length !== 7 || numbers.get(1) !== -2n) throw new Error('other rows than in node')
console.log(`${file.format}, ${vector.length} rows; ${copy.format}, ${numbers.length} rows`)
