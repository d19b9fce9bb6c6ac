// The viewer in headless Chromium: files of all formats, errors of damaged ones, export, offline use.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { golden, launch } from '../chromium.js'

let page, wrong, origin, close
before(async () => ({ page, wrong, origin, close } = await launch()))
after(() => close())

/** Opens a golden and waits for its first cell. */
async function show(name) {
  await page.setInputFiles('#files', golden(name))
  await page.waitForFunction((name) => document.querySelector('#name').textContent === name, name.split('/').pop())
  await page.waitForSelector('#grid td')
}

const row = (n) => page.locator('#grid tbody tr').nth(n).locator('td').allTextContents()
const facts = () => page.locator('#facts').innerText()

test('a DataSeries file', async () => {
  await show('dataseries/tiny.ds')
  assert.match(await facts(), /dataseries[\s\S]*664 bytes[\s\S]*2/)
  assert.deepEqual(await row(0), ['true', '7', '-2', 'hello', '1.5'])
  assert.equal((await row(1))[2], 'null')
})

test('a Jay file', async () => {
  await show('jay/stats_n7.jay')
  assert.match(await facts(), /jay/)
  assert.equal(await page.locator('#grid tbody tr').count(), 7)
})

test('a Vortex file: far rows by key, columns by name', async () => {
  await show('vortex/enc_sequence_a.vortex')
  await page.locator('#grid').press('End')
  await page.waitForFunction(() => [...document.querySelectorAll('#grid tbody th')].at(-1)?.textContent === '1099')
  await page.locator('#search').fill('i64')
  await page.waitForFunction(() => document.querySelectorAll('#grid thead th').length === 2)
  assert.equal(await page.locator('#grid thead th').nth(1).textContent(), 'i64')
  await page.waitForFunction(() => document.querySelector('#grid tbody td')?.textContent === '1000000')
})

test('a bcolz directory', async () => {
  await page.setInputFiles('#directory', golden('bcolz/ctable_basic'))
  await page.waitForFunction(() => document.querySelector('#name').textContent === 'ctable_basic')
  await page.waitForSelector('#grid td')
  assert.equal((await row(0))[0], '1002')
})

test('a bcolz directory that is dropped', async () => {
  await show('dataseries/tiny.ds')
  // A drag by the debugging protocol, so that the browser creates real entries.
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [golden('bcolz/ctable_basic')], dragOperationsMask: 1 }
  for (const type of ['dragEnter', 'dragOver', 'drop']) {
    await session.send('Input.dispatchDragEvent', { type, x: 200, y: 200, data })
  }
  await page.waitForFunction(() => document.querySelector('#name').textContent === 'ctable_basic')
  await page.waitForSelector('#grid td')
  assert.equal((await row(0))[0], '1002')
})

test('a Filo vector lists the types that fit', async () => {
  await page.setInputFiles('#files', golden('filo/bin_int_readme.filo'))
  await page.waitForSelector('#error:not([hidden])')
  assert.match(await page.locator('#error').textContent(), /element type.*int/)
  await page.selectOption('#type', 'int')
  await page.waitForSelector('#grid td')
  assert.match(await facts(), /filo/)
  await page.selectOption('#type', '')
})

test('a damaged file is an error, and the next one opens', async () => {
  await page.setInputFiles('#files', golden('dataseries/damaged/bad_magic.ds'))
  await page.waitForSelector('#error:not([hidden])')
  assert.match(await page.locator('#error').textContent(), /magic number/)
  assert.ok(await page.locator('#file').isHidden())
  await show('dataseries/tiny.ds')
})

test('an export, offline', async () => {
  await page.context().setOffline(true)
  await show('dataseries/tiny.ds')
  await page.locator('#verify').click()
  await page.waitForFunction(() => document.querySelector('#status').textContent === 'Verify: done')
  const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#csv').click()])
  const path = join(mkdtempSync(join(tmpdir(), 'pilaster-')), 'tiny.csv')
  await download.saveAs(path)
  assert.equal(readFileSync(path, 'utf8'), 'flag,b,i,s,d\r\ntrue,7,-2,hello,1.5\r\nfalse,255,,"",0\r\n')
  await page.context().setOffline(false)
})

test('a page that was loaded opens every format without a network', async () => {
  const asked = []
  const fresh = await launch({}, ({ url }) => {
    asked.push(url)
    return false
  })
  try {
    // Modules are loaded one after the other; this is the last one.
    while (!asked.includes('/pilaster-write.wasm')) await fresh.page.waitForTimeout(20)
    await fresh.page.context().setOffline(true)
    for (const name of ['jay/stats_n7.jay', 'vortex/enc_alp_a.vortex', 'bcolz/chunks/pyblosc_lz4.blosc']) {
      await fresh.page.setInputFiles('#files', golden(name))
      await fresh.page.waitForFunction((name) => document.querySelector('#name').textContent === name, name.split('/').pop())
    }
    assert.deepEqual(asked.filter((url) => url.endsWith('.wasm')).length, 7)
  } finally {
    await fresh.close()
  }
})

test('a URL, by ranges', async () => {
  const url = `${origin}/pilaster.wasm`
  await page.locator('#url').fill(url)
  await page.locator('#url').press('Enter')
  await page.waitForFunction(() => /magic number.*not supported/.test(document.querySelector('#error').textContent))
})

test('no uncaught errors', () => assert.deepEqual(wrong, []))
