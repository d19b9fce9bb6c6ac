// Draws one column as a line in SVG, which has the colours of the page and scales with it.
import { number, timed } from './text.js'

const [WIDTH, HEIGHT] = [400, 120]
const NS = 'http://www.w3.org/2000/svg'

const element = (tag, attributes, ...children) => {
  const made = document.createElementNS(NS, tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...children)
  return made
}

/** Returns a figure of the points of a profile. `x`: the column on the x axis, or null for row numbers. */
export function plot(column, x, { bins, from, to, rows, nulls, least, greatest }) {
  const figure = document.createElement('figure')
  const all = [...bins.low.keys()].filter((k) => Number.isFinite(bins.low[k]) && Number.isFinite(bins.high[k]))
  if (all.length === 0) return figure
  const low = all.reduce((low, k) => Math.min(low, bins.low[k]), Infinity)
  const high = all.reduce((high, k) => Math.max(high, bins.high[k]), -Infinity)
  const last = bins.low.length - 1
  const px = (k) => (to > from ? (k / last) * WIDTH : WIDTH / 2)
  const py = (y) => (high > low ? 4 + ((high - y) / (high - low)) * (HEIGHT - 8) : HEIGHT / 2)
  const at = (k) => (x === null ? `row ${Math.round(from + (k / last) * (to - from))}` : timed(x, from + (k / last) * (to - from)))
  const points = all.flatMap((k) => {
    const [top, bottom] = [py(bins.high[k]), py(bins.low[k])].map((y) => y.toFixed(1))
    const place = px(k).toFixed(1)
    return top === bottom ? [`${place},${top}`] : [`${place},${top}`, `${place},${bottom}`]
  })
  const name = column.name || 'value'
  const label = `${name} over ${x?.name ?? 'row numbers'}, ${at(0)} to ${at(last)}: ` +
    `from ${least} to ${greatest}, ${nulls.toLocaleString()} of ${rows.toLocaleString()} rows without a value`
  const mark = element('line', { class: 'mark', y1: 0, y2: HEIGHT, visibility: 'hidden' })
  const svg = element('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': label, preserveAspectRatio: 'none' },
    // A single point is drawn as a line of length zero with round ends.
    element('polyline', { points: points.length === 1 ? `${points[0]} ${points[0]}` : points.join(' ') }), mark)
  const caption = document.createElement('figcaption')
  const ends = () => (caption.textContent = `${at(0)} – ${at(last)}`)
  caption.setAttribute('aria-live', 'polite')
  const span = (text, side) => Object.assign(document.createElement('span'), { textContent: text, className: side })
  figure.append(span(number(high), 'high'), svg, span(number(low), 'low'), caption)
  figure.tabIndex = 0
  ends()

  // The point under the pointer, or the point selected by arrow keys.
  let current = -1
  const show = (i) => {
    current = Math.min(Math.max(i, 0), all.length - 1)
    const k = all[current]
    for (const side of ['x1', 'x2']) mark.setAttribute(side, px(k))
    mark.setAttribute('visibility', 'visible')
    const [a, b] = [bins.low[k], bins.high[k]]
    caption.textContent = `${at(k)}: ${a === b ? number(a) : `${number(a)} to ${number(b)}`}`
  }
  const hide = () => {
    mark.setAttribute('visibility', 'hidden')
    ends()
  }
  svg.addEventListener('pointermove', ({ clientX }) => {
    const { left, width } = svg.getBoundingClientRect()
    const k = ((clientX - left) / width) * last
    show(all.reduce((best, at, i) => (Math.abs(at - k) < Math.abs(all[best] - k) ? i : best), 0))
  })
  svg.addEventListener('pointerleave', hide)
  figure.addEventListener('blur', hide)
  figure.addEventListener('keydown', (event) => {
    const to = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: all.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    show(to)
  })
  return figure
}
