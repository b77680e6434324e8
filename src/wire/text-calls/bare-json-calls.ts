import { matchAt, NAME_PATTERN, createPattern } from './dialects/dialect.ts'
import { extractCalls, findJsonEnd } from './json-calls.ts'
import { type TextCallTool, findDeclaredTool, type FoundCall } from './text-call-scanner.ts'

/** Parses a text that consists only of calls in JSON, without a marker, or of Groq's `name{…}</function>` (T73). */
export function parseBareCalls(whole: string, tools: readonly TextCallTool[]): readonly FoundCall[] {
  const text = whole.trim()
  const head = matchAt(CALL_HEAD, text, 0)
  const from = head?.[0].length ?? 0
  const end = /[{[]/.test(text[from] ?? '') ? findJsonEnd(text, from) : -1
  if (end < 0 || text.slice(end).trim() !== (head ? '</function>' : '')) return []
  const calls = head
    ? [{ name: head[1] ?? '', raw: text.slice(from, end) }]
    : (extractCalls(text, from, end, true) ?? [])
  const result: FoundCall[] = []
  for (const { name, raw } of calls) {
    const tool = findDeclaredTool(tools, name)
    if (!tool) return []
    result.push({ name: tool.name, raw, dialect: 'json' })
  }
  return result
}

const CALL_HEAD = createPattern(`(${NAME_PATTERN})\\s{0,4}(?=\\{)`)
