import { stripVTControlCharacters } from 'node:util'

/** What a command printed, as one would read it: no colours, and of a line that was drawn over and over, the last state. */
export function plainOutput(output: string): string {
  const zeros = output.split('\0').length - 1
  if (zeros > output.length / 50) return `(binary output, about ${output.length} bytes)`
  return stripVTControlCharacters(output)
    .replaceAll('\r\n', '\n')
    .split('\n')
    .map((line) => (line.includes('\r') ? redrawn(line) : line))
    .join('\n')
    .replaceAll('\0', '')
}

function redrawn(line: string): string {
  return line.split('\r').findLast((state) => state !== '') ?? ''
}
