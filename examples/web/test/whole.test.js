// Reads every golden file again, with the module for all formats.
import { init } from '../lib/index.js'

await init({ reader: new URL('../pilaster.wasm', import.meta.url) })
await import('./golden.test.js')
