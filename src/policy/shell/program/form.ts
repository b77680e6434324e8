import type { Disk } from '../../disk.ts'
import type { Walk } from '../../path/below.ts'

/**
 * The options of a program that neither write nor run anything, and what its other words are. Each option is one word:
 * `-a` stands alone, `-n=` has a value, `--color?` may have one (after `=`, or in the same word), `--from@` has a path that
 * is read, `-g%` a pattern of file names, `-e!` a script, `-#` is a number. What is not listed is not harmless.
 */
export interface Form {
  readonly options: string
  /** What the other words are: paths that are read, plain text, first a pattern or a script and then paths, or not allowed. */
  readonly operands: 'paths' | 'text' | 'pattern' | 'script' | 'none'
  /** Options that take the place of the pattern or the script. */
  readonly instead?: readonly string[]
  /** At most so many other words. */
  readonly most?: number
  /** What each of the other words must look like. */
  readonly each?: RegExp
  /** One of these options must be there. */
  readonly needs?: readonly string[]
  /** Says why a script in the program's own language is not harmless. */
  readonly script?: (text: string) => string | undefined
  /** The files below folders that it would read. */
  readonly walk?: (given: GivenWords) => Walk | undefined
  /** Judges the words of a program whose options are none of the usual kind. */
  readonly words?: (words: readonly string[], path: (word: string) => string | undefined) => string | undefined
  /** Says why the program may do more in this folder than its words say. */
  readonly here?: (folder: string, disk: Disk) => string | undefined
}

/** The words of a command, told apart. */
export interface GivenWords {
  readonly options: readonly Given[]
  /** The words that are no options. */
  readonly operands: readonly string[]
  /** Those behind `--`; absent if there is no `--`. */
  readonly after?: readonly string[]
  /** Those of them that are paths. */
  readonly paths: readonly string[]
}

/** An option as it was given. */
export interface Given {
  readonly name: string
  readonly kind: Kind
  readonly value?: string
}

/** Was one of these options given? */
export function hasOption({ options }: Pick<GivenWords, 'options'>, ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name))
}

/** Says why words are not harmless to a program; nothing if they are. `path` judges a path that would be read. */
export function checkForm(
  form: Form,
  words: readonly string[],
  path: (word: string) => string | undefined,
): string | undefined {
  const read = readForm(form, words, path)
  return typeof read === 'string' ? read : undefined
}

/** Tells the words of a command apart, or says why they are not harmless. */
export function readForm(
  form: Form,
  words: readonly string[],
  path: (word: string) => string | undefined,
): GivenWords | string {
  const odd = form.words?.(words, path)
  if (odd !== undefined) return odd
  if (form.words) return { options: [], operands: words, paths: [] }
  const known = optionsOf(form.options)
  const options: Given[] = []
  const operands: string[] = []
  let after: readonly string[] | undefined
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') {
      after = words.slice(at + 1)
      operands.push(...after)
      break
    }
    if (!word.startsWith('-') || word === '-') {
      operands.push(word)
      continue
    }
    const read = readOption(word, known)
    if (typeof read === 'string') return read
    for (const given of read) {
      const { name, kind } = given
      if (kind === '' || kind === '?') {
        options.push(given)
        continue
      }
      const value = given.value ?? words[++at]
      // Were the option to stand alone after all, the next one must not have been taken for its value.
      if (value === undefined || (given.value === undefined && /^-(?!\d*$)/.test(value)))
        return `${name} has no clear value`
      const problem = valueDoubt(kind, value, form, path)
      if (problem !== undefined) return problem
      options.push({ name, kind, value })
    }
  }
  const paths = pathsIn(form, operands, options)
  return operandDoubt(form, operands, options, path) ?? { options, operands, ...(after && { after }), paths }
}

function valueDoubt(
  kind: Kind,
  value: string,
  form: Form,
  path: (word: string) => string | undefined,
): string | undefined {
  if (kind === '@') return path(value)
  if (kind === '%') return patternDoubt(value, path)
  return kind === '!' ? form.script?.(value) : undefined
}

function operandDoubt(
  form: Form,
  operands: readonly string[],
  options: readonly Given[],
  path: (word: string) => string | undefined,
): string | undefined {
  const { most = Infinity, each, needs, script } = form
  const [first] = operands
  const excess = form.operands === 'none' ? first : operands[most]
  const odd = excess ?? operands.find((word) => each && !each.test(word))
  if (odd !== undefined) return `“${odd}” is not known to be harmless`
  if (needs && !hasOption({ options }, ...needs)) return `it is known to be harmless only with ${needs.join(' or ')}`
  const isScript = form.operands === 'script' && first !== undefined && !isReplaced(form, options)
  return (
    (isScript ? script?.(first) : undefined) ??
    pathsIn(form, operands, options)
      .map(path)
      .find((problem) => problem !== undefined)
  )
}

function isReplaced({ instead = [] }: Form, options: readonly Given[]): boolean {
  return hasOption({ options }, ...instead)
}

function pathsIn(form: Form, operands: readonly string[], options: readonly Given[]): string[] {
  if (form.operands === 'text' || form.operands === 'none') return []
  const isFirstOther = form.operands !== 'paths' && !isReplaced(form, options)
  return (isFirstOther ? operands.slice(1) : operands).filter((one) => one !== '-')
}

/** A pattern that leaves files out is harmless; one that brings some in, only if it names no secrets: `*.ts`, but not `*`. */
function patternDoubt(pattern: string, path: (word: string) => string | undefined): string | undefined {
  if (pattern.startsWith('!')) return undefined
  const [, folders = '', name = ''] = /^((?:[^*/]+\/|\*\*\/)*)((?:\*\.)?[^*/]+)$/.exec(pattern) ?? []
  if (name === '' || /[?[{]/.test(pattern)) return `the pattern ${pattern} is not known to be harmless`
  const plain = folders.replaceAll('**/', '')
  return path(plain + name.replace('*', '')) ?? path(plain + name.replace('*', 'x'))
}

type Kind = '' | '=' | '?' | '@' | '%' | '!'

const read = new Map<string, ReadonlyMap<string, Kind>>()

function optionsOf(text: string): ReadonlyMap<string, Kind> {
  const known = read.get(text) ?? new Map(text.split(/\s+/).map((word) => [word.replace(/[=?@%!]$/, ''), kindOf(word)]))
  read.set(text, known)
  return known
}

function kindOf(word: string): Kind {
  const sign = word.at(-1)
  return sign === '=' || sign === '?' || sign === '@' || sign === '%' || sign === '!' ? sign : ''
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
