import { getIndent, isBlank } from '../match/lines.ts'
import { isCommentContinuation, type FileStyle } from './file-style.ts'

/** The indentation of one line in the model's version and in the file. */
export type IndentPair = readonly [model: string, file: string]

/** Converts new lines to the file's indentation; undefined if that would be a guess. */
export type ReindentLines = (lines: readonly string[]) => readonly string[] | undefined

/** Derives the rule from lines that are known to be the same. All rules that fit must agree; one depth is no rule. */
export function createReindenter(pairs: readonly IndentPair[], { indentUnit }: FileStyle): ReindentLines {
  if (pairs.every(([from, to]) => from === to)) return (lines) => lines
  const fits = (rule: IndentRule): boolean => pairs.every(([from, to]) => rule(from) === to)
  const commonRules = [
    createShiftRule(pairs, indentUnit),
    ...createUnitRules(indentUnit === undefined ? INDENT_UNITS : [indentUnit]),
  ].filter(fits)
  // The model may take a tab for another number of spaces than the file's unit.
  const rules =
    commonRules.length > 0
      ? commonRules
      : createUnitRules(INDENT_UNITS)
          .filter(fits)
          .map((rule) => limitToIndentUnit(rule, indentUnit))
  const knownIndents = createConsistentMap(pairs)
  // The space before a star is not a depth.
  const depths = new Set(pairs.map(([from]) => (from.length % 2 === 0 ? from : from.replace(/ $/, ''))))
  // Only a shift leads from no indentation to some, or back; a change of style does not.
  const onlyShift = createUnitRules(INDENT_UNITS).some(fits) ? undefined : rules[0]
  return (lines) => {
    // A depth with a known counterpart needs no rule.
    if (knownIndents && lines.every((line) => isBlank(line) || knownIndents.has(getIndent(line))))
      return lines.map((line) => (isBlank(line) ? line : knownIndents.get(getIndent(line)) + line.trimStart()))
    if (depths.size < 2) return onlyShift && shiftByIndentUnit(onlyShift, lines, pairs[0]?.[1] ?? '', indentUnit)
    const results = new Map<string, readonly string[]>()
    for (const rule of rules) {
      const moved = applyIndentRule(rule, lines)
      if (moved) results.set(moved.join('\n'), moved)
    }
    return results.size === 1 ? [...results.values()][0] : undefined
  }
}

/** Applies a shift that is known from one depth only: new lines must lead away from it in steps of the file's unit. */
function shiftByIndentUnit(
  rule: IndentRule,
  lines: readonly string[],
  depth: string,
  unit: string | undefined,
): string[] | undefined {
  const moved = applyIndentRule(rule, lines)
  if (!moved || unit === undefined) return undefined
  const levels = moved.flatMap((line) => (isBlank(line) ? [] : [(getIndent(line).length - depth.length) / unit.length]))
  const isReached = (level: number): boolean => Math.abs(level) <= 1 || levels.includes(level - Math.sign(level))
  return levels.every((level) => Number.isInteger(level) && isReached(level)) ? moved : undefined
}

/** The same rule, limited to depths that are multiples of the file's unit. */
function limitToIndentUnit(rule: IndentRule, unit = ''): IndentRule {
  return (indent) => {
    const moved = rule(indent)
    return moved === undefined || unit === '' || moved.replaceAll(unit, '') === '' ? moved : undefined
  }
}

/** The file's indentation for each of the model's; undefined if one has two, or if the order of depths differs. */
function createConsistentMap(pairs: readonly IndentPair[]): ReadonlyMap<string, string> | undefined {
  const map = new Map(pairs)
  if (pairs.some(([from, to]) => map.get(from) !== to)) return undefined
  const all = [...map].sort(([one], [other]) => one.length - other.length)
  const isSteady = all.every(([from, to], at) => {
    const [before, beforeTo] = all[at - 1] ?? []
    return before === undefined || (from.startsWith(before) && to.startsWith(beforeTo ?? '') && to !== beforeTo)
  })
  return isSteady ? map : undefined
}

type IndentRule = (indent: string) => string | undefined

function applyIndentRule(rule: IndentRule, lines: readonly string[]): string[] | undefined {
  const moved: string[] = []
  for (const line of lines) {
    const indent = getIndent(line)
    const found = isBlank(line) ? indent : rule(indent)
    if (found === undefined) return undefined
    moved.push(found + line.slice(indent.length))
  }
  return moved
}

/** The file has the same indentation plus or minus a fixed part on every line. */
function createShiftRule([first]: readonly IndentPair[], unit: string | undefined): IndentRule {
  const [model, file] = first ?? ['', '']
  const more = file.slice(0, Math.max(0, file.length - model.length))
  const less = model.slice(0, Math.max(0, model.length - file.length))
  return (indent) => {
    const moved = indent.startsWith(less) ? more + indent.slice(less.length) : undefined
    const isKind = unit === undefined || !moved?.includes(unit[0] === '\t' ? '  ' : '\t')
    return moved !== undefined && isKind && isUniformIndent(indent) && isUniformIndent(moved) ? moved : undefined
  }
}

/** Tabs before spaces are another style, not a shift. */
function isUniformIndent(indent: string): boolean {
  return /^(?: *|\t* ?)$/.test(indent)
}

/** The file uses another unit: tabs for spaces, or four spaces for two. The space before a star stays. */
function createUnitRules(units: readonly string[]): IndentRule[] {
  const rules: IndentRule[] = []
  for (const from of INDENT_UNITS) {
    for (const to of units) {
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

const INDENT_UNITS = ['\t', '  ', '    ', '        ']

/** Is every deeper line exactly one unit deeper than the line above it, and does that line open a block? */
export function hasSteppedIndent(
  lines: readonly string[],
  above: string | undefined,
  unit: string | undefined,
): boolean {
  let last = above
  for (const line of lines) {
    if (isBlank(line)) continue
    const [indent, before] = [getIndent(line), last === undefined ? undefined : getIndent(last)]
    if (before !== undefined && indent.length > before.length) {
      const step = isCommentContinuation(line) ? ' ' : unit
      if (
        indent !== before + step ||
        !(isCommentContinuation(line) || BLOCK_OPENING_PATTERN.test(last ?? '') || CONTINUATION_PATTERN.test(line))
      )
        return false
    }
    last = line
  }
  return true
}

/** How a line ends that is followed by a deeper one, in most languages. */
export const BLOCK_OPENING_PATTERN = /(?:[{([:=>|&?+<]|\b(?:do|then|else|begin))\s*$/

/** How a line begins that continues the one above it. */
const CONTINUATION_PATTERN = /^\s*(?:[.?:+]|&&|\|\|)/
