import { stripVTControlCharacters } from 'node:util'
import { countInvisible, escapeInvisible } from '../../text/escape-names.ts'

/**
 * What a command printed, as one would read it: no colours, of a line that was drawn over and over the last state, and what cannot
 * be seen as escapes.
 */
export function cleanOutput(output: string): string {
  const text = stripVTControlCharacters(output)
  if (countInvisible(text) > text.length / 20) return describeBinaryOutput(output)
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  return escapeInvisible(lines.map((line) => (line.includes('\r') ? keepLastRedraw(line) : line)).join('\n'))
}

/** What is no text is not shown; but how much there was, and where all of it is, must not be lost with it. */
function describeBinaryOutput(output: string): string {
  const gap = /\[\.\.\. (\d+) bytes are left out.*\]/.exec(output)
  const size = output.length - (gap?.[0].length ?? 0) + Number(gap?.[1] ?? 0)
  return `(binary output, about ${size} bytes)${gap ? ` ${gap[0]}` : ''}`
}

function keepLastRedraw(line: string): string {
  return line.split('\r').findLast((state) => state !== '') ?? ''
}
