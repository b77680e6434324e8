import { readFileSync } from 'node:fs'

/** The fields of a `stat` file in /proc, from the state on. The program's name before them may contain anything. */
export function readStatFields(path: string): string[] {
  const stat = readFileSync(path, 'latin1')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}
