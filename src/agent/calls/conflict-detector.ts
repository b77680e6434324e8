import type { Host } from '../../host/host.ts'
import { defined } from '../../model/defined.ts'
import { effectsConflict, type Effect, type FileIdentity } from '../../policy/effect.ts'

/** Detects conflicts between the effects of calls, also if two paths name the same file. */
interface ConflictDetector {
  /** Resolves the paths of effects before their call is scheduled. */
  resolvePaths(effects: readonly Effect[]): Promise<void>
  /** A command ran and may have created links, so earlier lookups are no longer valid. */
  invalidate(): void
  readonly hasConflict: (one: Effect, other: Effect) => boolean
}

export function createConflictDetector(host: Host): ConflictDetector {
  const identities = new Map<string, FileIdentity>()
  let isInvalidated = false
  const identityOf = (path: string): FileIdentity | undefined => (isInvalidated ? undefined : identities.get(path))
  return {
    async resolvePaths(effects) {
      for (const effect of effects) {
        if ((effect.kind === 'read' || effect.kind === 'write') && !identities.has(effect.path) && !isInvalidated)
          identities.set(effect.path, await readFileIdentity(host, effect.path))
      }
    },
    invalidate() {
      isInvalidated = true
    },
    hasConflict: (one, other) => effectsConflict(one, other, identityOf),
  }
}

async function readFileIdentity(host: Host, path: string): Promise<FileIdentity> {
  // Custom tools may name files that the host does not know; then only the path is compared.
  const real = await withFallback(() => host.files.resolve(path), path)
  const info = await withFallback(() => host.files.info(path), undefined)
  // Some file systems ignore case. On others, two files may wait for each other, which does no harm.
  const caseFolded = real.normalize('NFC').toLowerCase()
  return { path: caseFolded, ...defined({ id: info?.id }) }
}

async function withFallback<T>(work: () => Promise<T>, fallback: T): Promise<T> {
  try {
    return await work()
  } catch {
    return fallback
  }
}
