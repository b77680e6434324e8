let reason: DOMException | undefined

/** For `abort()` at the end of each request and call: a reason of its own would capture the stack each time. */
export function getAbortReason(): DOMException {
  return (reason ??= new DOMException('This operation was aborted', 'AbortError'))
}
