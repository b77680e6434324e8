import { indentOf, isBlank } from './lines.ts'
import { isStarred, type Style } from './style.ts'

/** Two ways to indent the same line: the model's, and the file's. */
export type IndentPair = readonly [model: string, file: string]

/** Carries new lines from the model's indentation to the file's; `above` is the file's line before them. */
export type Reindent = (lines: readonly string[], above: string | undefined) => readonly string[] | undefined

/**
 * Finds the rule by which the file's indentation follows from the model's, from lines that are known to be the same. Often
 * several rules would do; then the one counts that makes the new lines step as the file does, if only one does.
 */
export function reindenter(pairs: readonly IndentPair[], { unit }: Style): Reindent {
  if (pairs.every(([from, to]) => from === to)) return (lines) => lines
  const rules = [shift(pairs, unit), ...swaps(unit)].filter(
    (rule) => rule && pairs.every(([from, to]) => rule(from) === to),
  )
  // Two depths make a rule; one alone, also with the space before a star, fits by chance.
  const isSure = new Set(pairs.map(([from]) => (from.length % 2 === 0 ? from : from.replace(/ $/, '')))).size > 1
  return (lines, above) => {
    const results = new Map<string, readonly string[]>()
    for (const rule of rules) {
      const moved = movedBy(rule, lines)
      if (moved) results.set(moved.join('\n'), moved)
    }
    const [only] = results.values()
    if (results.size === 0 || (results.size === 1 && isSure)) return only
    const fitting = [...results.values()].filter((moved) => isStepping(moved, above, unit))
    return fitting.length === 1 ? fitting[0] : undefined
  }
}

type Rule = (indent: string) => string | undefined

function movedBy(rule: Rule, lines: readonly string[]): string[] | undefined {
  const moved: string[] = []
  for (const line of lines) {
    const indent = indentOf(line)
    const found = isBlank(line) ? indent : rule(indent)
    if (found === undefined) return undefined
    moved.push(found + line.slice(indent.length))
  }
  return moved
}

/** The file has the same indentation and something more, or something less, on every line. */
function shift([first]: readonly IndentPair[], unit: string | undefined): Rule {
  const [model, file] = first ?? ['', '']
  const more = file.slice(0, Math.max(0, file.length - model.length))
  const less = model.slice(0, Math.max(0, model.length - file.length))
  return (indent) => {
    const moved = indent.startsWith(less) ? more + indent.slice(less.length) : undefined
    const isKind = unit === undefined || !moved?.includes(unit[0] === '\t' ? '  ' : '\t')
    return moved !== undefined && isKind && isPure(indent) && isPure(moved) ? moved : undefined
  }
}

/** A shift of tabs before an indentation of spaces is no shift but another style. */
function isPure(indent: string): boolean {
  return /^(?: *|\t* ?)$/.test(indent)
}

/** The file's unit of indentation is another: tabs for spaces, or four spaces for two. The space before a star stays. */
function swaps(unit: string | undefined): Rule[] {
  const rules: Rule[] = []
  for (const from of UNITS) {
    for (const to of unit === undefined ? UNITS : [unit]) {
      if (from === to) continue
      rules.push((indent) => {
        let count = 0
        while (indent.startsWith(from, count * from.length)) count++
        const rest = indent.slice(count * from.length)
        return rest === '' || rest === ' ' ? to.repeat(count) + rest : undefined
      })
    }
  }
  return rules
}

const UNITS = ['\t', '  ', '    ', '        ']

/** Does every line that is deeper than the one above it stand one step deeper, as in the rest of the file, and after a line that opens something? */
export function isStepping(lines: readonly string[], above: string | undefined, unit: string | undefined): boolean {
  let last = above
  for (const line of lines) {
    if (isBlank(line)) continue
    const [indent, before] = [indentOf(line), last === undefined ? undefined : indentOf(last)]
    if (before !== undefined && indent.length > before.length) {
      const step = isStarred(line) ? ' ' : unit
      if (indent !== before + step || !(isStarred(line) || OPENS.test(last ?? '') || CONTINUES.test(line))) return false
    }
    last = line
  }
  return true
}

/** How a line ends that something deeper follows, in most languages. */
export const OPENS = /(?:[{([:=>|&?+<]|\b(?:do|then|else|begin))\s*$/

/** How a line begins that belongs to the one above it. */
const CONTINUES = /^\s*(?:[.?:+]|&&|\|\|)/
