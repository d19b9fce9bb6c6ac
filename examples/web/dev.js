// Serves this folder on localhost, with ranges: `npm run dev`.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer } from 'node:http'
import { extname, join, normalize } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' }
const root = fileURLToPath(new URL('.', import.meta.url))

/** Creates a server of the files below `folder`. `handle` may answer a request itself, and then returns true. */
export function serve(folder = root, handle = () => false) {
  return createServer(async (request, response) => {
    if (handle(request, response)) return
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname))
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path)
    const found = file.startsWith(folder) && (await stat(file).catch(() => null))
    if (!found || !found.isFile()) return response.writeHead(404).end('not found')
    const head = { 'content-type': TYPES[extname(file)] ?? 'application/octet-stream', 'accept-ranges': 'bytes' }
    const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '') ?? []
    if (from === undefined) {
      response.writeHead(200, { ...head, 'content-length': found.size })
      return createReadStream(file).pipe(response)
    }
    const [start, end] = [Number(from), Math.min(to ? Number(to) : Infinity, found.size - 1)]
    if (start > end) return response.writeHead(416, { 'content-range': `bytes */${found.size}` }).end()
    response.writeHead(206, { ...head, 'content-length': end - start + 1, 'content-range': `bytes ${start}-${end}/${found.size}` })
    return createReadStream(file, { start, end }).pipe(response)
  })
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const server = serve().listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () =>
    console.log(`http://127.0.0.1:${server.address().port}/viewer/`))
}
