/** A value that is made when it is first asked for: patterns over all of Unicode take long to make, and few runs need them. */
export function late<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
