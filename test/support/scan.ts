/** What can stand before a `/` that begins a regular expression; after anything else it divides. */
const beforeRegex =
  /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|await|yield))$/

/**
 * Blanks comments, regular expressions and the insides of strings, so that a search finds only code.
 * Every character keeps its place: an offset in the result is an offset in the source. Quotes stay, and so does the
 * code inside `${}`.
 */
export function blank(source: string): string {
  let out = ''
  let at = 0
  /** For each open `${`, how many plain braces are open inside it. */
  const templates: number[] = []

  const keep = (count: number): void => {
    out += source.slice(at, at + count)
    at += count
  }
  const hide = (end: number): void => {
    out += source.slice(at, end).replace(/[^\n]/g, ' ')
    at = end
  }
  /** The rest of a template literal, up to its end or its next `${`. */
  const template = (): void => {
    let end = at
    while (end < source.length && source[end] !== '`' && !source.startsWith('${', end)) {
      end += source[end] === '\\' ? 2 : 1
    }
    hide(Math.min(end, source.length))
    if (source[at] === '`') return keep(1)
    keep(2)
    templates.push(0)
  }

  while (at < source.length) {
    const char = source[at] ?? ''
    const inner = templates.length - 1
    if (source.startsWith('//', at)) {
      hide(endOf(source, '\n', at, 0))
    } else if (source.startsWith('/*', at)) {
      hide(endOf(source, '*/', at + 2, 2))
    } else if (char === "'" || char === '"') {
      keep(1)
      hide(closing(source, at, char))
      keep(1)
    } else if (char === '`') {
      keep(1)
      template()
    } else if (char === '/' && beforeRegex.test(out.trimEnd().slice(-10))) {
      keep(1)
      hide(closing(source, at, '/'))
      keep(1)
    } else if (char === '}' && templates[inner] === 0) {
      templates.pop()
      keep(1)
      template()
    } else {
      if (inner >= 0 && char === '{') templates[inner] = (templates[inner] ?? 0) + 1
      if (inner >= 0 && char === '}') templates[inner] = (templates[inner] ?? 0) - 1
      keep(1)
    }
  }
  return out
}

/** Where the first `mark` from `from` on ends, counting `width` of its characters; the end of the source without one. */
function endOf(source: string, mark: string, from: number, width: number): number {
  const found = source.indexOf(mark, from)
  return found < 0 ? source.length : found + width
}

/** Where a string or a regular expression that began before `from` has its closing mark, at the latest at the line's end. */
function closing(source: string, from: number, mark: string): number {
  let inClass = false
  let at = from
  for (; at < source.length && source[at] !== '\n'; at += source[at] === '\\' ? 2 : 1) {
    if (mark === '/' && source[at] === '[') inClass = true
    else if (mark === '/' && source[at] === ']') inClass = false
    else if (source[at] === mark && !inClass) return at
  }
  return Math.min(at, source.length)
}
