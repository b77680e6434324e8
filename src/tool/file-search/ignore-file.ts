import makeIgnore from 'ignore'
import { createGlobMatcher } from './glob.ts'

/** The rules of one ignore file. */
export interface IgnoreFile {
  /** What they say about an entry of a folder that is itself not ignored; a path with a slash at its end is a folder. */
  test(path: string): { readonly ignored: boolean; readonly unignored: boolean }
  /** Could they say anything about an entry of this name? */
  mayMatch(name: string): boolean
}

/** Reads the text of a .gitignore file, or of one like it. */
export function parseIgnoreFile(text: string): IgnoreFile {
  const lines = text.split(/\r?\n/)
  const slow = lines.filter((line) => (line.match(/\*+/g)?.length ?? 0) > MAX_STARS)
  const rules = makeIgnore({ allowRelativePaths: true }).add(slow.length === 0 ? text : without(lines, slow))
  const others = slow.map(slowRule)
  return {
    test(path) {
      const { ignored, unignored } = rules.test(path)
      const last = others.findLast(({ fits }) => fits(path))
      if (!last || (unignored && !last.isNegated)) return { ignored, unignored }
      return { ignored: !last.isNegated, unignored: last.isNegated }
    },
    mayMatch: createQuickFilter(text),
  }
}

/** An expression with many stars may take for ever, and whoever made the project wrote it: such a line is followed step by step. */
const MAX_STARS = 3

function without(lines: readonly string[], some: readonly string[]): string {
  return lines.filter((line) => !some.includes(line)).join('\n')
}

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

/**
 * A quick test that lets through all names that a rule could mean, and few others: most fit no rule, and to ask the rules
 * themselves takes long. It looks at what stands for itself at the end of a rule.
 */
function createQuickFilter(text: string): (name: string) => boolean {
  const names = new Set<string>()
  const ends: string[] = []
  for (const line of text.split(/\r?\n/)) {
    const rule = line.trim().replace(/^!/, '').replace(/\/+$/, '').toLowerCase()
    if (rule === '' || rule.startsWith('#')) continue
    const last = rule.slice(rule.lastIndexOf('/') + 1)
    // What follows the last sign with a meaning; a rule that ends with one could fit anything.
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
