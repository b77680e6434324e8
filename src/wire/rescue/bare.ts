import { match, NAME, pattern } from './dialect.ts'
import { callsIn, jsonEnd } from './json.ts'
import { type Declared, declared, type Found } from './scan.ts'

/** Reads a text that is nothing but calls in JSON, without a marker; or, as Groq quotes it, `name{…}</function>` (T73). */
export function bareCalls(whole: string, tools: readonly Declared[]): readonly Found[] {
  const text = whole.trim()
  const head = match(HEAD, text, 0)
  const from = head?.[0].length ?? 0
  const end = /[{[]/.test(text[from] ?? '') ? jsonEnd(text, from) : -1
  if (end < 0 || text.slice(end).trim() !== (head ? '</function>' : '')) return []
  const calls = head ? [{ name: head[1] ?? '', raw: text.slice(from, end) }] : (callsIn(text, from, end, true) ?? [])
  const found: Found[] = []
  for (const { name, raw } of calls) {
    const tool = declared(tools, name)
    if (!tool) return []
    found.push({ name: tool.name, raw, dialect: 'json' })
  }
  return found
}

const HEAD = pattern(`(${NAME})\\s{0,4}(?=\\{)`)
