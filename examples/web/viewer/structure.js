// Draws how a file is stored: the positions of its parts, and their sizes in bytes.
const NS = 'http://www.w3.org/2000/svg'
/** Width of the map of a file in pixels; no pixel is drawn twice. */
const WIDTH = 1000
/** Maximum number of nodes of a tree that are shown. */
const NODES = 2000

/** For each format: regions (`at`, `size`, `group`), groups (names), and shares (`name`, `size`, `more`). */
const PICTURES = {
  vortex({ tree, encodings = [] }, { columns }) {
    const sums = new Map()
    for (const { id, arrays, size } of encodings) {
      const sum = sums.get(id) ?? { name: id, size: 0, arrays: 0 }
      sums.set(id, { name: id, size: sum.size + size, arrays: sum.arrays + arrays })
    }
    return {
      groups: columns.map((column) => column.name),
      regions: tree.filter((node) => node.size !== undefined).map(({ offset, size, column }) => ({ at: offset, size, group: column })),
      shares: [...sums.values()].map(({ name, size, arrays }) => ({ name, size, more: `${arrays} arrays` })),
      of: 'encoding',
      tree: tree.map(({ depth, id, role, name, number, rows, size }) => ({
        depth, text: `${role === 'field' ? name : number === undefined ? role : `${role} ${number}`}: ${id}` +
          `${rows === undefined ? '' : `, ${rows.toLocaleString()} rows`}${size === undefined ? '' : `, ${bytes(size)}`}`,
      })),
    }
  },
  dataseries({ extents, stored, types }, { tables }) {
    const name = (table) => (table === undefined || table === null ? 'descriptions and index' : tables[table].name)
    const groups = [...tables.map((table) => table.name), 'descriptions and index']
    return {
      groups,
      regions: extents.map(([at, size, , table]) => ({ at, size, group: table ?? tables.length })),
      shares: stored.map(({ table, records, strings, extents, size, unpacked }) => ({
        name: [name(table), records && `records ${records}`, strings && `strings ${strings}`].filter(Boolean).join(', '),
        size, more: `${extents.toLocaleString()} extents, ${bytes(unpacked)} unpacked`, group: table ?? tables.length,
      })),
      of: 'table and compression',
      tree: types.flatMap(({ name, version, record, xml }) => [
        { depth: 0, text: `${name}, version ${version.join('.')}, records of ${bytes(record)}` },
        ...[...xml.matchAll(/<field\s([^>]*?)\/?>/g)].map(([, field]) => ({ depth: 1, text: field.trim() })),
      ]),
    }
  },
  jay({ columns, metadata }) {
    const used = columns.map(({ buffers }) => buffers.filter(({ size }) => size > 0))
    const size = (k) => used[k].reduce((sum, buffer) => sum + buffer.size, 0)
    const groups = [...columns.map((column) => column.name), 'metadata']
    return {
      groups,
      regions: [...used.flatMap((buffers, group) => buffers.map(({ offset, size }) => ({ at: offset, size, group }))),
        { at: metadata.offset, size: metadata.size, group: columns.length }],
      shares: [...columns.map(({ name, nulls }, k) => ({ name, size: size(k), more: `${nulls.toLocaleString()} nulls`, group: k })),
        { name: 'metadata', size: metadata.size, more: '', group: columns.length }],
      of: 'column',
    }
  },
  bcolz(info) {
    const arrays = info.arrays ?? [{ ...info, name: 'chunk', chunks: info.blocks }]
    return {
      groups: arrays.map(({ name }) => name || 'array'),
      regions: [],
      shares: arrays.map(({ name, dtype, codec, level, shuffle, chunks, chunklen, size, unpacked }, group) => ({
        name: name || 'array', size, group,
        more: [dtype, codec && `${codec}${level === undefined ? '' : ` ${level}`}`, `shuffle ${shuffle}`,
          chunklen === undefined ? `${chunks} blocks` : `${chunks} chunks of ${chunklen.toLocaleString()} rows`,
          `${bytes(unpacked)} unpacked`].filter(Boolean).join(', '),
      })),
      of: 'array',
    }
  },
  filo({ element, header, bits }, { size }) {
    return {
      groups: [element], regions: [{ at: 0, size, group: 0 }], of: 'encoding',
      shares: [{ name: header, size, more: bits === undefined ? element : `${element}, ${bits} bits`, group: 0 }],
    }
  },
}

export function bytes(size) {
  const unit = Math.min(Math.floor(Math.log2(Math.max(size, 1)) / 10), 4)
  return unit === 0 ? `${size} bytes` : `${(size / 1024 ** unit).toFixed(1)} ${['', 'KiB', 'MiB', 'GiB', 'TiB'][unit]}`
}

/** Returns colours such that consecutive groups have very different ones. */
const colour = (group) => `hsl(${(group * 137.5) % 360} 55% 50%)`

const make = (tag, text, ...children) => {
  const made = document.createElement(tag)
  if (text !== null) made.textContent = text
  made.append(...children)
  return made
}

/** Returns the elements of the picture of a file, from the results of `info` and `open`. */
export function picture(format, info, facts) {
  const { groups, regions, shares, of, tree } = PICTURES[format](info, { ...facts, columns: facts.tables[0]?.columns ?? [] })
  const parts = []
  if (regions.length > 0) parts.push(map(regions, groups, facts.size))
  parts.push(table(shares, of))
  if (tree) parts.push(make('h4', 'Layout'), nested(tree))
  return parts
}

/** Draws the file from the first to the last byte. */
function map(regions, groups, size) {
  const svg = document.createElementNS(NS, 'svg')
  svg.setAttribute('viewBox', `0 0 ${WIDTH} 40`)
  svg.setAttribute('preserveAspectRatio', 'none')
  svg.setAttribute('role', 'img')
  svg.setAttribute('aria-label', `where ${regions.length.toLocaleString()} regions of ${groups.length.toLocaleString()} kinds lie in the file`)
  svg.classList.add('map')
  let drawn = 0
  for (const { at, size: len, group } of regions.toSorted((a, b) => a.at - b.at)) {
    const [from, to] = [(at / size) * WIDTH, ((at + len) / size) * WIDTH]
    if (to < drawn) continue
    const rect = document.createElementNS(NS, 'rect')
    const attributes = { x: from, width: Math.max(to - from, 0.5), height: 40, fill: group === undefined ? 'currentColor' : colour(group) }
    for (const [name, value] of Object.entries(attributes)) rect.setAttribute(name, value)
    const title = document.createElementNS(NS, 'title')
    title.textContent = `${groups[group] ?? 'other'}: ${bytes(len)} at ${at.toLocaleString()}`
    rect.append(title)
    svg.append(rect)
    // The next region begins at least one pixel further.
    drawn = Math.max(to, from + 1)
  }
  return svg
}

/** Returns a table of the sizes in bytes, the largest first. */
function table(shares, of) {
  const all = shares.reduce((sum, { size }) => sum + size, 0)
  const head = make('tr', null, ...[of, 'bytes', 'share', ''].map((text) => Object.assign(make('th', text), { scope: 'col' })))
  const rows = shares.toSorted((a, b) => b.size - a.size).map(({ name, size, more, group }, k) => {
    const percent = all > 0 ? (100 * size) / all : 0
    const bar = make('span', null)
    bar.className = 'bar'
    bar.style.width = `${percent}%`
    bar.style.background = colour(group ?? k)
    const share = make('td', `${percent.toFixed(1)} %`)
    share.prepend(bar)
    share.className = 'share'
    return make('tr', null, Object.assign(make('th', name), { scope: 'row' }), make('td', size.toLocaleString()), share, make('td', more))
  })
  const made = make('table', null, make('caption', `Bytes by ${of}`), make('thead', null, head), make('tbody', null, ...rows))
  made.className = 'shares'
  const around = make('div', null, made)
  around.className = 'wide'
  return around
}

/** Builds a tree from nodes and their depths. */
function nested(nodes) {
  const root = make('ul', null)
  const open = [root]
  for (const { depth, text } of nodes.slice(0, NODES)) {
    open.length = Math.min(open.length, depth + 1)
    const item = make('li', text)
    const below = make('ul', null)
    open.at(-1).append(item)
    item.append(below)
    open.push(below)
  }
  for (const empty of root.querySelectorAll('ul:empty')) empty.remove()
  if (nodes.length > NODES) root.append(make('li', `and ${(nodes.length - NODES).toLocaleString()} more`))
  root.className = 'tree'
  return root
}
