/** Headers with lower-case names, whose values are lists separated by commas. */
export type HeaderLists = Readonly<Record<string, string>>

/** The lists of both, each value once. Other headers of `base` stay as they are. */
export function mergeHeaderLists<Headers extends HeaderLists>(base: Headers, added: HeaderLists = {}): Headers {
  const merged: Record<string, string> = { ...base }
  for (const [name, list] of Object.entries(added)) {
    const values = `${merged[name] ?? ''},${list}`.split(',').map((value) => value.trim())
    merged[name] = [...new Set(values.filter((value) => value !== ''))].join(',')
  }
  return merged as Headers
}
