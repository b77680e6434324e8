/**
 * Passes on what this process writes to standard error, which would corrupt the screen, unless standard error is
 * redirected. Returns a function that restores it.
 */
export function captureStderr(onText: (text: string) => void): () => void {
  const { stderr } = process
  if (!stderr.isTTY) return () => undefined
  const write = stderr.write.bind(stderr)
  stderr.write = (text: string | Uint8Array): boolean => {
    onText(typeof text === 'string' ? text : new TextDecoder().decode(text))
    return true
  }
  return () => void (stderr.write = write)
}
