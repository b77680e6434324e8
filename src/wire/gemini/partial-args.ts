import { isObject } from '../../model/json.ts'

/**
 * Writes arguments that come as values with their JSON paths (Vertex, `streamFunctionCallArguments`) down as JSON text,
 * piece by piece. What is open stays open until the vendor closes it, so a call that was cut off is never whole (T128).
 */
export interface PartialArgs {
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
export function startPartialArgs(): PartialArgs {
  const containers: Container[] = []
  /** Where in each open container we are. */
  let path: Key[] = []
  /** The path of the string that will go on, as it was spelled. */
  let open: string | undefined
  let broken: string | undefined
  let begun = false

  function piece(given: Record<string, unknown>): string {
    const spelled = typeof given['jsonPath'] === 'string' ? given['jsonPath'] : ''
    const text = typeof given['stringValue'] === 'string' ? given['stringValue'] : undefined
    const goesOn = given['willContinue'] === true
    if (open !== undefined) {
      if (spelled !== open || text === undefined) return fail(`the string at ${open} was not finished`)
      if (!goesOn) open = undefined
      return escaped(text) + (goesOn ? '' : '"')
    }
    const target = parsePath(spelled)
    if (!target || target.length === 0) return fail(`the path ${spelled} is not understood`)
    const written = text === undefined ? scalar(given) : `"${escaped(text)}${goesOn ? '' : '"'}`
    if (written === undefined) return fail(`nothing came for ${spelled}`)
    const way = moveTo(target)
    if (way === undefined) return fail(`the value at ${spelled} came out of order`)
    if (text !== undefined && goesOn) open = spelled
    return way + written
  }

  /** The brackets, commas and keys between the last value and a new one; undefined where JSON text cannot go there any more. */
  function moveTo(target: readonly Key[]): string | undefined {
    let way = ''
    let shared = 0
    while (shared < target.length - 1 && shared < path.length - 1 && target[shared] === path[shared]) shared++
    while (containers.length > shared + 1) way += closer(containers.pop())
    for (let depth = Math.min(shared, containers.length); depth < target.length; depth++) {
      const key = target[depth] ?? ''
      let here = containers[depth]
      if (!here) {
        here = typeof key === 'number' ? { kind: 'array', count: 0 } : { kind: 'object', keys: new Set() }
        containers.push(here)
        way += here.kind === 'array' ? '[' : '{'
      }
      const step = enter(here, key)
      if (step === undefined) return undefined
      way += step
    }
    path = [...target]
    return way
  }

  /** No text at all would mean "no arguments", so something is opened that nothing will close. */
  function fail(reason: string): string {
    broken = reason
    return begun ? '' : '{'
  }

  return {
    push(pieces) {
      let text = ''
      for (const given of Array.isArray(pieces) ? pieces : []) {
        if (broken === undefined && isObject(given)) text += piece(given)
        begun ||= text !== ''
      }
      return text
    },
    end() {
      if (broken !== undefined) return ''
      if (open !== undefined) return fail(`the string at ${open} was not finished`)
      if (containers.length === 0) return '{}'
      let text = ''
      while (containers.length > 0) text += closer(containers.pop())
      return text
    },
    get broken() {
      return broken
    },
  }
}

/** Goes to the next place in a container; each place is written once, and in order. */
function enter(container: Container, key: Key): string | undefined {
  if (container.kind === 'array') {
    if (key !== container.count) return undefined
    return container.count++ === 0 ? '' : ','
  }
  if (typeof key !== 'string' || container.keys.has(key)) return undefined
  container.keys.add(key)
  return `${container.keys.size === 1 ? '' : ','}${JSON.stringify(key)}:`
}

function closer(container: Container | undefined): string {
  return container?.kind === 'array' ? ']' : '}'
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function scalar(given: Record<string, unknown>): string | undefined {
  if (typeof given['numberValue'] === 'number') return JSON.stringify(given['numberValue'])
  if (typeof given['boolValue'] === 'boolean') return String(given['boolValue'])
  return 'nullValue' in given ? 'null' : undefined
}

/** Splits `$.a[0]['b c']` into its keys. */
function parsePath(path: string): Key[] | undefined {
  if (!path.startsWith('$')) return undefined
  const keys: Key[] = []
  let at = 1
  while (at < path.length) {
    STEP.lastIndex = at
    const found = STEP.exec(path)
    if (!found) return undefined
    const [whole, name, index, single, double] = found
    if (name !== undefined) keys.push(name)
    else if (index !== undefined) keys.push(Number(index))
    else keys.push((single ?? double ?? '').replace(/\\(.)/g, '$1'))
    at += whole.length
  }
  return keys
}

const STEP = /\.([^.[\]]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y
