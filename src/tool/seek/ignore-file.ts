import makeIgnore from 'ignore'

/** The rules of one ignore file. */
export interface IgnoreFile {
  /** What they say about an entry of a folder that is itself not ignored; a path with a slash at its end is a folder. */
  test(path: string): { readonly ignored: boolean; readonly unignored: boolean }
}

/** Reads the text of a .gitignore file, or of one like it. */
export function readIgnoreFile(text: string): IgnoreFile {
  const rules = makeIgnore({ allowRelativePaths: true }).add(text)
  const mayFit = roughTest(text)
  return { test: (path) => (mayFit(path) ? rules.test(path) : SILENT) }
}

const SILENT = { ignored: false, unignored: false }

/**
 * A quick test that lets through all that a rule could mean, and little else: most names fit no rule, and to ask the rules
 * themselves takes long. It looks at what stands for itself at the end of a rule.
 */
function roughTest(text: string): (path: string) => boolean {
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
  return (path) => {
    const given = (path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase()
    return names.has(given.slice(given.lastIndexOf('/') + 1)) || ends.some((end) => given.endsWith(end))
  }
}
