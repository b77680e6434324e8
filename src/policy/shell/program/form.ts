/**
 * The options of a program that neither write nor run anything, and what its other words are. Each option is one word:
 * `-a` stands alone, `-n=` has a value, `--color?` may have one (after `=`, or in the same word), `--from@` has a path that
 * is read, `-g%` a pattern of file names, `-#` is a number. What is not listed is not harmless.
 */
export interface Form {
  readonly options: string
  /** What the other words are: paths that are read, plain text, first a pattern and then paths, or not allowed. */
  readonly operands: 'paths' | 'text' | 'pattern' | 'none'
  /** Options that take the place of the pattern. */
  readonly instead?: readonly string[]
  /** At most so many other words. */
  readonly most?: number
}

/** Says why words are not harmless to a program; nothing if they are. `path` judges a path that would be read. */
export function checkForm(
  form: Form,
  words: readonly string[],
  path: (word: string) => string | undefined,
): string | undefined {
  const known = optionsOf(form.options)
  const operands: string[] = []
  let hasPattern = form.operands !== 'pattern'
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') {
      operands.push(...words.slice(at + 1))
      break
    }
    if (!word.startsWith('-') || word === '-') {
      operands.push(word)
      continue
    }
    const read = readOption(word, known)
    if (typeof read === 'string') return read
    for (const { name, kind, value } of read) {
      if (form.instead?.includes(name)) hasPattern = true
      if (kind === '' || kind === '?') continue
      const given = value ?? words[++at]
      // Were the option to stand alone after all, the next one must not have been taken for its value.
      if (given === undefined || (value === undefined && /^-(?!\d*$)/.test(given))) return `${name} has no clear value`
      const problem = kind === '@' ? path(given) : kind === '%' ? patternDoubt(given, path) : undefined
      if (problem !== undefined) return problem
    }
  }
  const paths = form.operands === 'text' ? [] : hasPattern ? operands : operands.slice(1)
  if (form.operands === 'none' && operands.length > 0) return `“${operands[0]}” is not known to be harmless`
  if (form.most !== undefined && operands.length > form.most)
    return `“${operands[form.most]}” is not known to be harmless`
  return paths
    .filter((one) => one !== '-')
    .map(path)
    .find((problem) => problem !== undefined)
}

/** A pattern that leaves files out is harmless; one that brings some in, only if it names no secrets: `*.ts`, but not `*`. */
function patternDoubt(pattern: string, path: (word: string) => string | undefined): string | undefined {
  if (pattern.startsWith('!')) return undefined
  const [, folders = '', name = ''] = /^((?:[^*/]+\/|\*\*\/)*)((?:\*\.)?[^*/]+)$/.exec(pattern) ?? []
  if (name === '' || /[?[{]/.test(pattern)) return `the pattern ${pattern} is not known to be harmless`
  const plain = folders.replaceAll('**/', '')
  return path(plain + name.replace('*', '')) ?? path(plain + name.replace('*', 'x'))
}

type Kind = '' | '=' | '?' | '@' | '%'

interface Given {
  readonly name: string
  readonly kind: Kind
  readonly value?: string
}

const read = new Map<string, ReadonlyMap<string, Kind>>()

function optionsOf(text: string): ReadonlyMap<string, Kind> {
  const known = read.get(text) ?? new Map(text.split(/\s+/).map((word) => [word.replace(/[=?@%]$/, ''), kindOf(word)]))
  read.set(text, known)
  return known
}

function kindOf(word: string): Kind {
  const sign = word.at(-1)
  return sign === '=' || sign === '?' || sign === '@' || sign === '%' ? sign : ''
}

/** Reads one word of options: `--name`, `--name=value`, or letters such as `-la` and `-n5`. */
function readOption(word: string, known: ReadonlyMap<string, Kind>): readonly Given[] | string {
  const unknown = `the option ${word} is not known to be harmless`
  if (word.startsWith('--')) {
    const [name = '', value] = word.split(/=([^]*)/)
    const kind = known.get(name)
    if (kind === undefined || (kind === '' && value !== undefined)) return unknown
    return [{ name, kind, ...(value !== undefined && { value }) }]
  }
  if (known.has('-#') && /^-\d+$/.test(word)) return []
  const found: Given[] = []
  for (let at = 1; at < word.length; at++) {
    const name = `-${word[at]}`
    const kind = known.get(name)
    if (kind === undefined) return unknown
    if (kind === '') {
      found.push({ name, kind })
      continue
    }
    const value = word.slice(at + 1)
    return [...found, { name, kind, ...((value !== '' || kind === '?') && { value }) }]
  }
  return found
}
