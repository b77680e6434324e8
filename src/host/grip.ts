import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs'
import { HostProblem } from './problem.ts'
import { fromRaw, toRaw } from './raw-name.ts'

/**
 * A hold on one file or folder. On Linux it is a descriptor, so that it stays the same thing whatever happens to its name,
 * and `at` is a path through that descriptor. Elsewhere `at` is only a name, which is checked again when it is opened.
 */
export interface Grip {
  readonly at: string
  readonly stats: Stats
  /** Where it is one. */
  readonly descriptor?: number
  release(): void
}

/** A descriptor that reaches a file without opening it; Node has no name for it. */
const O_PATH = 0o10000000
const pins = process.platform === 'linux' && existsSync('/proc/self/fd')
/** By our number: through /proc/self every look would follow one more link. */
const DESCRIPTORS = pins ? `/proc/${readlinkSync('/proc/self')}/fd` : ''

/** Takes hold of what is at a path. A link in the last place is held itself, not followed. */
export function grip(at: string): Grip {
  if (!pins) return { at, stats: lstatSync(toRaw(at)), release: () => undefined }
  const descriptor = openSync(toRaw(at), O_PATH | constants.O_NOFOLLOW)
  try {
    const stats = fstatSync(descriptor)
    return { at: `${DESCRIPTORS}/${descriptor}`, stats, descriptor, release: () => closeSync(descriptor) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Takes hold of a folder, and of nothing else: what else is at a path, a link too, is refused by the system itself. */
export function gripFolder(at: string): Pick<Grip, 'at' | 'release'> {
  if (!pins) {
    const held = grip(at)
    if (!held.stats.isDirectory()) throw new HostProblem('not-folder', `Not a folder: ${at}`)
    return held
  }
  const descriptor = openSync(toRaw(at), O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY)
  return { at: `${DESCRIPTORS}/${descriptor}`, release: () => closeSync(descriptor) }
}

/** Opens for reading exactly what is held, and never waits for the other end of a pipe. Gives a descriptor. */
export function openHeld(held: Grip): number {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK
  // The path through a descriptor is a link itself, so only a plain name can refuse to be one.
  const descriptor = openSync(toRaw(held.at), pins ? flags : flags | constants.O_NOFOLLOW)
  const { dev, ino } = fstatSync(descriptor)
  if (dev === held.stats.dev && ino === held.stats.ino) return descriptor
  closeSync(descriptor)
  throw new HostProblem('moved', 'The file was exchanged while it was being opened.')
}

/** Where a held folder is now; what was judged may have been moved since. Unknown where the system cannot tell. */
export function whereIs(held: Grip): string | undefined {
  return pins ? fromRaw(readlinkSync(held.at, 'buffer')) : undefined
}
