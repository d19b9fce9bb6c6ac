// Opens every golden file: the page shows rows and a picture of the structure, or an error.
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { after, before, test } from 'node:test'

import { launch } from '../chromium.js'
import { goldens } from '../golden.js'

/** Unsupported encodings, which the error names. */
const UNDECODED = /vortex\.(\w+\.v2|variant) is not supported$/

let page, wrong, close
before(async () => ({ page, wrong, close } = await launch()))
after(() => close())

/** Waits until the page shows the file or an error, and returns which. */
const outcome = (name) => page.waitForFunction((name) => {
  const error = document.querySelector('#error')
  if (!error.hidden) return { error: error.textContent }
  const shown = !document.querySelector('#file').hidden && document.querySelector('#name').textContent === name
  const done = shown && document.querySelector('#structure').childNodes.length > 0
  const rows = Number(document.querySelector('#grid table').getAttribute('aria-rowcount')) - 1
  const columns = document.querySelectorAll('#grid thead th').length - 1
  const cells = document.querySelectorAll('#grid tbody td').length
  return done && (rows === 0 || columns === 0 || cells > 0) && { rows, columns, cells }
}, name).then((handle) => handle.jsonValue())

for (const format of ['filo', 'dataseries', 'jay', 'bcolz', 'vortex']) {
  test(format, async () => {
    let count = 0
    for (const golden of goldens().filter((one) => one.format === format && !one.path.endsWith('.varr'))) {
      const { expected, path } = golden
      const name = path.split('/').pop()
      if (format === 'filo') await page.evaluate((type) => (document.querySelector('#type').value = type), expected.facts?.element_type?.toLowerCase() ?? '')
      // Clears the results of the previous file.
      await page.evaluate(() => {
        document.querySelector('#error').hidden = true
        document.querySelector('#name').textContent = ''
      })
      await page.setInputFiles(statSync(path).isDirectory() ? '#directory' : '#files', path)
      const got = await outcome(name)
      const sound = expected.expect !== 'error' && expected.expect !== 'either' && !expected.facts?.open_without_dtype &&
        (expected.reference_verdict?.tail_and_index_all_checks ?? 'accept') === 'accept'
      if (!sound) assert.ok(got.error?.length > 10 || got.rows >= 0, golden.name)
      else if (got.error) assert.match(got.error, UNDECODED, golden.name)
      count += 1
    }
    assert.ok(count >= { filo: 177, dataseries: 166, jay: 48, bcolz: 189, vortex: 60 }[format], `${count} files`)
  })
}

test('no uncaught errors', () => assert.deepEqual(wrong, []))
