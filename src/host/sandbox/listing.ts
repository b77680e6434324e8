import { namesBelow } from './no-follow.ts'
import { foldName } from './rules.ts'

/** What is in some folders at one time. Each is listed once, when it is first asked for. */
export interface Listing {
  names(folder: string): readonly string[]
  /** A path as the names on the disk are spelled, for each way to spell it; none if its first step is not there. */
  spellings(folder: string, steps: readonly string[]): string[][]
  /** The same for the folders themselves; those inside of them are listed again. */
  again(): Listing
}

interface Listed {
  readonly names: readonly string[]
  readonly folded: Spellings
}

/** Lists folders. A command may have kept us from listing some of its own, which are opened again. */
export function listing(tops = new Map<string, Listed>()): Listing {
  const deeper = new Map<string, Listed>()
  const listed = (folder: string, steps: readonly string[]): Listed => {
    const lists = steps.length === 0 ? tops : deeper
    const path = [folder, ...steps].join('/')
    const known = lists.get(path)
    if (known) return known
    const names = namesBelow(folder, steps)
    const made = { names, folded: spellingsOf(names) }
    lists.set(path, made)
    return made
  }
  return {
    names: (folder) => listed(folder, []).names,
    spellings(folder, [first = '', ...rest]) {
      let ways = (listed(folder, []).folded.get(foldName(first)) ?? []).map((name) => [name])
      for (const step of rest)
        ways = ways.flatMap((way) => {
          const same = listed(folder, way).folded.get(foldName(step)) ?? [step]
          return same.map((name) => [...way, name])
        })
      return ways
    },
    again: () => listing(tops),
  }
}

type Spellings = ReadonlyMap<string, readonly string[]>

/** Names by what they are on a disk that does not tell capital letters apart. */
export function spellingsOf(names: readonly string[]): Spellings {
  const found = new Map<string, string[]>()
  for (const name of names) {
    const folded = foldName(name)
    const same = found.get(folded)
    if (same) same.push(name)
    else found.set(folded, [name])
  }
  return found
}
