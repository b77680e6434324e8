import type { SeenFiles } from '../tool/define.ts'

/** Remembers what each file held when the model last saw it. */
export function seenFiles(): SeenFiles {
  const known = new Map<string, string>()
  return { note: (path, hash) => void known.set(path, hash), known: (path) => known.get(path) }
}
