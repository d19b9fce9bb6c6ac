// Every golden file once more, read by the one module of all formats instead of by that of its own.
import { init } from '../lib/index.js'

await init({ reader: new URL('../pilaster.wasm', import.meta.url) })
await import('./golden.test.js')
