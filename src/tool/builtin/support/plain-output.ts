import { stripVTControlCharacters } from 'node:util'
import { countUnseen, escapeUnseen } from '../../text/escape.ts'

/**
 * What a command printed, as one would read it: no colours, of a line that was drawn over and over the last state, and what cannot
 * be seen as escapes.
 */
export function plainOutput(output: string): string {
  const text = stripVTControlCharacters(output)
  if (countUnseen(text) > text.length / 20) return binaryOutput(output)
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  return escapeUnseen(lines.map((line) => (line.includes('\r') ? redrawn(line) : line)).join('\n'))
}

/** What is no text is not shown; but how much there was, and where all of it is, must not be lost with it. */
function binaryOutput(output: string): string {
  const gap = /\[\.\.\. (\d+) bytes are left out.*\]/.exec(output)
  const size = output.length - (gap?.[0].length ?? 0) + Number(gap?.[1] ?? 0)
  return `(binary output, about ${size} bytes)${gap ? ` ${gap[0]}` : ''}`
}

function redrawn(line: string): string {
  return line.split('\r').findLast((state) => state !== '') ?? ''
}
