import { namesBelow } from './no-follow.ts'
import { foldName } from './rules.ts'

/** What is in some folders at one time. Each is listed once, when it is first asked for. */
export interface Listing {
  names(folder: string): readonly string[]
  /** A path as the names on the disk are spelled, for each way to spell it; none if its first step is not there. */
  spellings(folder: string, steps: readonly string[]): string[][]
}

/** Lists folders. A command may have kept us from listing some of its own, which are opened again. */
export function listing(): Listing {
  const lists = new Map<string, { readonly names: readonly string[]; readonly folded: Map<string, string[]> }>()
  const listed = (folder: string, steps: readonly string[]) => {
    const path = [folder, ...steps].join('/')
    const known = lists.get(path)
    if (known) return known
    const names = namesBelow(folder, steps)
    const folded = new Map<string, string[]>()
    for (const name of names) folded.set(foldName(name), [...(folded.get(foldName(name)) ?? []), name])
    lists.set(path, { names, folded })
    return { names, folded }
  }
  return {
    names: (folder) => listed(folder, []).names,
    spellings(folder, [first = '', ...deeper]) {
      let ways = (listed(folder, []).folded.get(foldName(first)) ?? []).map((name) => [name])
      for (const step of deeper)
        ways = ways.flatMap((way) => {
          const same = listed(folder, way).folded.get(foldName(step)) ?? [step]
          return same.map((name) => [...way, name])
        })
      return ways
    },
  }
}
