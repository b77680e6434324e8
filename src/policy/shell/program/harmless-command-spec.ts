import type { DiskView } from '../../disk-view.ts'
import type { FolderWalk } from '../../path/find-secrets.ts'
import { defined } from '../../../model/defined.ts'

/**
 * The options of a program that neither write nor run anything, and the kind of its operands. Each option is one word:
 * `-a` is a flag, `-n=` has a value, `--color?` may have one (in the same word), `--from@` has a path that is read,
 * `-g%` a pattern of file names, `-e!` a script, `-#` is a number. Anything else is not harmless.
 */
export interface HarmlessCommandSpec {
  readonly options: string
  /** For `pattern` and `script`, the operands after the first are paths. */
  readonly operands: 'paths' | 'text' | 'pattern' | 'script' | 'none'
  /** Options that replace the pattern or the script. */
  readonly replacesFirstOperand?: readonly string[]
  readonly maxOperands?: number
  /** A word that begins with `@` is a file with any further arguments. */
  readonly expandsArgumentFiles?: true
  readonly operandPattern?: RegExp
  /** Returns why a script in the program's own language is not harmless. */
  readonly findScriptRisk?: (text: string) => string | undefined
  /** The folders that it would read. */
  readonly walk?: (parsedOption: ParsedArguments) => FolderWalk | undefined
  /** Checks the words of a program with unusual syntax. */
  readonly findWordsRisk?: (words: readonly string[], findPathRisk: FindPathRisk) => string | undefined
  /** Returns why the program may do more in this folder than its words say. */
  readonly findFolderRisk?: (folder: string, disk: DiskView) => string | undefined
}

/** Returns why a path must not be read. */
export type FindPathRisk = (word: string) => string | undefined

export interface ParsedArguments {
  readonly options: readonly ParsedOption[]
  readonly operands: readonly string[]
  /** The operands after `--`; absent without `--`. */
  readonly afterDoubleDash?: readonly string[]
  /** The operands that are paths. */
  readonly paths: readonly string[]
}

interface ParsedOption {
  readonly name: string
  readonly kind: OptionKind
  readonly value?: string
}

export function hasOption({ options }: Pick<ParsedArguments, 'options'>, ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name))
}

/** Gives several commands, separated by commas, the same spec. */
export function shareSpec<Spec extends HarmlessCommandSpec>(names: string, spec: Spec): Record<string, Spec> {
  return Object.fromEntries(names.split(', ').map((name) => [name, spec]))
}

/** Returns the parsed arguments, or why they are not harmless. */
export function parseArguments(
  spec: HarmlessCommandSpec,
  words: readonly string[],
  findPathRisk: FindPathRisk,
): ParsedArguments | string {
  const argumentFile = spec.expandsArgumentFiles && words.find((word) => /^(?:-\w|--[\w-]+=)?@/.test(word))
  if (argumentFile) return `“${argumentFile}” is a file with further arguments`
  const unknownWord = spec.findWordsRisk?.(words, findPathRisk)
  if (unknownWord !== undefined) return unknownWord
  if (spec.findWordsRisk) return { options: [], operands: words, paths: [] }
  const knownOptions = parseOptionList(spec.options)
  const options: ParsedOption[] = []
  const operands: string[] = []
  let afterDoubleDash: readonly string[] | undefined
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (word === '--') {
      afterDoubleDash = words.slice(at + 1)
      operands.push(...afterDoubleDash)
      break
    }
    if (!word.startsWith('-') || word === '-') {
      operands.push(word)
      continue
    }
    const read = parseOption(word, knownOptions)
    if (typeof read === 'string') return read
    for (const parsedOption of read) {
      const { name, kind } = parsedOption
      if (kind === '' || kind === '?') {
        options.push(parsedOption)
        continue
      }
      const value = parsedOption.value ?? words[++at]
      // If the option has no value after all, the next option must not be mistaken for it.
      if (value === undefined || (parsedOption.value === undefined && /^-(?!\d*$)/.test(value)))
        return `${name} has no clear value`
      const risk = findValueRisk(kind, value, spec, findPathRisk)
      if (risk !== undefined) return risk
      options.push({ name, kind, value })
    }
  }
  const isFirstReplaced = hasOption({ options }, ...(spec.replacesFirstOperand ?? []))
  const paths = listPathOperands(spec, operands, isFirstReplaced)
  const scriptRisk =
    spec.operands === 'script' && operands[0] !== undefined && !isFirstReplaced
      ? spec.findScriptRisk?.(operands[0])
      : undefined
  return (
    findOperandRisk(spec, operands) ??
    scriptRisk ??
    paths.map(findPathRisk).find((risk) => risk !== undefined) ?? {
      options,
      operands,
      ...defined({ afterDoubleDash }),
      paths,
    }
  )
}

function findValueRisk(
  kind: OptionKind,
  value: string,
  spec: HarmlessCommandSpec,
  findPathRisk: FindPathRisk,
): string | undefined {
  if (kind === '@') return findPathRisk(value)
  if (kind === '%') return findGlobRisk(value, findPathRisk)
  return kind === '!' ? spec.findScriptRisk?.(value) : undefined
}

function findOperandRisk(spec: HarmlessCommandSpec, operands: readonly string[]): string | undefined {
  const { maxOperands = Infinity, operandPattern } = spec
  const excess = spec.operands === 'none' ? operands[0] : operands[maxOperands]
  const unknownWord = excess ?? operands.find((word) => operandPattern && !operandPattern.test(word))
  return unknownWord === undefined ? undefined : `“${unknownWord}” is not known to be harmless`
}

function listPathOperands(
  spec: HarmlessCommandSpec,
  operands: readonly string[],
  isFirstReplaced: boolean,
): readonly string[] {
  if (spec.operands === 'text' || spec.operands === 'none') return []
  const isFirstOther = spec.operands !== 'paths' && !isFirstReplaced
  return (isFirstOther ? operands.slice(1) : operands).filter((one) => one !== '-')
}

/** An exclusion is harmless; an inclusion only if it matches no secrets: `*.ts`, but not `*`. */
function findGlobRisk(pattern: string, findPathRisk: FindPathRisk): string | undefined {
  if (pattern.startsWith('!')) return undefined
  const [, folders = '', name = ''] = /^((?:[^*/]+\/|\*\*\/)*)((?:\*\.)?[^*/]+)$/.exec(pattern) ?? []
  if (name === '' || /[?[{]/.test(pattern)) return `the pattern ${pattern} is not known to be harmless`
  const plain = folders.replaceAll('**/', '')
  return findPathRisk(plain + name.replace('*', '')) ?? findPathRisk(plain + name.replace('*', 'x'))
}

type OptionKind = '' | '=' | '?' | '@' | '%' | '!'

const optionCache = new Map<string, ReadonlyMap<string, OptionKind>>()

function parseOptionList(text: string): ReadonlyMap<string, OptionKind> {
  const knownOptions =
    optionCache.get(text) ??
    new Map(
      text.split(/\s+/).map((word) => [word.replace(/[=?@%!]$/, ''), (/[=?@%!]$/.exec(word)?.[0] ?? '') as OptionKind]),
    )
  optionCache.set(text, knownOptions)
  return knownOptions
}

/** Parses `--name`, `--name=value`, or short options such as `-la` and `-n5`. */
function parseOption(word: string, knownOptions: ReadonlyMap<string, OptionKind>): readonly ParsedOption[] | string {
  const unknown = `the option ${word} is not known to be harmless`
  if (word.startsWith('--')) {
    const [name = '', value] = word.split(/=([^]*)/)
    const kind = knownOptions.get(name)
    if (kind === undefined || (kind === '' && value !== undefined)) return unknown
    return [{ name, kind, ...defined({ value }) }]
  }
  if (knownOptions.has('-#') && /^-\d+$/.test(word)) return []
  const found: ParsedOption[] = []
  for (let at = 1; at < word.length; at++) {
    const name = `-${word[at]}`
    const kind = knownOptions.get(name)
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
