// A table of any number of rows. Only visible rows are elements.
const ROW = 28
/** Maximum height in pixels; browsers support about 16 million. */
const MOST = 8_000_000

export class Grid {
  #region = document.querySelector('#grid')
  #space = document.querySelector('#height')
  #table = this.#region.querySelector('table')
  #read = null
  #columns = []
  #rows = 0
  #first = 0
  #asked = 0
  #own = false

  constructor() {
    this.#region.addEventListener('scroll', () => this.#scrolled(), { passive: true })
    this.#region.addEventListener('keydown', (event) => this.#key(event))
    new ResizeObserver(() => this.#show()).observe(this.#region)
  }

  /** Shows `rows` rows of `columns`. `read(start, end)` returns a promise of their texts, column by column. */
  set(columns, rows, read) {
    this.#columns = columns
    this.#rows = rows
    this.#read = read
    this.#first = 0
    this.#space.style.height = `${Math.min(MOST, (rows + 2) * ROW)}px`
    this.#region.scrollTop = 0
    this.#table.setAttribute('aria-rowcount', rows + 1)
    const head = document.createElement('tr')
    head.append(cell('th', 'row'), ...columns.map((column) => {
      const th = cell('th', column.name || 'value')
      th.title = `${column.name} ${column.type}`
      return th
    }))
    for (const th of head.children) th.scope = 'col'
    this.#table.tHead.replaceChildren(head)
    this.#table.tBodies[0].replaceChildren()
    this.#show()
  }

  get #visible() {
    return Math.max(1, Math.floor(this.#region.clientHeight / ROW) - 1)
  }

  get #last() {
    return Math.max(0, this.#rows - this.#visible)
  }

  #scrolled() {
    // Scrolling by this class has set the row already.
    if (this.#own) {
      this.#own = false
      return
    }
    const most = this.#region.scrollHeight - this.#region.clientHeight
    const to = most > 0 ? Math.round((this.#region.scrollTop / most) * this.#last) : 0
    if (to !== this.#first) {
      this.#first = to
      this.#show()
    }
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: this.#visible, PageUp: -this.#visible }[event.key]
    const to = step !== undefined ? this.#first + step : { Home: 0, End: this.#last }[event.key]
    if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return
    event.preventDefault()
    this.#first = Math.min(Math.max(to, 0), this.#last)
    const most = this.#region.scrollHeight - this.#region.clientHeight
    const top = this.#last > 0 ? Math.round((this.#first / this.#last) * most) : 0
    this.#own = Math.round(this.#region.scrollTop) !== top
    this.#region.scrollTop = top
    this.#show()
  }

  /** Reads the visible rows. An answer is discarded if a newer request was made. */
  async #show() {
    if (!this.#read || this.#region.clientHeight === 0) return
    const asked = ++this.#asked
    const start = this.#first
    const end = Math.min(this.#rows, start + this.#visible)
    const columns = await this.#read(start, end)
    if (asked !== this.#asked || columns === null) return
    const rows = Array.from({ length: end - start }, (_, i) => {
      const tr = document.createElement('tr')
      tr.setAttribute('aria-rowindex', start + i + 2)
      const number = cell('th', String(start + i))
      number.scope = 'row'
      tr.append(number, ...columns.map((texts, k) => {
        const td = cell('td', texts[i] ?? 'null')
        if (texts[i] === null) td.className = 'missing'
        else if (/int|float|decimal/.test(this.#columns[k].type)) td.className = 'number'
        return td
      }))
      return tr
    })
    this.#table.tBodies[0].replaceChildren(...rows)
  }
}

function cell(tag, text) {
  const element = document.createElement(tag)
  element.textContent = text
  return element
}
