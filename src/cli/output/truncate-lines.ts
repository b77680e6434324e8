import { clipText } from '../../model/text.ts'

export function truncateLines(text: string): string {
  if (text.length <= MAX_LINE_CHARS) return text
  return text
    .split('\n')
    .map((line) => clipText(line, MAX_LINE_CHARS))
    .join('\n')
}

const MAX_LINE_CHARS = 1000
