/**
 * Names of models in the order in which a person may want them: the usual one, its family, the newer before the older. The
 * catalogue has no dates, so the version in a name must say how new it is.
 */
export function newestFirst(ids: readonly string[], usual: string | undefined): string[] {
  const family = familyOf(usual ?? '')
  const rank = (id: string): readonly number[] => [
    Number(id === usual),
    Number(family !== '' && familyOf(id) === family),
    ...versionOf(id),
  ]
  const ranked = ids.map((id) => ({ id, rank: rank(id) }))
  return ranked.toSorted((one, other) => compare(other.rank, one.rank)).map(({ id }) => id)
}

function familyOf(id: string): string {
  return /^[a-z]+/i.exec(id)?.[0].toLowerCase() ?? ''
}

/** `gpt-5.4-mini`: 5 and 4. Dates and sizes (`-2512`, `-70b`, `8x7b`) are no versions. */
function versionOf(id: string): readonly [number, number] {
  const [, major = '-1', minor = '0'] = /(?<![\d.])(\d{1,2})(?:[.-](\d{1,2}))?(?![\dbx]|\.\d)/i.exec(id) ?? []
  return [Number(major), Number(minor)]
}

function compare(one: readonly number[], other: readonly number[]): number {
  return one.map((rank, at) => rank - (other[at] ?? 0)).find((difference) => difference !== 0) ?? 0
}
