import type { Warning } from '../../model/event.ts'
import { createPattern, matchAt, NAME_PATTERN, type RawTextCall } from './dialects/dialect.ts'
import { findJsonEnd } from './json-calls.ts'
import {
  createTextCallScanner,
  findDeclaredTool,
  TRAILING_TEXT,
  type FoundCall,
  type ScanOptions,
  type TextCallTool,
} from './text-call-scanner.ts'

/** A call of a declared tool that the model wrote as text. In tag dialects the schema decides the types of values. */
export type TextCall = RawTextCall

export interface ParsedTextCalls {
  /** The rest of the text to show. */
  readonly text: string
  readonly calls: readonly TextCall[]
  /** DSML beside native calls: the arguments of a native call of the same name that has none (T63). */
  readonly replacements?: readonly TextCall[]
  /** The rest of the text without the markup, if the markup contains only replacements. */
  readonly textWithoutCalls?: string
  readonly warnings: readonly Warning[]
}

/** How the response went on that contains a text. */
export interface TextOutcome {
  readonly endedNormally: boolean
  readonly hasNativeCalls: boolean
  /** Another part of the response comes after this one, with text. */
  readonly isFollowedByText?: boolean
}

/** Finds calls that are written in a text (T60–T69). */
export interface TextCallParser {
  /** Adds text and returns what may be shown now. Text from the first possible marker on is held back. */
  push(text: string): string
  /**
   * There are no calls, and the held text is returned unchanged, if there are native calls, if the response did not end
   * normally, if a name is not declared, or if the markup is quoted or not at the end of the text.
   */
  end(outcome: TextOutcome): ParsedTextCalls
}

export function createTextCallParser(tools: readonly TextCallTool[], options?: ScanOptions): TextCallParser {
  if (tools.length === 0) return { push: (text) => text, end: () => ({ text: '', calls: [], warnings: [] }) }
  const scan = createTextCallScanner(tools, options)
  return {
    push: (text) => scan.push(text),
    end(outcome) {
      const { endedNormally, hasNativeCalls } = outcome
      const { rest, textWithoutCalls, calls, reason: scanReason, fence } = scan.end()
      if (calls.length === 0 && scanReason === undefined) {
        const fenced = fence && !hasNativeCalls && fenceLooksLikeCall(fence, tools)
        return { text: rest, calls: [], warnings: fenced ? [FENCED_CALL_WARNING] : [] }
      }
      const reason = scanReason ?? findObstacle(outcome)
      if (reason === undefined)
        return { text: textWithoutCalls, calls: calls.map(toTextCall), warnings: [createConvertedWarning(calls)] }
      const unchanged = { text: rest, calls: [], warnings: [createUnreadWarning(reason, calls)] }
      if (scanReason !== undefined || !endedNormally) return unchanged
      const dsml = calls.filter(isDsmlWithArguments).map(toTextCall)
      if (dsml.length === 0) return unchanged
      return { ...unchanged, replacements: dsml, ...(dsml.length === calls.length && { textWithoutCalls }) }
    },
  }
}

/** Why complete calls must not run. */
function findObstacle({ endedNormally, hasNativeCalls, isFollowedByText }: TextOutcome): string | undefined {
  if (!endedNormally) return 'the response broke off'
  if (hasNativeCalls) return 'there are native calls too'
  return isFollowedByText ? TRAILING_TEXT : undefined
}

/** Parses a whole text that a server could not parse as a call (T73): all dialects, and Groq's `name{…}</function>`. */
export function parseTextCalls(text: string, tools: readonly TextCallTool[]): TextCall[] {
  const cut = parseCutFunctionTag(text.trim(), tools)
  if (cut) return [cut]
  const scan = createTextCallScanner(tools)
  scan.push(text)
  const { calls, reason } = scan.end()
  return reason === undefined ? calls.map(toTextCall) : []
}

function parseCutFunctionTag(text: string, tools: readonly TextCallTool[]): TextCall | undefined {
  const head = matchAt(CALL_HEAD, text, 0)
  const tool = head && findDeclaredTool(tools, head[1] ?? '')
  if (!tool) return undefined
  const from = head[0].length
  const end = findJsonEnd(text, from)
  return end > 0 && text.slice(end).trim() === '</function>'
    ? { name: tool.name, raw: text.slice(from, end) }
    : undefined
}

const CALL_HEAD = createPattern(`(${NAME_PATTERN})\\s{0,4}(?=\\{)`)

/** Does a fence contain what may be meant as a call: JSON, markup or pseudo-code with the name of a tool (T69)? */
function fenceLooksLikeCall(fence: { info: string; body: string }, tools: readonly TextCallTool[]): boolean {
  const { info, body } = fence
  const text = body.trim()
  if (!tools.some(({ name }) => text.includes(name))) return false
  if (/^[{<＜[\]]/.test(text)) {
    const scan = createTextCallScanner(tools)
    scan.push(text)
    return scan.end().calls.length > 0
  }
  const called = tools.some(({ name }) => text.includes(`${name}(`))
  return called && (/^tool/i.test(info) || text.includes('default_api.'))
}

function toTextCall({ name, raw }: FoundCall): TextCall {
  return { name, raw }
}

function isDsmlWithArguments({ dialect, raw }: FoundCall): boolean {
  return dialect === 'dsml' && raw !== '{}'
}

function createConvertedWarning(found: readonly FoundCall[]): Warning {
  const names = found.map(({ name, dialect }) => `${name} (${dialect})`).join(', ')
  const message = `The model wrote its calls as text; they were accepted: ${names}.`
  return { code: 'written-call', message, dialects: listDialects(found) }
}

function createUnreadWarning(reason: string, found: readonly FoundCall[]): Warning {
  const message = `The text contains the markup of a call, which was not read: ${reason}.`
  return { code: 'unread-call', message, ...(found.length > 0 && { dialects: listDialects(found) }) }
}

function listDialects(found: readonly FoundCall[]): string[] {
  return [...new Set(found.map(({ dialect }) => dialect))]
}

const FENCED_CALL_WARNING: Warning = {
  code: 'fenced-call',
  message: 'The response ends with a code block that looks like a call; code blocks are never run.',
}
