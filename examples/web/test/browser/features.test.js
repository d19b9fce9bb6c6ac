// Features of the viewer: plots, the picture of the structure, new files, recovery of a truncated file; a file of 5 GB by
// ranges,
// and a call that is cancelled.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { open, writeDataSeries } from '../../lib/index.js'
import { farAway } from '../far.js'
import { golden, launch } from '../chromium.js'

let page, wrong, origin, close
const far = await farAway()
/** Responses that are never sent. */
const held = []

/** Serves a file that exists in ranges only, and one that is not answered after the first request. */
function handle(request, response) {
  const [, from, to] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? []
  if (request.url === '/far.jay') {
    const end = Math.min(Number(to) + 1, far.byteLength)
    response.writeHead(206, { 'content-range': `bytes ${from}-${end - 1}/${far.byteLength}` }).end(far.bytes(Number(from), end))
    return true
  }
  if (request.url === '/slow.jay') {
    held.push(response)
    return true
  }
  return false
}

before(async () => ({ page, wrong, origin, close } = await launch({ viewport: { width: 1000, height: 1400 } }, handle)))
after(() => close())

const ROWS = 10_000
const columns = [
  { name: 'time', values: BigInt64Array.from({ length: ROWS }, (_, i) => 1_700_000_000_000_000_000n + BigInt(i) * 1_000_000_000n), unit: 'ns' },
  { name: 'price', values: Array.from({ length: ROWS }, (_, i) => (i % 10 === 3 ? null : Math.sin(i / 1000))) },
  { name: 'size', values: Int32Array.from({ length: ROWS }, (_, i) => i % 97) },
  { name: 'who', values: Array.from({ length: ROWS }, (_, i) => `trader ${i % 5}`) },
]
const trades = Buffer.from(await writeDataSeries({ name: 'Trade', columns }))

async function show(name, buffer) {
  await page.setInputFiles('#files', typeof buffer === 'string' ? buffer : { name, mimeType: '', buffer })
  await page.waitForFunction((name) => document.querySelector('#name').textContent === name, name)
  await page.waitForSelector('#structure > *')
}

const card = (name) => page.locator('#columns > li', { has: page.locator('h4', { hasText: new RegExp(`^${name}$`) }) })

async function downloaded(selector) {
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator(selector).click()])
  return { name: download.suggestedFilename(), bytes: new Uint8Array(readFileSync(await download.path())) }
}

test('a plot over time, with minimum, maximum and missing values', async () => {
  await show('trades.ds', trades)
  assert.equal(await page.locator('#x option:checked').textContent(), 'time')
  const price = card('price')
  // The column is read when it becomes visible.
  await price.scrollIntoViewIfNeeded()
  await price.locator('figure svg').waitFor()
  assert.match(await price.locator('dl').innerText(), /min[\s\S]*-0\.99\d*[\s\S]*max[\s\S]*0\.99\d*[\s\S]*nulls[\s\S]*1,000/)
  const label = await price.locator('svg').getAttribute('aria-label')
  assert.match(label, /^price over time, 2023-11-14T22:13:20.000Z to 2023-11-15T00:59:59.000Z: from -0\.99.* 1,000 of 10,000 rows/)
  const points = (await price.locator('polyline').getAttribute('points')).split(' ').map((point) => point.split(',').map(Number))
  assert.ok(points.length > 300, `${points.length} points`)
  // The wave begins upwards and ends downwards, over the full width.
  assert.ok(points[0][1] > 50 && points[0][1] < 70 && points.at(-1)[0] > 399, `${points[0]} ${points.at(-1)}`)
  assert.ok(Math.min(...points.map(([, y]) => y)) < 6 && Math.max(...points.map(([, y]) => y)) > 114)
  assert.equal(await card('who').locator('svg').count(), 0, 'no plot of strings')
  const who = card('who')
  await who.scrollIntoViewIfNeeded()
  await who.locator('dl', { hasText: 'nulls' }).waitFor()
  assert.match(await who.locator('dl').innerText(), /nulls\s*0/)
})

test('the plot by keyboard, and over row numbers', async () => {
  const figure = card('price').locator('figure')
  await figure.press('Home')
  assert.match(await figure.locator('figcaption').textContent(), /^2023-11-14T22:13:20.000Z: 0/)
  await figure.press('ArrowRight')
  assert.doesNotMatch(await figure.locator('figcaption').textContent(), /22:13:20/)
  await page.selectOption('#x', { label: 'row numbers' })
  await card('price').locator('figure svg').waitFor()
  assert.match(await card('price').locator('svg').getAttribute('aria-label'), /^price over row numbers, row 0 to row 9999/)
})

test('the structure as a picture', async () => {
  assert.ok(await page.locator('#structure svg.map rect').count() >= 5)
  assert.match(await page.locator('#structure .shares').innerText(), /Trade, records lz4, strings lz4/)
  await show('def_multichunk_a.vortex', golden('vortex/def_multichunk_a.vortex'))
  assert.match(await page.locator('#structure .shares').innerText(), /Bytes by encoding[\s\S]*vortex\.\w+\s+[\d,]+\s+\d+\.\d %/)
  assert.match(await page.locator('#structure .tree').innerText(), /root: vortex\.\w+/)
  await show('trades.ds', trades)
})

test('a search of columns, and files made of what it finds', async () => {
  await page.locator('#search').fill('price')
  await page.waitForFunction(() => document.querySelectorAll('#columns > li').length === 1)
  const filo = await downloaded('#filo')
  assert.equal(filo.name, 'trades.ds.filo')
  const [values] = await (await open(filo.bytes, { type: 'double' })).table().read()
  assert.deepEqual([values.length, values.nullCount, values.get(0), values.get(3)], [ROWS, 1000, 0, null])
  await page.locator('#search').fill('i')
  assert.ok(await page.locator('#filo').isDisabled())
  const series = await downloaded('#series')
  const table = (await open(series.bytes)).table('Trade')
  assert.deepEqual(table.columns.map((column) => column.name), ['time', 'price', 'size'])
  assert.deepEqual((await table.read({ columns: ['size'], start: 100, end: 103 }))[0].toArray(), [3, 4, 5])
})

test('a truncated file is recovered', async () => {
  await page.setInputFiles('#files', { name: 'cut.ds', mimeType: '', buffer: trades.subarray(0, trades.length - 30_000) })
  await page.waitForSelector('#error:not([hidden])')
  const { name, bytes } = await downloaded('#recover')
  assert.equal(name, 'cut.recovered.ds')
  const { rows } = (await open(bytes)).table('Trade')
  assert.ok(rows > 0 && rows < ROWS)
  await page.waitForFunction(() => document.querySelector('#name').textContent === 'cut.recovered.ds')
  await page.waitForFunction((rows) => document.querySelector('#status').textContent.startsWith(`Recovered ${rows.toLocaleString()} rows`), rows)
  assert.match(await page.locator('#losses').textContent(), /rows of Trade/)
})

test('a file of 5 GB, by ranges', async () => {
  await page.locator('#url').fill(`${origin}/far.jay`)
  await page.locator('#url').press('Enter')
  await page.waitForFunction(() => document.querySelector('#name').textContent === 'far.jay')
  assert.match(await page.locator('#facts').innerText(), /5,368,714,\d{3} bytes/)
  await page.waitForSelector('#grid td')
  const row = await page.locator('#grid tbody tr').nth(3).locator('td').allTextContents()
  assert.equal(row[3], '-1')
  assert.ok(far.fetched < 1_000_000, `${far.fetched} bytes were fetched`)
})

test('a call that is cancelled', async () => {
  await page.locator('#url').fill(`${origin}/slow.jay`)
  await page.locator('#url').press('Enter')
  await page.locator('#cancel').click()
  await page.waitForSelector('#error:not([hidden])')
  assert.equal(await page.locator('#error').textContent(), 'cancelled')
  assert.equal(held.length, 1)
  await show('trades.ds', trades)
})

test('dark, and on a phone', async () => {
  const back = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await back()
  await page.emulateMedia({ colorScheme: 'dark' })
  assert.notEqual(await back(), light)
  await page.emulateMedia({ colorScheme: 'light' })
  await page.setViewportSize({ width: 360, height: 700 })
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360, 'nothing hangs over')
})

test('a page that reads one file loads the module of its format alone', async () => {
  const { rows, modules } = await page.evaluate(async () => {
    const { open } = await import('/lib/index.js')
    const { rows } = await open(new URL('/far.jay', location))
    return { rows, modules: performance.getEntriesByType('resource').map(({ name }) => name.split('/').pop()) }
  })
  assert.equal(rows, 7)
  assert.deepEqual(modules.filter((name) => name.endsWith('.wasm')), ['pilaster-jay.wasm'])
})

test('every control has a name', async () => {
  const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, [role=img], [role=region]')]
    .filter((one) => !(one.getAttribute('aria-label') || one.labels?.[0]?.textContent.trim() || one.textContent.trim()))
    .map((one) => one.outerHTML))
  assert.deepEqual(nameless, [])
})

test('files of all five formats, dropped', async () => {
  const files = [['jay/stats_n7.jay', 'jay'], ['dataseries/tiny.ds', 'dataseries'], ['vortex/enc_alp_a.vortex', 'vortex'],
    ['bcolz/chunks/bitshuf_n12_ts4_bs0.blosc', 'bcolz'], ['filo/bin_int_readme.filo', 'filo']]
  for (const [file, format] of files) {
    await page.selectOption('#type', format === 'filo' ? 'int' : '')
    const name = file.split('/').pop()
    const transfer = await page.evaluateHandle(([name, bytes]) => {
      const transfer = new DataTransfer()
      transfer.items.add(new File([new Uint8Array(bytes)], name))
      return transfer
    }, [name, [...readFileSync(golden(file))]])
    await page.dispatchEvent('#drop', 'drop', { dataTransfer: transfer })
    await page.waitForFunction((name) => document.querySelector('#name').textContent === name, name)
    await page.waitForSelector('#grid td')
    assert.match(await page.locator('#facts').innerText(), new RegExp(`format\\s+${format}`))
    const drawn = page.locator('#columns > li').filter({ has: page.locator('.type', { hasText: /^(u?int|float)/ }) }).first()
    await drawn.scrollIntoViewIfNeeded()
    await drawn.locator('svg polyline').waitFor()
  }
  await page.selectOption('#type', '')
})

test('an export of some rows of some columns', async () => {
  await show('trades.ds', trades)
  await page.locator('#search').fill('si')
  await page.locator('#from').fill('95')
  await page.locator('#to').fill('99')
  const { bytes } = await downloaded('#csv')
  assert.equal(new TextDecoder().decode(bytes), 'size\r\n95\r\n96\r\n0\r\n1\r\n')
  const file = await open((await downloaded('#series')).bytes)
  assert.deepEqual((await file.table().read())[0].toArray(), [95, 96, 0, 1])
})

test('a picture, which is written only on request', async () => {
  const path = process.env.PICTURE ?? join(tmpdir(), 'pilaster-viewer.png')
  await page.setViewportSize({ width: 860, height: 400 })
  await page.locator('#url').fill('')
  await show('trades.ds', trades)
  await page.locator('#verify').click()
  for (const name of ['time', 'price', 'size', 'who']) await card(name).scrollIntoViewIfNeeded()
  await card('who').locator('dl dd').waitFor()
  await page.evaluate(() => scrollTo(0, 0))
  await page.screenshot({ path, fullPage: true })
  assert.ok(statSync(path).size > 50_000, 'something is on it')
})

test('no uncaught errors', () => assert.deepEqual(wrong, []))
