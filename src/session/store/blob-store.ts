import { readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createPrivateFolder, fsyncFolder, writeAllBytes, writeDurableFile } from './durable-write.ts'
import { sha256Hex } from './sha256.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'

/** Files named by the hash of their content, in a folder beside the logs. */
interface BlobStore {
  readonly put: (bytes: Uint8Array) => string
  readonly get: (hash: string) => Uint8Array | undefined
  readonly removeAllExcept: (hashes: ReadonlySet<string>) => void
}

/** Blobs in a folder, which is created with the first one. */
export function createBlobStore(folder: string): BlobStore {
  const file = (hash: string) => join(folder, hash)

  function get(hash: string): Uint8Array | undefined {
    if (!HASH_PATTERN.test(hash)) return undefined
    const bytes = tryOrUndefined(() => readFileSync(file(hash)))
    return bytes && sha256Hex(bytes) === hash ? bytes : undefined
  }

  return {
    get,
    put(bytes) {
      const hash = sha256Hex(bytes)
      if (get(hash)) return hash
      createPrivateFolder(folder).forEach(fsyncFolder)
      const temporaryFile = `${file(hash)}.${process.pid}`
      try {
        writeDurableFile(temporaryFile, 'w', (handle) => writeAllBytes(handle, bytes))
        renameSync(temporaryFile, file(hash))
      } catch (error) {
        rmSync(temporaryFile, { force: true })
        throw error
      }
      fsyncFolder(folder)
      return hash
    },
    removeAllExcept(hashes) {
      const names = tryOrUndefined(() => readdirSync(folder)) ?? []
      for (const name of names) if (!hashes.has(name)) rmSync(file(name), { force: true })
    },
  }
}

const HASH_PATTERN = /^[0-9a-f]{64}$/
