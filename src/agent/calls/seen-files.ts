import type { SeenFiles } from '../../tool/tool.ts'

/** Remembers what each file held when the model last saw it. */
export function createSeenFiles(): SeenFiles {
  const hashes = new Map<string, string>()
  return { setHash: (path, hash) => void hashes.set(path, hash), getHash: (path) => hashes.get(path) }
}
