// The page: what is opened, what is shown. The work is the worker's.
import { Grid } from './grid.js'

/** Columns that are shown at once. */
const SHOWN = 50
const TYPES = ['boolean', 'int', 'long', 'float', 'double', 'string', 'utf8', 'blob', 'timestamp', 'datetime']

const $ = (selector) => document.querySelector(selector)
const worker = new Worker(new URL('worker.js', import.meta.url), { type: 'module' })
const grid = new Grid()
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

/** Does something that takes a while: says so, can be cancelled, shows what goes wrong. */
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
}

async function open(from, name) {
  source = { from, name }
  $('#file').hidden = true
  const type = $('#type').value || undefined
  const opened = await busy(`Opening ${name}`, 'open', { source: from, options: { name, type } })
  if (!opened) return
  facts = opened.value
  $('#file').hidden = false
  $('#name').textContent = name
  const rows = (dt, dd) => [Object.assign(document.createElement('dt'), { textContent: dt }),
    Object.assign(document.createElement('dd'), { textContent: dd })]
  $('#facts').replaceChildren(
    ...rows('format', facts.format), ...rows('size', `${facts.size.toLocaleString()} bytes`),
    ...rows('rows', facts.rows.toLocaleString()),
    ...rows('columns', facts.tables.reduce((sum, table) => sum + table.columns.length, 0)),
  )
  $('#table').replaceChildren(...facts.tables.map(({ name }, k) => new Option(name || 'rows', k)))
  $('#table-choice').hidden = facts.tables.length < 2
  $('#structure').textContent = ''
  $('#structure').closest('details').open = false
  $('#search').value = ''
  show()
}

/** The columns whose names hold what is searched. */
function chosen() {
  const wanted = $('#search').value.toLowerCase()
  const { columns } = facts.tables[$('#table').value]
  return columns.map((_, k) => k).filter((k) => columns[k].name.toLowerCase().includes(wanted))
}

function show() {
  const table = Number($('#table').value)
  const columns = chosen().slice(0, SHOWN)
  const { rows, columns: all } = facts.tables[table]
  grid.set(columns.map((k) => all[k]), rows, (start, end) =>
    ask('rows', { table, columns, start, end }).catch((error) => {
      failed(error)
      return null
    }))
}

async function save(as) {
  const table = Number($('#table').value)
  const done = await busy('Export', 'save', { table, columns: chosen(), as })
  if (!done) return
  const link = document.createElement('a')
  link.href = URL.createObjectURL(done.value)
  link.download = `${source.name}.${as === 'csv' ? 'csv' : 'jsonl'}`
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

/** What was dropped or chosen: a file, or the files of a directory by their paths below it. */
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

/** A dropped directory is walked; its paths are those below it. */
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
$('#table').addEventListener('change', show)
$('#search').addEventListener('input', show)
$('#verify').addEventListener('click', () => busy('Verify', 'verify'))
$('#csv').addEventListener('click', () => save('csv'))
$('#json').addEventListener('click', () => save('json'))
$('details').addEventListener('toggle', async (event) => {
  if (!event.target.open || $('#structure').textContent) return
  const info = await busy('Structure', 'info')
  if (info) $('#structure').textContent = JSON.stringify(info.value, null, 1)
})
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
