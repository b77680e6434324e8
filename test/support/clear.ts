import { rmSync } from 'node:fs'

/**
 * Removes a folder in which a process that has just ended, or is ending, may still be writing.
 * `maxRetries` of `rmSync` tries only the last `rmdir` again and never looks for what has come in since.
 */
export function clearAway(path: string): void {
  for (let left = 50; ; left--) {
    try {
      rmSync(path, { recursive: true, force: true })
      return
    } catch (error) {
      if (left === 0) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    }
  }
}
