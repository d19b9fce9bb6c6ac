/** The text of each kind of error; `e` has the numbers. */
const TEXT = {
  Truncated: (e) => `${e.field} at offset ${e.offset}: truncated` + (e.need ? `, ${e.need} bytes needed` : ''),
  Trailing: (e) => `${e.field} at offset ${e.offset}: ${e.need} bytes too many`,
  Invalid: (e) => `${e.field} at offset ${e.offset}: invalid value ${e.need}`,
  Unsupported: (e) => `${e.field} at offset ${e.offset}: ${e.id ?? e.need} is not supported`,
  WrongType: (e) => `${e.field} at offset ${e.offset}: does not fit the requested type`,
  Checksum: (e) => `${e.field} at offset ${e.offset}: checksum differs`,
  Overflow: (e) => `${e.field} at offset ${e.offset}: number out of range`,
  Limit: (e) => `${e.field} at offset ${e.offset}: limit of ${e.need} reached`,
  NoRoom: (e) => (e.need ? `${e.field}: ${e.need} bytes of memory are needed` : `${e.field}: more memory is needed`),
  OutOfRange: (e) => `${e.field} ${e.offset} does not exist, there are ${e.need}`,
  Utf8: (e) => `${e.field} at offset ${e.offset}: not UTF-8`,
  Lossy: (e) => `${e.field}: the value of row ${e.offset} cannot be stored`,
  Misuse: (e) =>
    e.fits ? `a Filo vector does not store its element type: pass the option type (fits: ${e.fits.join(', ') || 'none'})` : `${e.field}: invalid call or argument`,
  Source: (e) => e.field,
}

/** An error in a file, with its position. */
export class PilasterError extends Error {
  /**
   * @param {{kind: string, field: string, offset: number, need: number, id?: string, fits?: string[]}} facts
   * @param {ErrorOptions} [options]
   */
  constructor(facts, options) {
    super((TEXT[facts.kind] ?? TEXT.Source)(facts), options)
    this.name = 'PilasterError'
    this.kind = facts.kind
    this.field = facts.field
    this.offset = facts.offset
    this.need = facts.need
    if (facts.id !== undefined) this.id = facts.id
    if (facts.fits !== undefined) this.fits = facts.fits
  }
}

/** Creates an error of the source itself, e.g. a server that refuses, or an object without a length. */
export function sourceError(text, cause) {
  return new PilasterError({ kind: 'Source', field: text, offset: 0, need: 0 }, cause ? { cause } : undefined)
}
