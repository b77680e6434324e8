import { stripVTControlCharacters } from 'node:util'
import type { CommandResult } from '../../../host/host.ts'
import { countInvisibleCharacters, escapeInvisible } from '../../text/escape-file-names.ts'

/** Removes colours and redrawn states, and escapes invisible characters. Of binary output only the size is left. */
export function cleanOutput(
  output: string,
  { omittedBytes = 0, outputFile }: Pick<CommandResult, 'omittedBytes' | 'outputFile'> = {},
): string {
  const text = stripVTControlCharacters(output)
  if (countInvisibleCharacters(text) > text.length / 20) {
    const whole = omittedBytes > 0 ? `; the whole output is in ${outputFile}` : ''
    return `(binary output, about ${output.length + omittedBytes} bytes${whole})`
  }
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  return escapeInvisible(lines.map((line) => (line.includes('\r') ? keepLastRedraw(line) : line)).join('\n'))
}

function keepLastRedraw(line: string): string {
  return line.split('\r').findLast((state) => state !== '') ?? ''
}
