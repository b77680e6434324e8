/** Returns the result of a function, or undefined if it throws. */
export function tryOrUndefined<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}
