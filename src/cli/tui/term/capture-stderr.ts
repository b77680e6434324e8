/**
 * While the screen is ours, what this program writes to standard error is handed on instead: written there it would tear
 * the screen. Where standard error is no terminal, it goes its way. Gives the way back.
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
