/** Something that is made, or done, when it is first asked for, and never again. */
export function late<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
