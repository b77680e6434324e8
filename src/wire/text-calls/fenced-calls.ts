import { parseBareCalls } from './bare-json-calls.ts'
import { type TextCallTool, createTextCallScanner } from './text-call-scanner.ts'

/** Does a fence contain what may be meant as a call: JSON, markup or pseudo-code with the name of a tool (T69)? */
export function fenceLooksLikeCall(fence: { info: string; body: string }, tools: readonly TextCallTool[]): boolean {
  const { info, body } = fence
  const text = body.trim()
  if (!tools.some(({ name }) => text.includes(name))) return false
  if (/^[{[]/.test(text)) return parseBareCalls(text, tools).length > 0
  if (/^[<＜[\]]/.test(text)) return containsTextCall(text, tools)
  const called = tools.some(({ name }) => text.includes(`${name}(`))
  return called && (/^tool/i.test(info) || text.includes('default_api.'))
}

function containsTextCall(text: string, tools: readonly TextCallTool[]): boolean {
  const scan = createTextCallScanner(tools)
  scan.push(text)
  return scan.end().calls.length > 0
}
