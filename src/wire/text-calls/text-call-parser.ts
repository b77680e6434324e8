import type { Warning } from '../../model/event.ts'
import type { JsonObject } from '../../model/json.ts'
import { parseBareCalls } from './bare-json-calls.ts'
import { fenceLooksLikeCall } from './fenced-calls.ts'
import { type FoundCall, createTextCallScanner } from './text-call-scanner.ts'

/** A call that the model wrote as text instead of making it. */
export interface TextCall {
  /** The name of a declared tool. */
  readonly name: string
  /** JSON text of the arguments; values of tag dialects are typed by the schema. JSON stands as it was written. */
  readonly raw: string
}

/** What became of a text. */
export interface TextCallResult {
  /** The rest of the text to show. */
  readonly text: string
  readonly calls: readonly TextCall[]
  /**
   * Beside structured calls, DSML that holds arguments: the structured call of the same name may have come with `{}`,
   * and then these are its arguments (T63).
   */
  readonly replacements?: readonly TextCall[]
  /** The rest of the text without the markup, if replacements are all that the markup holds. */
  readonly textBeforeCalls?: string
  readonly warnings: readonly Warning[]
}

/** Watches a text for calls that are written in it (T60–T69). */
export interface TextCallParser {
  /** Takes text as it streams; gives back what may be shown now. Text from the first possible marker on is held back. */
  push(text: string): string
  /**
   * The stream has ended. `natural`: it ended normally. `native`: structured calls arrived. Gives the rest of the text,
   * and the calls found. With native calls, an unnatural end, an undeclared name, or markup that is quoted or does not
   * end the text, there are no calls, and the text is the held text, byte for byte.
   */
  end(how: { endedNormally: boolean; hasNativeCalls: boolean }): TextCallResult
}

/** Starts to watch one text. */
export function createTextCallParser(tools: readonly { name: string; schema: JsonObject }[]): TextCallParser {
  if (tools.length === 0) return { push: (text) => text, end: () => ({ text: '', calls: [], warnings: [] }) }
  const scan = createTextCallScanner(tools)
  return {
    push: (text) => scan.push(text),
    end({ endedNormally, hasNativeCalls }) {
      const { rest, textBeforeCalls, calls, reason: scanReason, fence } = scan.end()
      if (calls.length === 0 && scanReason === undefined) {
        const fenced = fence && !hasNativeCalls && fenceLooksLikeCall(fence, tools)
        return { text: rest, calls: [], warnings: fenced ? [FENCED_CALL_WARNING] : [] }
      }
      const reason =
        scanReason ??
        (endedNormally ? (hasNativeCalls ? 'structured calls came as well' : undefined) : 'the answer broke off')
      if (reason === undefined)
        return { text: textBeforeCalls, calls: calls.map(toTextCall), warnings: [createConvertedWarning(calls)] }
      const unchanged = { text: rest, calls: [], warnings: [createUnreadWarning(reason)] }
      if (scanReason !== undefined || !endedNormally) return unchanged
      const dsml = calls.filter(isDsmlWithArguments).map(toTextCall)
      if (dsml.length === 0) return unchanged
      return {
        ...unchanged,
        replacements: dsml,
        ...(dsml.length === calls.length && { textBeforeCalls }),
      }
    },
  }
}

/**
 * Reads a whole text that a server could not read as a call (T73): everything that a watched text may hold, and also
 * JSON without a marker.
 */
export function parseTextCalls(text: string, tools: readonly { name: string; schema: JsonObject }[]): TextCall[] {
  const bare = parseBareCalls(text, tools)
  if (bare.length > 0) return bare.map(toTextCall)
  const scan = createTextCallScanner(tools)
  scan.push(text)
  const { calls, reason: scanReason } = scan.end()
  return scanReason === undefined ? calls.map(toTextCall) : []
}

function toTextCall({ name, raw }: FoundCall): TextCall {
  return { name, raw }
}

function isDsmlWithArguments({ dialect, raw }: FoundCall): boolean {
  return dialect === 'dsml' && raw !== '{}'
}

function createConvertedWarning(found: readonly FoundCall[]): Warning {
  const names = found.map(({ name, dialect }) => `${name} (${dialect})`).join(', ')
  return { code: 'written-call', message: `The model wrote its calls as text; they were read: ${names}.` }
}

function createUnreadWarning(reason: string): Warning {
  return { code: 'unread-call', message: `The text holds the markup of a call that was left as text: ${reason}.` }
}

const FENCED_CALL_WARNING: Warning = {
  code: 'fenced-call',
  message: 'The answer ends in a code block that looks like a call; code blocks are never run.',
}
