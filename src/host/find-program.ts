import { accessSync, constants, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Roots } from './roots.ts'

/** Finds a program on the search path; never one that lies in a folder where the agent writes. */
export function findProgram(name: string, roots: Roots): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(':').filter((one) => isAbsolute(one))) {
    try {
      const real = realpathSync(join(folder, name))
      accessSync(real, constants.X_OK)
      if (!isAllowed(roots, real)) return real
    } catch {
      // Not here.
    }
  }
  return undefined
}

function isAllowed(roots: Roots, path: string): boolean {
  try {
    roots.judge(path, 'read')
    return true
  } catch {
    return false
  }
}
