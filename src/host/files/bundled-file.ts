import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** Reads a file that the build put beside the program. */
export function readBundledFile(url: URL): Promise<Buffer> {
  return readFile(fileURLToPath(url))
}
