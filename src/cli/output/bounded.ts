import { clipped } from '../../model/text.ts'

/** Text for a person, in which no line is longer than anybody reads. */
export function bounded(text: string): string {
  if (text.length <= LONGEST_LINE) return text
  return text
    .split('\n')
    .map((line) => clipped(line, LONGEST_LINE))
    .join('\n')
}

const LONGEST_LINE = 1000
