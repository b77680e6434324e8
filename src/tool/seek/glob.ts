/** Tests paths, written with slashes and relative to where the pattern begins. */
export type Matcher = (path: string) => boolean

/** Makes a test of a glob, for paths. */
export function globMatcher(pattern: string, caseSensitive = false): Matcher {
  const fitsFile = fileMatcher(pattern, caseSensitive)
  return (path) => {
    const slash = path.lastIndexOf('/')
    return fitsFile(path.slice(0, Math.max(slash, 0)), path.slice(slash + 1))
  }
}

/**
 * Makes a test of a glob: `*` and `?` within a name, `**` over folders, `[…]`, `{a,b}`. Names that begin with a dot are
 * names like any other. The time it takes grows with the length of pattern and path only, whatever they are. It takes the
 * folder and the name of a file apart: mostly the name decides, and there may be very many of them.
 */
export function fileMatcher(pattern: string, caseSensitive = false): (folder: string, name: string) => boolean {
  const fold = foldOf(caseSensitive)
  const ways = waysOf(pattern, caseSensitive).map((way) => way.split('/').map(stepOf))
  const mayMatch = nameTest(pattern, caseSensitive)
  return (folder, name) => {
    if (!mayMatch(name)) return false
    let names: string[] | undefined
    return ways.some((steps) => {
      const [first, only] = steps
      // In whatever folder: then only the name counts, and most patterns are like this.
      if (first === ANY && only !== undefined && steps.length === 2) return only === ANY || fitsName(only, fold(name))
      return matches(steps, (names ??= fold(folder === '' ? name : `${folder}/${name}`).split('/')), fitsName)
    })
  }
}

/** A quick test that all files must pass whose path fits: most fail at the end of their names already. */
function nameTest(pattern: string, caseSensitive = false): (name: string) => boolean {
  const fold = foldOf(caseSensitive)
  const tails = waysOf(pattern, caseSensitive).map((way) => /[^*?[\]\\/]*$/.exec(way)?.[0] ?? '')
  if (tails.includes('')) return () => true
  const last = new Set(
    tails.flatMap((tail) => [tail.charCodeAt(tail.length - 1), tail.toUpperCase().charCodeAt(tail.length - 1)]),
  )
  return (name) => {
    const code = name.charCodeAt(name.length - 1)
    if (code < 128 && !last.has(code)) return false
    return tails.some((tail) => name.endsWith(tail) || fold(name.slice(-tail.length)) === tail)
  }
}

function foldOf(caseSensitive: boolean): (text: string) => string {
  return (text) => (caseSensitive ? text : text.toLowerCase())
}

/** The patterns without braces that a pattern stands for. */
function waysOf(pattern: string, caseSensitive: boolean): string[] {
  return withoutBraces(foldOf(caseSensitive)(pattern.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')))
}

/** Like a glob, but a pattern without a slash means the name alone, in whatever folder it is. */
export function nameMatcher(pattern: string, caseSensitive = false): Matcher {
  const plain = pattern.startsWith('/') ? pattern.slice(1) : pattern
  return globMatcher(pattern.includes('/') ? plain : `**/${plain}`, caseSensitive)
}

/** Has this text a character that makes it a pattern? */
export function isGlob(text: string): boolean {
  return /[*?[\]{}]/.test(text)
}

/** The folders that a pattern begins with before its first wild card: nothing outside of them can match. */
export function fixedFolder(pattern: string): string {
  const steps = pattern.replace(/^(?:\.\/)+/, '').split('/')
  const wild = steps.findIndex((step) => isGlob(step) || step.includes('\\'))
  return steps.slice(0, wild < 0 ? -1 : wild).join('/')
}

/** What is wrong with a pattern, if something is. */
export function globProblem(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'The pattern is empty.'
  if (pattern.length > 1000) return 'The pattern is too long.'
  if (pattern.split('/').includes('..')) return `The pattern must not climb out with "..": ${pattern}`
  return undefined
}

/** Any number of whatever comes, or a test of one of it. */
type Token<T> = typeof ANY | T
const ANY = Symbol('any')

/** A test of one character: itself, or a set of them. */
type Sign = string | { readonly not: boolean; readonly set: readonly (readonly [from: string, to: string])[] }

/** Goes along both lists; after a dead end it lets the last “any” take one more. To go back further is never needed. */
function matches<T, N>(
  pattern: readonly Token<T>[] | typeof ANY,
  given: ArrayLike<N>,
  test: (token: T, one: N) => boolean,
): boolean {
  if (pattern === ANY) return true
  let [at, place, last, taken] = [0, 0, -1, 0]
  while (place < given.length) {
    const token = pattern[at]
    if (token === ANY) {
      last = at++
      taken = place
    } else if (token !== undefined && test(token, given[place] as N)) {
      at++
      place++
    } else if (last >= 0) {
      at = last + 1
      place = ++taken
    } else return false
  }
  while (pattern[at] === ANY) at++
  return at === pattern.length
}

/** A step of the path: `**` is any number of folders, and everything else the signs of one name. */
function stepOf(step: string): Token<readonly Token<Sign>[]> {
  if (/^\*{2,}$/.test(step)) return ANY
  const signs: Token<Sign>[] = []
  for (let at = 0; at < step.length; at++) {
    const sign = step[at] ?? ''
    const end = sign === '[' ? step.indexOf(']', at + 2) : -1
    if (sign === '*') signs.push(ANY)
    else if (sign === '?') signs.push({ not: true, set: [] })
    else if (end > 0) {
      signs.push(setOf(step.slice(at + 1, end)))
      at = end
    } else signs.push(sign === '\\' && at + 1 < step.length ? (step[++at] ?? '') : sign)
  }
  return signs
}

function setOf(inside: string): Sign {
  const not = /^[!^]/.test(inside)
  const body = not ? inside.slice(1) : inside
  const ranges = [...body.matchAll(/(.)-(.)|(.)/gsu)]
  return { not, set: ranges.map(([, from, to, one]) => [from ?? one ?? '', to ?? one ?? '']) }
}

function fitsName(step: readonly Token<Sign>[], name: string): boolean {
  return (step.length === 1 && step[0] === ANY) || matches(step, name, fits)
}

function fits(sign: Sign, one: string): boolean {
  if (typeof sign === 'string') return sign === one
  return sign.set.some(([from, to]) => from <= one && one <= to) !== sign.not
}

/** The patterns that a pattern with `{a,b}` stands for. */
function withoutBraces(pattern: string): string[] {
  let found = [pattern]
  for (;;) {
    const next = found.flatMap((one) => {
      const inner = /\{([^{}]*)\}/.exec(one)
      if (!inner) return [one]
      const [whole, choices = ''] = inner
      return choices
        .split(',')
        .map((choice) => one.slice(0, inner.index) + choice + one.slice(inner.index + whole.length))
    })
    if (next.length === found.length && next.every((one, at) => one === found[at])) return found
    if (next.length > MAX_WAYS) return found
    found = next
  }
}

const MAX_WAYS = 500
