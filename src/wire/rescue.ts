import type { Warning } from '../model/event.ts'
import type { JsonObject } from '../model/json.ts'
import { bareCalls } from './rescue/bare.ts'
import { looksLikeCall } from './rescue/fenced.ts'
import { type Found, startScan } from './rescue/scan.ts'

/** A call that the model wrote as text instead of making it. */
export interface WrittenCall {
  /** The name of a declared tool. */
  readonly name: string
  /** JSON text of the arguments; values of tag dialects are typed by the schema. JSON stands as it was written. */
  readonly raw: string
}

/** What became of a text. */
export interface Rescued {
  /** The rest of the text to show. */
  readonly text: string
  readonly calls: readonly WrittenCall[]
  /**
   * Beside structured calls, DSML that holds arguments: the structured call of the same name may have come with `{}`,
   * and then these are its arguments (T63).
   */
  readonly replacements?: readonly WrittenCall[]
  /** The rest of the text without the markup, if replacements are all that the markup holds. */
  readonly before?: string
  readonly warnings: readonly Warning[]
}

/** Watches a text for calls that are written in it (T60–T69). */
export interface Rescue {
  /** Takes text as it streams; gives back what may be shown now. Text from the first possible marker on is held back. */
  push(text: string): string
  /**
   * The stream has ended. `natural`: it ended normally. `native`: structured calls arrived. Gives the rest of the text,
   * and the calls found. With native calls, an unnatural end, an undeclared name, or markup that is quoted or does not
   * end the text, there are no calls, and the text is the held text, byte for byte.
   */
  end(how: { natural: boolean; native: boolean }): Rescued
}

/** Starts to watch one text. */
export function startRescue(tools: readonly { name: string; schema: JsonObject }[]): Rescue {
  if (tools.length === 0) return { push: (text) => text, end: () => ({ text: '', calls: [], warnings: [] }) }
  const scan = startScan(tools)
  return {
    push: (text) => scan.push(text),
    end({ natural, native }) {
      const { rest, before, found, why, fence } = scan.end()
      if (found.length === 0 && why === undefined) {
        const fenced = fence && !native && looksLikeCall(fence, tools)
        return { text: rest, calls: [], warnings: fenced ? [FENCED] : [] }
      }
      const reason = why ?? (natural ? (native ? 'structured calls came as well' : undefined) : 'the answer broke off')
      if (reason === undefined) return { text: before, calls: found.map(call), warnings: [converted(found)] }
      const left = { text: rest, calls: [], warnings: [unread(reason)] }
      if (why !== undefined || !natural) return left
      const dsml = found.filter(hasArguments).map(call)
      if (dsml.length === 0) return left
      return { ...left, replacements: dsml, ...(dsml.length === found.length && { before }) }
    },
  }
}

/**
 * Reads a whole text that a server could not read as a call (T73): everything that a watched text may hold, and also
 * JSON without a marker.
 */
export function parseWritten(text: string, tools: readonly { name: string; schema: JsonObject }[]): WrittenCall[] {
  const bare = bareCalls(text, tools)
  if (bare.length > 0) return bare.map(call)
  const scan = startScan(tools)
  scan.push(text)
  const { found, why } = scan.end()
  return why === undefined ? found.map(call) : []
}

function call({ name, raw }: Found): WrittenCall {
  return { name, raw }
}

function hasArguments({ dialect, raw }: Found): boolean {
  return dialect === 'dsml' && raw !== '{}'
}

function converted(found: readonly Found[]): Warning {
  const names = found.map(({ name, dialect }) => `${name} (${dialect})`).join(', ')
  return { code: 'written-call', message: `The model wrote its calls as text; they were read: ${names}.` }
}

function unread(reason: string): Warning {
  return { code: 'unread-call', message: `The text holds the markup of a call that was left as text: ${reason}.` }
}

const FENCED: Warning = {
  code: 'fenced-call',
  message: 'The answer ends in a code block that looks like a call; code blocks are never run.',
}
