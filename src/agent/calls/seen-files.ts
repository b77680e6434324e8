import type { SeenFiles } from '../../tool/tool.ts'

/** Stores the hash of each file's content as the model last saw it. */
export function createSeenFiles(): SeenFiles {
  const hashes = new Map<string, string>()
  return { setHash: (path, hash) => void hashes.set(path, hash), getHash: (path) => hashes.get(path) }
}
