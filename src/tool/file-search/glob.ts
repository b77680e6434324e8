/** Tests paths, written with slashes and relative to where the pattern begins. */
export type PathMatcher = (path: string) => boolean

/** Makes a test of a glob, for paths. */
export function createGlobMatcher(pattern: string, caseSensitive = false): PathMatcher {
  const fitsFile = createFileMatcher(pattern, caseSensitive)
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
export function createFileMatcher(pattern: string, caseSensitive = false): (folder: string, name: string) => boolean {
  const fold = createCaseFolder(caseSensitive)
  const alternatives = expandPattern(pattern, caseSensitive).map((alternative) =>
    alternative.split('/').map(parseSegment),
  )
  const mayMatch = createNameFilter(pattern, caseSensitive)
  return (folder, name) => {
    if (!mayMatch(name)) return false
    let names: string[] | undefined
    return alternatives.some((steps) => {
      const [first, only] = steps
      // In whatever folder: then only the name counts, and most patterns are like this.
      if (first === WILDCARD && only !== undefined && steps.length === 2)
        return only === WILDCARD || matchesName(only, fold(name))
      return matchTokens(steps, (names ??= fold(folder === '' ? name : `${folder}/${name}`).split('/')), matchesName)
    })
  }
}

/** A quick test that all files must pass whose path fits: most fail at the end of their names already. */
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

/** The patterns without braces that a pattern stands for. */
function expandPattern(pattern: string, caseSensitive: boolean): string[] {
  return expandBraces(createCaseFolder(caseSensitive)(pattern.replace(/^(?:\.\/)+/, '').replace(/\/+$/, '')))
}

/** Like a glob, but a pattern without a slash means the name alone, in whatever folder it is. */
export function createNameMatcher(pattern: string, caseSensitive = false): PathMatcher {
  const relativePattern = pattern.startsWith('/') ? pattern.slice(1) : pattern
  return createGlobMatcher(pattern.includes('/') ? relativePattern : `**/${relativePattern}`, caseSensitive)
}

/** Has this text a character that makes it a pattern? */
export function isGlob(text: string): boolean {
  return /[*?[\]{}]/.test(text)
}

/** The folders that a pattern begins with before its first wild card: nothing outside of them can match. */
export function getFixedFolder(pattern: string): string {
  const steps = pattern.replace(/^(?:\.\/)+/, '').split('/')
  const wild = steps.findIndex((step) => isGlob(step) || step.includes('\\'))
  return steps.slice(0, wild < 0 ? -1 : wild).join('/')
}

/** What is wrong with a pattern, if something is. */
export function findGlobProblem(pattern: string): string | undefined {
  if (pattern.trim() === '') return 'The pattern is empty.'
  if (pattern.length > 1000) return 'The pattern is too long.'
  if (pattern.split('/').includes('..')) return `The pattern must not climb out with "..": ${pattern}`
  return undefined
}

/** Any number of whatever comes, or a test of one of it. */
type GlobToken<T> = typeof WILDCARD | T
const WILDCARD = Symbol('any')

/** A test of one character: itself, or a set of them. */
type CharacterTest =
  | string
  | { readonly isNegated: boolean; readonly ranges: readonly (readonly [from: string, to: string])[] }

/** Goes along both lists; after a dead end it lets the last “any” take one more. To go back further is never needed. */
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

/** A step of the path: `**` is any number of folders, and everything else the signs of one name. */
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

/** The patterns that a pattern with `{a,b}` stands for. */
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
