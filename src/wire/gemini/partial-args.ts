import { filterObjects, stringOrEmpty } from '../../model/json.ts'

/**
 * Converts arguments that are sent as values with JSON paths (Vertex, `streamFunctionCallArguments`) to JSON text. What is
 * open stays open until the vendor closes it, so truncated arguments are never complete (T128).
 */
export function createPartialArgsWriter() {
  const containers: Container[] = []
  /** The current key in each open container. */
  let path: Key[] = []
  /** The path of a string that continues, as it was written. */
  let openPath: string | undefined
  let broken: string | undefined
  let hasStarted = false

  function piece(fields: Record<string, unknown>): string {
    const jsonPath = stringOrEmpty(fields['jsonPath'])
    const text = typeof fields['stringValue'] === 'string' ? fields['stringValue'] : undefined
    const willContinue = fields['willContinue'] === true
    if (openPath !== undefined) {
      if (jsonPath !== openPath || text === undefined) return fail(`the string at ${openPath} is incomplete`)
      if (!willContinue) openPath = undefined
      return escapeJsonText(text) + (willContinue ? '' : '"')
    }
    const target = parsePath(jsonPath)
    if (!target || target.length === 0) return fail(`the path ${jsonPath} is invalid`)
    const written = text === undefined ? toScalarJson(fields) : `"${escapeJsonText(text)}${willContinue ? '' : '"'}`
    if (written === undefined) return fail(`there is no value at ${jsonPath}`)
    const syntax = moveTo(target)
    if (syntax === undefined) return fail(`the value at ${jsonPath} is out of order`)
    if (text !== undefined && willContinue) openPath = jsonPath
    return syntax + written
  }

  /** The brackets, commas and keys between the last value and a new one; undefined if the path is already closed. */
  function moveTo(target: readonly Key[]): string | undefined {
    let syntax = ''
    let shared = 0
    while (shared < target.length - 1 && shared < path.length - 1 && target[shared] === path[shared]) shared++
    while (containers.length > shared + 1) syntax += getClosingBracket(containers.pop())
    for (let depth = Math.min(shared, containers.length); depth < target.length; depth++) {
      const key = target[depth] ?? ''
      let here = containers[depth]
      if (!here) {
        here = typeof key === 'number' ? { kind: 'array', count: 0 } : { kind: 'object', keys: new Set() }
        containers.push(here)
        syntax += here.kind === 'array' ? '[' : '{'
      }
      const step = enterContainer(here, key)
      if (step === undefined) return undefined
      syntax += step
    }
    path = [...target]
    return syntax
  }

  /** Without any text the call would have no arguments, so a bracket is opened that is never closed. */
  function fail(reason: string): string {
    broken = reason
    return hasStarted ? '' : '{'
  }

  return {
    push(pieces: unknown): string {
      let text = ''
      for (const fields of filterObjects(pieces)) {
        if (broken === undefined) text += piece(fields)
        hasStarted ||= text !== ''
      }
      return text
    },
    /** The text that closes the arguments, unless a value is missing or incomplete. */
    end(): string {
      if (broken !== undefined) return ''
      if (openPath !== undefined) return fail(`the string at ${openPath} is incomplete`)
      if (containers.length === 0) return '{}'
      let text = ''
      while (containers.length > 0) text += getClosingBracket(containers.pop())
      return text
    },
    /** Why the text can never become complete. */
    get broken(): string | undefined {
      return broken
    },
  }
}

export type PartialArgsWriter = ReturnType<typeof createPartialArgsWriter>

type Key = string | number

type Container = { readonly kind: 'object'; readonly keys: Set<string> } | { readonly kind: 'array'; count: number }

/** Each key is written once, and array elements in order. */
function enterContainer(container: Container, key: Key): string | undefined {
  if (container.kind === 'array') {
    if (key !== container.count) return undefined
    return container.count++ === 0 ? '' : ','
  }
  if (typeof key !== 'string' || container.keys.has(key)) return undefined
  container.keys.add(key)
  return `${container.keys.size === 1 ? '' : ','}${JSON.stringify(key)}:`
}

function getClosingBracket(container: Container | undefined): string {
  return container?.kind === 'array' ? ']' : '}'
}

function escapeJsonText(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function toScalarJson(fields: Record<string, unknown>): string | undefined {
  if (typeof fields['numberValue'] === 'number') return JSON.stringify(fields['numberValue'])
  if (typeof fields['boolValue'] === 'boolean') return String(fields['boolValue'])
  return 'nullValue' in fields ? 'null' : undefined
}

/** Splits `$.a[0]['b c']` into its keys. */
function parsePath(path: string): Key[] | undefined {
  if (!path.startsWith('$')) return undefined
  const keys: Key[] = []
  for (let at = 1; at < path.length; at = PATH_STEP.lastIndex) {
    PATH_STEP.lastIndex = at
    const found = PATH_STEP.exec(path)
    if (!found) return undefined
    const [, name, index, single, double] = found
    if (index === undefined) keys.push(name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1'))
    else keys.push(Number(index))
  }
  return keys
}

const PATH_STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
