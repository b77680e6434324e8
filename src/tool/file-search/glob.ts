/** Tests paths, written with slashes and relative to where the pattern begins. */
export type PathMatcher = (path: string) => boolean

export function createGlobMatcher(pattern: string, caseSensitive = false): PathMatcher {
  const fitsFile = createFileMatcher(pattern, caseSensitive)
  return (path) => {
    const slash = path.lastIndexOf('/')
    return fitsFile(path.slice(0, Math.max(slash, 0)), path.slice(slash + 1))
  }
}

/**
 * Tests files against a glob: `*` and `?` within a name, `**` over folders, `[…]`, `{a,b}`. Dot files are not special. The
 * time is linear in pattern and path. Folder and name are separate: mostly the name decides, and there may be very many.
 * The pattern is relative to what the first `skippedChars` characters of the folder say.
 */
export function createFileMatcher(
  pattern: string,
  caseSensitive = false,
  skippedChars = 0,
): (folder: string, name: string) => boolean {
  const fold = createCaseFolder(caseSensitive)
  const alternatives = expandPattern(pattern, caseSensitive).map((alternative) =>
    alternative.split('/').map(parseSegment),
  )
  const mayMatch = createNameFilter(pattern, caseSensitive)
  return (fullFolder, name) => {
    if (!mayMatch(name)) return false
    const folder = fullFolder.slice(skippedChars)
    let names: string[] | undefined
    return alternatives.some((steps) => {
      const [first, only] = steps
      // In any folder: only the name counts, and most patterns are like this.
      if (first === WILDCARD && only !== undefined && steps.length === 2)
        return only === WILDCARD || matchesName(only, fold(name))
      return matchTokens(steps, (names ??= fold(folder === '' ? name : `${folder}/${name}`).split('/')), matchesName)
    })
  }
}

/** A quick test that every matching file passes; most names fail it at their ending. */
function createNameFilter(pattern: string, caseSensitive = false): (name: string) => boolean {
  const fold = createCaseFolder(caseSensitive)
  const tails = expandPattern(pattern, caseSensitive).map((alternative) => /[^*?[\]\\/]*$/.exec(alternative)?.[0] ?? '')
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

function createCaseFolder(caseSensitive: boolean): (text: string) => string {
  return (text) => (caseSensitive ? text : text.toLowerCase())
}

function expandPattern(pattern: string, caseSensitive: boolean): string[] {
  return expandBraces(createCaseFolder(caseSensitive)(pattern.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')))
}

/** Like a glob, but a pattern without a slash matches the name alone, in any folder. */
export function createGlobNameMatcher(pattern: string, caseSensitive = false): PathMatcher {
  const relativePattern = pattern.startsWith('/') ? pattern.slice(1) : pattern
  return createGlobMatcher(pattern.includes('/') ? relativePattern : `**/${relativePattern}`, caseSensitive)
}

export function isGlob(text: string): boolean {
  return /[*?[\]{}]/.test(text)
}

/** The folders before the first wildcard: nothing outside of them can match. */
export function getGlobBaseFolder(pattern: string): string {
  const steps = pattern.replace(/^(?:\.\/)+/, '').split('/')
  const wild = steps.findIndex((step) => isGlob(step) || step.includes('\\'))
  return steps.slice(0, wild < 0 ? -1 : wild).join('/')
}

export function findGlobProblem(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'The pattern is empty.'
  if (pattern.length > 1000) return 'The pattern is too long.'
  if (pattern.split('/').includes('..')) return `The pattern must not contain "..": ${pattern}`
  return undefined
}

/** Any number of items, or a test of one. */
type GlobToken<T> = typeof WILDCARD | T
const WILDCARD = Symbol('any')

type CharacterTest =
  | string
  | { readonly isNegated: boolean; readonly ranges: readonly (readonly [from: string, to: string])[] }

/** After a mismatch the last wildcard takes one more item; no further backtracking is needed. */
function matchTokens<T, N>(
  pattern: readonly GlobToken<T>[] | typeof WILDCARD,
  items: ArrayLike<N>,
  test: (token: T, one: N) => boolean,
): boolean {
  if (pattern === WILDCARD) return true
  let [at, position, last, taken] = [0, 0, -1, 0]
  while (position < items.length) {
    const token = pattern[at]
    if (token === WILDCARD) {
      last = at++
      taken = position
    } else if (token !== undefined && test(token, items[position] as N)) {
      at++
      position++
    } else if (last >= 0) {
      at = last + 1
      position = ++taken
    } else return false
  }
  while (pattern[at] === WILDCARD) at++
  return at === pattern.length
}

/** `**` is any number of folders; other segments are tests of characters. */
function parseSegment(step: string): GlobToken<readonly GlobToken<CharacterTest>[]> {
  if (/^\*{2,}$/.test(step)) return WILDCARD
  const tokens: GlobToken<CharacterTest>[] = []
  for (let at = 0; at < step.length; at++) {
    const character = step[at] ?? ''
    const end = character === '[' ? step.indexOf(']', at + 2) : -1
    if (character === '*') tokens.push(WILDCARD)
    else if (character === '?') tokens.push({ isNegated: true, ranges: [] })
    else if (end > 0) {
      tokens.push(parseCharacterSet(step.slice(at + 1, end)))
      at = end
    } else tokens.push(character === '\\' && at + 1 < step.length ? (step[++at] ?? '') : character)
  }
  return tokens
}

function parseCharacterSet(inside: string): CharacterTest {
  const not = /^[!^]/.test(inside)
  const body = not ? inside.slice(1) : inside
  const ranges = [...body.matchAll(/(.)-(.)|(.)/gsu)]
  return { isNegated: not, ranges: ranges.map(([, from, to, one]) => [from ?? one ?? '', to ?? one ?? '']) }
}

function matchesName(step: readonly GlobToken<CharacterTest>[], name: string): boolean {
  return (step.length === 1 && step[0] === WILDCARD) || matchTokens(step, name, matchesCharacter)
}

function matchesCharacter(character: CharacterTest, one: string): boolean {
  if (typeof character === 'string') return character === one
  return character.ranges.some(([from, to]) => from <= one && one <= to) !== character.isNegated
}

function expandBraces(pattern: string): string[] {
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
    if (next.length > MAX_ALTERNATIVES) return found
    found = next
  }
}

const MAX_ALTERNATIVES = 500
