import { indentOf } from './lines.ts'

/** Two ways to indent the same line: the model's, and the file's. */
export type IndentPair = readonly [model: string, file: string]

/** Carries a line from the model's indentation to the file's; gives nothing where that would be a guess. */
export type Reindent = (line: string) => string | undefined

/** Finds the rule by which the file's indentation follows from the model's, from lines that are known to be the same. */
export function reindenter(pairs: readonly IndentPair[]): Reindent {
  const known = new Map<string, string | undefined>()
  for (const [model, file] of pairs) known.set(model, known.has(model) && known.get(model) !== file ? undefined : file)
  const rule = shift(pairs) ?? units(pairs)
  return (line) => {
    const indent = indentOf(line)
    const found = rule?.(indent) ?? known.get(indent)
    return found === undefined ? undefined : found + line.slice(indent.length)
  }
}

type Rule = (indent: string) => string | undefined

/** The file has the same indentation and something more, or something less, on every line. */
function shift(pairs: readonly IndentPair[]): Rule | undefined {
  const [first] = pairs
  if (!first) return (indent) => indent
  const [model, file] = first
  if (file.endsWith(model)) {
    const more = file.slice(0, file.length - model.length)
    if (pairs.every((pair) => pair[1] === more + pair[0]) && isOneKind(more, pairs)) return (indent) => more + indent
  }
  if (model.endsWith(file)) {
    const less = model.slice(0, model.length - file.length)
    if (pairs.every((pair) => pair[0] === less + pair[1]) && isOneKind(less, pairs)) {
      return (indent) => (indent.startsWith(less) ? indent.slice(less.length) : undefined)
    }
  }
  return undefined
}

/** A shift of tabs before an indentation of spaces is no shift but another style. */
function isOneKind(moved: string, pairs: readonly IndentPair[]): boolean {
  return moved === '' || new Set([...pairs.flat(), moved].join('')).size === 1
}

/** The file's unit of indentation is another: tabs for spaces, or four spaces for two. */
function units(pairs: readonly IndentPair[]): Rule | undefined {
  const deep = pairs.filter(([model, file]) => model !== '' && file !== '')
  const [first] = deep
  if (!first || !pairs.every(([model, file]) => (model === '') === (file === ''))) return undefined
  const [modelSign = '', fileSign = ''] = [first[0][0], first[1][0]]
  if (!deep.every(([model, file]) => isOnly(model, modelSign) && isOnly(file, fileSign))) return undefined
  const ratio = first[1].length / first[0].length
  if (!deep.every(([model, file]) => file.length === model.length * ratio)) return undefined
  return (indent) => {
    const length = indent.length * ratio
    return isOnly(indent, modelSign) && Number.isInteger(length) ? fileSign.repeat(length) : undefined
  }
}

function isOnly(text: string, sign: string): boolean {
  return text === sign.repeat(text.length)
}
