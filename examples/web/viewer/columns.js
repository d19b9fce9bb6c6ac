// A card for each column: its type, minimum and maximum, missing values, plot. Only visible cards are computed.
import { plot } from './plot.js'

/** Maximum number of rows of a column that is read without a request of the user. */
const UNASKED = 2_000_000

export class Columns {
  #list = document.querySelector('#columns')
  #read = null
  #rows = 0
  #x = null
  #generation = 0
  #watch = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue
      this.#watch.unobserve(target)
      target.dispatchEvent(new Event('seen'))
    }
  }, { rootMargin: '200px' })

  /** Shows `columns`, pairs of number and description. `read(k)` returns a promise of the profile of column `k` over column `x`. */
  set(columns, rows, x, read) {
    this.#generation++
    this.#watch.disconnect()
    this.#read = read
    this.#rows = rows
    this.#x = x
    this.#list.replaceChildren(...columns.map(([k, column]) => this.#card(k, column)))
  }

  #card(k, column) {
    const card = document.createElement('li')
    const name = document.createElement('h4')
    name.textContent = column.name || 'value'
    const type = document.createElement('p')
    type.className = 'type'
    type.textContent = [column.type, column.unit, column.stored].filter(Boolean).join(', ') + (column.nullable ? ', nullable' : '')
    card.append(name, type)
    if (this.#rows > UNASKED) {
      const button = Object.assign(document.createElement('button'), { type: 'button', textContent: `Read ${this.#rows.toLocaleString()} rows` })
      button.addEventListener('click', () => {
        button.remove()
        this.#fill(card, k, column)
      })
      card.append(button)
    } else {
      card.addEventListener('seen', () => this.#fill(card, k, column), { once: true })
      this.#watch.observe(card)
    }
    return card
  }

  async #fill(card, k, column) {
    const generation = this.#generation
    const facts = document.createElement('dl')
    card.append(facts)
    card.setAttribute('aria-busy', 'true')
    const profile = await this.#read(k, ({ done, of }) => {
      if (of > 0) facts.textContent = `${Math.floor((100 * done) / of)} %`
    }).catch((error) => error)
    if (generation !== this.#generation) return
    card.removeAttribute('aria-busy')
    if (profile instanceof Error) {
      facts.textContent = profile.message
      return
    }
    const rows = [['nulls', profile.nulls.toLocaleString()]]
    if (profile.least !== undefined) rows.unshift(['min', profile.least], ['max', profile.greatest])
    facts.replaceChildren(...rows.flatMap(([dt, dd]) => [
      Object.assign(document.createElement('dt'), { textContent: dt }),
      Object.assign(document.createElement('dd'), { textContent: dd }),
    ]))
    if (profile.bins) card.append(plot(column, this.#x, profile))
  }
}
