import { accessSync, constants, realpathSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { AllowedRoots } from '../files/allowed-roots.ts'
import { tryFileOperation } from '../sandbox/protect/no-follow-files.ts'

/** Never finds a program in a folder where the agent writes. */
export function findProgram(name: string, roots: AllowedRoots): string | undefined {
  for (const folder of (process.env['PATH'] ?? '').split(':').filter((one) => isAbsolute(one))) {
    try {
      const real = realpathSync(join(folder, name))
      accessSync(real, constants.X_OK)
      const isAllowedPath = tryFileOperation(() => roots.check(real, 'read'))
      if (!isAllowedPath) return real
    } catch {
      // Not here.
    }
  }
  return undefined
}
