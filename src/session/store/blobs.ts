import { createHash } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFolder, syncFolder, writeWhole } from './durable.ts'

/** Files by the hash of their content, in a folder of their own beside the logs. */
export interface Blobs {
  readonly put: (bytes: Uint8Array) => string
  readonly get: (hash: string) => Uint8Array | undefined
  /** Removes all but these. */
  readonly keepOnly: (hashes: ReadonlySet<string>) => void
}

/** Blobs in a folder, which is made when the first one comes. */
export function blobsIn(folder: string): Blobs {
  const file = (hash: string) => join(folder, hash)

  function get(hash: string): Uint8Array | undefined {
    if (!HASH.test(hash)) return undefined
    try {
      const bytes = readFileSync(file(hash))
      return hashOf(bytes) === hash ? bytes : undefined
    } catch {
      return undefined
    }
  }

  return {
    get,
    put(bytes) {
      const hash = hashOf(bytes)
      if (get(hash)) return hash
      makeFolder(folder).forEach(syncFolder)
      const fresh = `${file(hash)}.${process.pid}`
      try {
        const handle = openSync(fresh, 'w', 0o600)
        try {
          writeWhole(handle, bytes)
          fsyncSync(handle)
        } finally {
          closeSync(handle)
        }
        renameSync(fresh, file(hash))
      } catch (error) {
        rmSync(fresh, { force: true })
        throw error
      }
      syncFolder(folder)
      return hash
    },
    keepOnly(hashes) {
      for (const name of namesIn(folder)) if (!hashes.has(name)) rmSync(file(name), { force: true })
    },
  }
}

const HASH = /^[0-9a-f]{64}$/

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
