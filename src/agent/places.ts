import type { Host } from '../host/host.ts'
import { conflict, type Effect, type FilePlace } from '../policy/effect.ts'

/** Knows what the paths of a turn's calls really are, so that two names of one file count as one. */
export interface Places {
  /** Looks up the paths of effects; before a call is scheduled. */
  learn(effects: readonly Effect[]): Promise<void>
  /** A command ran, which may have made links: nothing that was looked up before it can be relied on. */
  forget(): void
  readonly conflict: (one: Effect, other: Effect) => boolean
}

/** The places of one turn. */
export function placesOn(host: Host): Places {
  const known = new Map<string, FilePlace>()
  let isForgotten = false
  const placeOf = (path: string): FilePlace | undefined => (isForgotten ? undefined : known.get(path))
  return {
    async learn(effects) {
      for (const effect of effects) {
        if ((effect.kind === 'read' || effect.kind === 'write') && !known.has(effect.path) && !isForgotten)
          known.set(effect.path, await placeAt(host, effect.path))
      }
    },
    forget() {
      isForgotten = true
    },
    conflict: (one, other) => conflict(one, other, placeOf),
  }
}

async function placeAt(host: Host, path: string): Promise<FilePlace> {
  // A library's own tools may name files that its host, if it has one, does not know: then the name is all there is.
  const real = await attempt(() => host.files.resolve(path), path)
  const info = await attempt(() => host.files.info(path), undefined)
  // Some disks do not tell two spellings apart. On others two files wait for each other, which harms nobody.
  const folded = real.normalize('NFC').toLowerCase()
  return { path: folded, ...(info?.id !== undefined && { id: info.id }) }
}

async function attempt<T>(work: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await work()
  } catch {
    return otherwise
  }
}
