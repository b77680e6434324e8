import { stripVTControlCharacters } from 'node:util'

/** What a command printed, as one would read it: no colours, and of a line that was drawn over and over, the last state. */
export function plainOutput(output: string): string {
  const zeros = output.split('\0').length - 1
  if (zeros > output.length / 50) return binaryOutput(output)
  return stripVTControlCharacters(output)
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? redrawn(line) : line))
    .join('\n')
    .replaceAll('\0', '')
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
