import makeIgnore from 'ignore'
import { createGlobMatcher } from './glob.ts'

export type IgnoreFile = ReturnType<typeof parseIgnoreFile>

export function parseIgnoreFile(text: string) {
  const lines = text.split(/\r?\n/)
  const slow = lines.filter((line) => (line.match(/\*+/g)?.length ?? 0) > MAX_STARS)
  const rules = makeIgnore({ allowRelativePaths: true }).add(lines.filter((line) => !slow.includes(line)))
  const others = slow.map(slowRule)
  return {
    /** The folder of the entry must not be ignored itself; a trailing slash means a folder. */
    test(path: string): { readonly ignored: boolean; readonly unignored: boolean } {
      const { ignored, unignored } = rules.test(path)
      const last = others.findLast(({ fits }) => fits(path))
      if (!last || (unignored && !last.isNegated)) return { ignored, unignored }
      return { ignored: !last.isNegated, unignored: last.isNegated }
    },
    mayMatch: createQuickFilter(text),
  }
}

/** A regular expression with many stars may take exponential time: such lines use our own matcher. */
const MAX_STARS = 3

function slowRule(line: string): { readonly isNegated: boolean; readonly fits: (path: string) => boolean } {
  const pattern = line.trim().replace(/^!/, '').replace(/\/+$/, '')
  const isAnchored = pattern.includes('/')
  const isOfFolders = line.trim().endsWith('/')
  const plain = pattern.replace(/^\//, '').replace(/[{}]/g, '[$&]')
  const matches = createGlobMatcher(isAnchored ? plain : `**/${plain}`)
  return {
    isNegated: line.trim().startsWith('!'),
    fits: (path) => (!isOfFolders || path.endsWith('/')) && matches(path.replace(/\/$/, '')),
  }
}

/** Passes every name that a rule can match, and few others: it only compares the literal end of each rule. */
function createQuickFilter(text: string): (name: string) => boolean {
  const names = new Set<string>()
  const ends: string[] = []
  for (const line of text.split(/\r?\n/)) {
    const rule = line.trim().replace(/^!/, '').replace(/\/+$/, '').toLowerCase()
    if (rule === '' || rule.startsWith('#')) continue
    const last = rule.slice(rule.lastIndexOf('/') + 1)
    // What follows the last special character; a rule that ends with one can match anything.
    const end = rule.includes('\\') ? '' : (/[^*?\]]*$/.exec(last)?.[0] ?? '')
    if (end === '') return () => true
    if (end === last) names.add(last)
    else ends.push(end)
  }
  return (name) => {
    const lowerName = name.toLowerCase()
    return names.has(lowerName) || ends.some((end) => lowerName.endsWith(end))
  }
}
