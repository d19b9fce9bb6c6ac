// Starts the viewer in headless Chromium, served like `npm run dev`.
import { fileURLToPath } from 'node:url'

import { chromium } from 'playwright-core'

import { serve } from '../dev.js'

// A busy machine starts the browser late.
const PATIENCE = 180_000
const ARGS = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync']

export const golden = (name) => fileURLToPath(new URL(`../../../tests/golden/${name}`, import.meta.url))

/** Returns the page, its address, its errors, and a function that closes it. `handle` may answer a request itself. */
export async function launch(options = {}, handle) {
  const server = serve(undefined, handle)
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium'
  const browser = await chromium.launch({ executablePath, args: ARGS, timeout: PATIENCE }).catch((error) => {
    // The tests would wait for the server.
    server.close()
    throw error
  })
  const page = await browser.newPage(options)
  page.setDefaultTimeout(PATIENCE)
  const wrong = []
  page.on('pageerror', (error) => wrong.push(error))
  const origin = `http://127.0.0.1:${server.address().port}`
  await page.goto(`${origin}/viewer/`)
  const close = async () => {
    await browser.close()
    server.close()
    server.closeAllConnections()
  }
  return { page, wrong, origin, close }
}
