import { isObject } from '../../../model/json.ts'

const MAX_LOG_LINES = 200
const MAX_LOG_LINE_CHARS = 500

export function createLogTail(): { add(line: string): void; lines(): readonly string[] } {
  const recentLines: string[] = []
  return {
    add(line) {
      recentLines.push(line.slice(0, MAX_LOG_LINE_CHARS))
      // Dropping half of the lines at once keeps a flood cheap.
      if (recentLines.length > MAX_LOG_LINES * 2) recentLines.splice(0, recentLines.length - MAX_LOG_LINES)
    },
    lines: () => recentLines.slice(-MAX_LOG_LINES),
  }
}

export function formatLogMessage(params: unknown): string {
  const { level, data } = isObject(params) ? params : {}
  const text = typeof data === 'string' ? data : JSON.stringify(data ?? '')
  return `${typeof level === 'string' ? level : 'log'}: ${text.slice(0, MAX_LOG_LINE_CHARS)}`
}
