import { isObject } from '../../model/json.ts'

/**
 * Writes arguments that come as values with their JSON paths (Vertex, `streamFunctionCallArguments`) down as JSON text,
 * piece by piece. What is open stays open until the vendor closes it, so a call that was cut off is never whole (T128).
 */
export interface PartialArgsWriter {
  /** The text that a list of pieces adds. */
  push(pieces: unknown): string
  /** The call is whole: the text that closes it, unless a value is missing or was still being written. */
  end(): string
  /** Why the text can never become whole. */
  readonly broken: string | undefined
}

type Key = string | number

/** An object or array that is open, with the keys that it already holds. */
type Container = { readonly kind: 'object'; readonly keys: Set<string> } | { readonly kind: 'array'; count: number }

/** Starts the arguments of one call. */
export function createPartialArgsWriter(): PartialArgsWriter {
  const containers: Container[] = []
  /** Where in each open container we are. */
  let path: Key[] = []
  /** The path of the string that will go on, as it was spelled. */
  let openPath: string | undefined
  let broken: string | undefined
  let hasStarted = false

  function piece(fields: Record<string, unknown>): string {
    const jsonPath = typeof fields['jsonPath'] === 'string' ? fields['jsonPath'] : ''
    const text = typeof fields['stringValue'] === 'string' ? fields['stringValue'] : undefined
    const willContinue = fields['willContinue'] === true
    if (openPath !== undefined) {
      if (jsonPath !== openPath || text === undefined) return fail(`the string at ${openPath} was not finished`)
      if (!willContinue) openPath = undefined
      return escapeJsonText(text) + (willContinue ? '' : '"')
    }
    const target = parsePath(jsonPath)
    if (!target || target.length === 0) return fail(`the path ${jsonPath} is not understood`)
    const written = text === undefined ? toScalarJson(fields) : `"${escapeJsonText(text)}${willContinue ? '' : '"'}`
    if (written === undefined) return fail(`nothing came for ${jsonPath}`)
    const syntax = moveTo(target)
    if (syntax === undefined) return fail(`the value at ${jsonPath} came out of order`)
    if (text !== undefined && willContinue) openPath = jsonPath
    return syntax + written
  }

  /** The brackets, commas and keys between the last value and a new one; undefined where JSON text cannot go there any more. */
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

  /** No text at all would mean "no arguments", so something is opened that nothing will close. */
  function fail(reason: string): string {
    broken = reason
    return hasStarted ? '' : '{'
  }

  return {
    push(pieces) {
      let text = ''
      for (const fields of Array.isArray(pieces) ? pieces : []) {
        if (broken === undefined && isObject(fields)) text += piece(fields)
        hasStarted ||= text !== ''
      }
      return text
    },
    end() {
      if (broken !== undefined) return ''
      if (openPath !== undefined) return fail(`the string at ${openPath} was not finished`)
      if (containers.length === 0) return '{}'
      let text = ''
      while (containers.length > 0) text += getClosingBracket(containers.pop())
      return text
    },
    get broken() {
      return broken
    },
  }
}

/** Goes to the next place in a container; each place is written once, and in order. */
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
  let at = 1
  while (at < path.length) {
    PATH_STEP.lastIndex = at
    const found = PATH_STEP.exec(path)
    if (!found) return undefined
    const [whole, name, index, single, double] = found
    if (name !== undefined) keys.push(name)
    else if (index !== undefined) keys.push(Number(index))
    else keys.push((single ?? double ?? '').replace(/\\(.)/g, '$1'))
    at += whole.length
  }
  return keys
}

const PATH_STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
