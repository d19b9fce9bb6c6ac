// The page: opening of files and display. The worker reads them.
import { Columns } from './columns.js'
import { Grid } from './grid.js'
import { picture } from './structure.js'

/** Maximum number of columns that are shown at once. */
const SHOWN = 50
const TYPES = ['boolean', 'int', 'long', 'float', 'double', 'string', 'utf8', 'blob', 'timestamp', 'datetime']

const $ = (selector) => document.querySelector(selector)
const worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' })
const grid = new Grid()
const cards = new Columns()
const waiting = new Map()
let calls = 0
let facts = null
let source = null

worker.addEventListener('message', ({ data: { id, result, error, progress } }) => {
  const call = waiting.get(id)
  if (!call) return
  if (progress) {
    call.onProgress?.(progress)
    return
  }
  waiting.delete(id)
  if (error) call.reject(Object.assign(new Error(error.message), error))
  else call.resolve(result)
})

function ask(call, args, onProgress) {
  const id = ++calls
  worker.postMessage({ id, call, args })
  return new Promise((resolve, reject) => waiting.set(id, { resolve, reject, onProgress }))
}

/** Runs a long call of the worker: shows a label and a button to cancel, and its error. */
async function busy(label, call, args) {
  $('#error').hidden = true
  $('#status').textContent = `${label}…`
  const result = ask(call, args, ({ done, of }) => ($('#status').textContent = `${label}: ${Math.floor((100 * done) / of)} %`))
  const id = calls
  $('#cancel').hidden = false
  $('#cancel').onclick = () => worker.postMessage({ call: 'cancel', args: id })
  try {
    const value = await result
    $('#status').textContent = `${label}: done`
    return { value }
  } catch (error) {
    $('#status').textContent = ''
    failed(error)
    return null
  } finally {
    $('#cancel').hidden = true
  }
}

function failed(error) {
  $('#error').textContent = error.name === 'AbortError' ? 'cancelled' : error.message
  $('#error').hidden = false
  if (error.recoverable) $('#recover').hidden = false
}

async function open(from, name) {
  source = { from, name }
  for (const id of ['#file', '#losses', '#recover']) $(id).hidden = true
  const type = $('#type').value || undefined
  const opened = await busy(`Opening ${name}`, 'open', { source: from, options: { name, type } })
  if (!opened || source.from !== from) return
  facts = opened.value
  $('#file').hidden = false
  $('#recover').hidden = facts.format !== 'dataseries' || !(from instanceof Blob)
  $('#name').textContent = name
  const rows = (dt, dd) => [Object.assign(document.createElement('dt'), { textContent: dt }),
    Object.assign(document.createElement('dd'), { textContent: dd })]
  $('#facts').replaceChildren(
    ...rows('format', facts.format), ...rows('size', `${facts.size.toLocaleString()} bytes`),
    ...rows('rows', facts.rows.toLocaleString()),
    ...rows('columns', facts.tables.reduce((sum, table) => sum + table.columns.length, 0)),
    ...rows('checks', 'not made yet'),
  )
  $('#table').replaceChildren(...facts.tables.map(({ name }, k) => new Option(name || 'rows', k)))
  // Selects the first table that has rows.
  $('#table').value = Math.max(facts.tables.findIndex((table) => table.rows > 0), 0)
  $('#table-choice').hidden = facts.tables.length < 2
  $('#structure').replaceChildren()
  $('#raw pre').textContent = ''
  for (const id of ['#search', '#from', '#to']) $(id).value = ''
  chosenTable()
  const info = await ask('info').catch((error) => error)
  if (source.from !== from) return
  if (info instanceof Error) {
    $('#structure').textContent = info.message
    return
  }
  $('#structure').replaceChildren(...picture(facts.format, info, facts))
  $('#raw pre').textContent = JSON.stringify(info, null, 1)
}

/** Shows another table; updates the columns that can be the x axis. */
function chosenTable() {
  const { columns, times } = facts.tables[$('#table').value] ?? { columns: [], times: [] }
  $('#x').replaceChildren(new Option('row numbers', ''), ...times.map((k) => new Option(columns[k].name || 'value', k)))
  $('#x').value = times[0] ?? ''
  show()
}

/** Returns the columns whose names contain the search text. */
function chosen() {
  const wanted = $('#search').value.toLowerCase()
  const { columns } = facts.tables[$('#table').value]
  return columns.map((_, k) => k).filter((k) => columns[k].name.toLowerCase().includes(wanted))
}

function show() {
  const table = Number($('#table').value)
  if (!facts.tables[table]) {
    grid.set([], 0, () => [])
    cards.set([], 0, null, null)
    return
  }
  const of = source
  const found = chosen()
  const columns = found.slice(0, SHOWN)
  const { rows, columns: all } = facts.tables[table]
  $('#shown').textContent = columns.length < all.length ? `(${columns.length} of ${all.length})` : ''
  $('#filo').disabled = found.length !== 1
  $('#filo').title = found.length === 1 ? '' : 'a Filo vector has one column: search for its name'
  grid.set(columns.map((k) => all[k]), rows, (start, end) =>
    ask('rows', { table, columns, start, end }).catch((error) => {
      // Ignores an error if another file was opened in the meantime.
      if (source === of) failed(error)
      return null
    }))
  const x = $('#x').value === '' ? null : Number($('#x').value)
  cards.set(columns.map((k) => [k, all[k]]), rows, x === null ? null : all[x], (column, onProgress) =>
    ask('profile', { table, column, x }, onProgress))
}

function download(blob, name) {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

async function save(call, as, extension) {
  const table = Number($('#table').value)
  const { rows } = facts.tables[table]
  const within = (input, otherwise) => Math.min(Math.max(input.value === '' ? otherwise : Number(input.value), 0), rows)
  const [start, end] = [within($('#from'), 0), within($('#to'), rows)]
  const done = await busy('Export', call, { table, columns: chosen(), as, start, end })
  if (done) download(done.value, `${source.name}.${extension}`)
}

async function verify() {
  const done = await busy('Verify', 'verify')
  $('#facts dd:last-child').textContent = done ? 'all passed' : $('#error').textContent
}

/** Recovers a file: offers it as a download, shows it, and lists the losses. */
async function recover() {
  const { name } = source
  const done = await busy('Recover', 'recover')
  if (!done) return
  const { blob, rows, extents, losses } = done.value
  const target = `${name.replace(/\.ds$/, '')}.recovered.ds`
  download(blob, target)
  await open(blob, target)
  const lost = losses.reduce((sum, { size }) => sum + size, 0)
  $('#status').textContent = `Recovered ${rows.toLocaleString()} rows in ${extents.toLocaleString()} extents; ` +
    (losses.length === 0 ? 'nothing is lost' : `lost ${lost.toLocaleString()} bytes in ${losses.length} places`)
  $('#losses').hidden = losses.length === 0
  $('#losses summary').textContent = 'Losses'
  $('#losses ul').replaceChildren(...losses.map(({ offset, size, table, index, why }) => Object.assign(document.createElement('li'), {
    textContent: `${size.toLocaleString()} bytes at ${offset.toLocaleString()}` +
      `${index ? ', the index: no rows' : table ? `, rows of ${table}` : ''}: ${why}`,
  })))
}

/** Opens dropped or chosen files: a file, or the files of a directory by their relative paths. */
function opened(files) {
  const all = [...files]
  if (all.length === 0) return
  if (!all[0].webkitRelativePath) {
    open(all[0], all[0].name)
    return
  }
  const below = (file) => file.webkitRelativePath.split('/').slice(1).join('/')
  open(all.map((file) => [below(file), file]), all[0].webkitRelativePath.split('/')[0])
}

/** Lists the files of a dropped directory by their relative paths. */
async function filesOf(directory, path = '') {
  const reader = directory.createReader()
  const all = []
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
    if (entries.length === 0) return all
    for (const entry of entries) {
      if (entry.isDirectory) all.push(...(await filesOf(entry, `${path}${entry.name}/`)))
      else all.push([path + entry.name, await new Promise((resolve, reject) => entry.file(resolve, reject))])
    }
  }
}

$('#type').append(...TYPES.map((type) => new Option(type)))
$('#files').addEventListener('change', (event) => opened(event.target.files))
$('#directory').addEventListener('change', (event) => opened(event.target.files))
$('#type').addEventListener('change', () => source && open(source.from, source.name))
$('#source').addEventListener('submit', (event) => {
  event.preventDefault()
  const url = $('#url').value
  if (url) open(url, url.split('/').pop())
})
$('#table').addEventListener('change', chosenTable)
$('#x').addEventListener('change', show)
$('#search').addEventListener('input', show)
$('#verify').addEventListener('click', verify)
$('#csv').addEventListener('click', () => save('save', 'csv', 'csv'))
$('#json').addEventListener('click', () => save('save', 'json', 'jsonl'))
$('#series').addEventListener('click', () => save('write', 'dataseries', 'ds'))
$('#filo').addEventListener('click', () => save('write', 'filo', 'filo'))
$('#recover').addEventListener('click', recover)
for (const type of ['dragover', 'dragleave', 'drop']) {
  document.addEventListener(type, (event) => {
    event.preventDefault()
    $('#drop').classList.toggle('over', type === 'dragover')
  })
}
document.addEventListener('drop', async (event) => {
  const entry = event.dataTransfer.items[0]?.webkitGetAsEntry?.()
  if (entry?.isDirectory) open(await filesOf(entry), entry.name)
  else opened(event.dataTransfer.files)
})
