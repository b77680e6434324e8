import type { Entry, EntryBody } from '../../log/entry.ts'
import { StoreError, type StoreErrorCode } from '../store.ts'

export const USER_ENTRY: EntryBody = { kind: 'user', parts: [{ kind: 'text', text: 'hello' }], prompt: 'one#1' }
export const NOTE_ENTRY: EntryBody = { kind: 'note', text: 'line\nbreaks, “quotes” and \u2028 separators' }

export function toEntryBody(entry: Entry): unknown {
  const { seq: _, at: __, ...body } = entry
  return body
}

export function assertEqual(actual: unknown, expected: unknown): void {
  const [actualJson, expectedJson] = [JSON.stringify(sortKeys(actual)), JSON.stringify(sortKeys(expected))]
  if (actualJson !== expectedJson) throw new Error(`expected ${clip(expectedJson)}, got ${clip(actualJson)}`)
}

function clip(json: string | undefined): string | undefined {
  return json !== undefined && json.length > MAX_SHOWN_CHARS ? `${json.slice(0, MAX_SHOWN_CHARS)}…` : json
}

const MAX_SHOWN_CHARS = 2000

/** Stores may write keys in any order. */
function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([key, inner]) => [key, sortKeys(inner)]))
}

/** Fails unless the work throws or rejects with a `StoreError` of one of these codes; of any code, if none is given. */
export async function assertStoreError(work: () => unknown, ...codes: readonly StoreErrorCode[]): Promise<void> {
  const expected = `expected a StoreError${codes.length > 0 ? ` with the code ${codes.join(' or ')}` : ''}`
  try {
    await work()
  } catch (error) {
    if (error instanceof StoreError && (codes.length === 0 || codes.includes(error.code))) return
    throw new Error(`${expected}, got ${String(error)}`, { cause: error })
  }
  throw new Error(`${expected}, but nothing was thrown`)
}

/** Waits until it is true, for a very busy machine long enough. */
export async function waitFor(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (const until = performance.now() + WAIT_MS; !(await isTrue());) {
    if (performance.now() > until) throw new Error(`waited in vain until ${what}`)
    await sleep(10)
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

const WAIT_MS = 60_000
