import type { Host } from '../../host/host.ts'
import { effectsConflict, type Effect, type FileIdentity } from '../../policy/effect.ts'

/** Knows what the paths of a turn's calls really are, so that two names of one file count as one. */
export interface ConflictDetector {
  /** Looks up the paths of effects; before a call is scheduled. */
  resolvePaths(effects: readonly Effect[]): Promise<void>
  /** A command ran, which may have made links: nothing that was looked up before it can be relied on. */
  invalidate(): void
  readonly hasConflict: (one: Effect, other: Effect) => boolean
}

/** The places of one turn. */
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
  // A library's own tools may name files that its host, if it has one, does not know: then the name is all there is.
  const real = await withFallback(() => host.files.resolve(path), path)
  const info = await withFallback(() => host.files.info(path), undefined)
  // Some disks do not tell two spellings apart. On others two files wait for each other, which harms nobody.
  const caseFolded = real.normalize('NFC').toLowerCase()
  return { path: caseFolded, ...(info?.id !== undefined && { id: info.id }) }
}

async function withFallback<T>(work: () => Promise<T>, fallback: T): Promise<T> {
  try {
    return await work()
  } catch {
    return fallback
  }
}
