import { accessSync, constants, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { AllowedRoots } from '../files/allowed-roots.ts'

/** Never finds a program in a folder where the agent writes. */
export function findProgram(name: string, roots: AllowedRoots): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(':').filter((one) => isAbsolute(one))) {
    try {
      const real = realpathSync(join(folder, name))
      accessSync(real, constants.X_OK)
      if (!isInAllowedRoot(roots, real)) return real
    } catch {
      // Not here.
    }
  }
  return undefined
}

function isInAllowedRoot(roots: AllowedRoots, path: string): boolean {
  try {
    roots.check(path, 'read')
    return true
  } catch {
    return false
  }
}
