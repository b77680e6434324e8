import makeIgnore from 'ignore'

/** The rules of one ignore file. */
export interface IgnoreFile {
  /** What they say about an entry of a folder that is itself not ignored; a path with a slash at its end is a folder. */
  test(path: string): { readonly ignored: boolean; readonly unignored: boolean }
  /** Could they say anything about an entry of this name? */
  mayMean(name: string): boolean
}

/** Reads the text of a .gitignore file, or of one like it. */
export function readIgnoreFile(text: string): IgnoreFile {
  const rules = makeIgnore({ allowRelativePaths: true }).add(text)
  return { test: (path) => rules.test(path), mayMean: roughTest(text) }
}

/**
 * A quick test that lets through all names that a rule could mean, and few others: most fit no rule, and to ask the rules
 * themselves takes long. It looks at what stands for itself at the end of a rule.
 */
function roughTest(text: string): (name: string) => boolean {
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
    const given = name.toLowerCase()
    return names.has(given) || ends.some((end) => given.endsWith(end))
  }
}
