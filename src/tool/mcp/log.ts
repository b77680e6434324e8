import { isObject } from '../../model/json.ts'

/** So many lines of a server's log are kept. */
const MOST = 200
const LONGEST = 500

/** The last lines of a log, however long it gets. */
export function lastLines(): { add(line: string): void; lines(): readonly string[] } {
  const kept: string[] = []
  return {
    add(line) {
      kept.push(line.slice(0, LONGEST))
      // Taking away half of them at once keeps a flood of lines cheap.
      if (kept.length > MOST * 2) kept.splice(0, kept.length - MOST)
    },
    lines: () => kept.slice(-MOST),
  }
}

/** What a server writes into its log, as a line. */
export function logLine(params: unknown): string {
  const { level, data } = isObject(params) ? params : {}
  const text = typeof data === 'string' ? data : JSON.stringify(data ?? '')
  return `${typeof level === 'string' ? level : 'log'}: ${text.slice(0, LONGEST)}`
}
