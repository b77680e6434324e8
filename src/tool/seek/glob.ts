/** Tests paths, written with slashes and relative to where the pattern begins. */
export type Matcher = (path: string) => boolean

/**
 * Makes a test of a glob: `*` and `?` within a name, `**` over folders, `[…]`, `{a,b}`. Names that begin with a dot are
 * names like any other.
 */
export function globMatcher(pattern: string, caseSensitive = false): Matcher {
  const source = translate(pattern.replace(/^(?:\.\/)+/, '').replace(/\/+$/, ''))
  const test = new RegExp(`^${source}$`, caseSensitive ? 'su' : 'siu')
  return (path) => test.test(path)
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

function translate(pattern: string): string {
  let source = ''
  let depth = 0
  for (let at = 0; at < pattern.length; at++) {
    const sign = pattern[at] ?? ''
    if (sign === '*') {
      let stars = 1
      while (pattern[at + 1] === '*') {
        stars++
        at++
      }
      const free = stars > 1 && (source === '' || /[/(|]$/.test(source))
      if (free && pattern[at + 1] === '/') {
        at++
        // Twice the same freedom is only twice the work.
        if (!source.endsWith(FOLDERS)) source += FOLDERS
      } else source += free && atEnd(pattern, at) ? '.*' : '[^/]*'
    } else if (sign === '?') source += '[^/]'
    else if (sign === '[') {
      const end = pattern.indexOf(']', at + 2)
      if (end < 0) source += '\\['
      else {
        source += characters(pattern.slice(at + 1, end))
        at = end
      }
    } else if (sign === '{' && pattern.indexOf('}', at) > 0) {
      depth++
      source += '(?:'
    } else if (sign === '}' && depth > 0) {
      depth--
      source += ')'
    } else if (sign === ',' && depth > 0) source += '|'
    else if (sign === '\\' && at + 1 < pattern.length) source += literal(pattern[++at] ?? '')
    else source += literal(sign)
  }
  return source + ')'.repeat(depth)
}

const FOLDERS = '(?:[^/]+/)*'

function atEnd(pattern: string, at: number): boolean {
  const next = pattern[at + 1]
  return next === undefined || next === '}' || next === ','
}

function characters(inside: string): string {
  const negated = /^[!^]/.test(inside)
  const body = (negated ? inside.slice(1) : inside).replace(/[\\\][^&~|()/{}]/g, '\\$&')
  return `[${negated ? '^/' : ''}${body}]`
}

function literal(sign: string): string {
  return sign.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
