import { spawnSync } from 'node:child_process'

/** The `skip` option of a test that needs a program which not every machine has. */
export function skipWithout(program: string): false | string {
  return spawnSync('which', [program]).status === 0 ? false : `${program} is not installed`
}
