/** Creates the value at the first call, and returns the same value from then on. */
export function lazy<T>(create: () => T): () => T {
  let cached: { readonly value: T } | undefined
  return () => (cached ??= { value: create() }).value
}
