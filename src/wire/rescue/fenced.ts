import { bareCalls } from './bare.ts'
import { type Declared, startScan } from './scan.ts'

/** Does a fence hold what was perhaps meant as a call: JSON, markup or pseudo-code that names a tool (T69)? */
export function looksLikeCall(fence: { info: string; body: string }, tools: readonly Declared[]): boolean {
  const { info, body } = fence
  const text = body.trim()
  if (!tools.some(({ name }) => text.includes(name))) return false
  if (/^[{[]/.test(text)) return bareCalls(text, tools).length > 0
  if (/^[<＜[\]]/.test(text)) return scanned(text, tools)
  const called = tools.some(({ name }) => text.includes(`${name}(`))
  return called && (/^tool/i.test(info) || text.includes('default_api.'))
}

function scanned(text: string, tools: readonly Declared[]): boolean {
  const scan = startScan(tools)
  scan.push(text)
  return scan.end().found.length > 0
}
