import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../../model/json.ts'
import type { KeyValueStore } from '../../tool/mcp/client/key-value-store.ts'
import { updatePrivateFile, withFileLock } from '../../agent/user-files/private-file.ts'
import { sha256Hex } from '../../host/files/sha256.ts'

/** A store in a private folder: each value is a file. */
export function createFileKeyValueStore(folder: string): KeyValueStore {
  const pathOf = (name: string) => join(folder, toFileName(name))
  function get(name: string): Json | undefined {
    try {
      return JSON.parse(readFileSync(pathOf(name), 'utf8')) as Json
    } catch {
      return undefined
    }
  }
  function change(name: string, next: (now: Json | undefined) => Json): void {
    try {
      updatePrivateFile(pathOf(name), () => `${JSON.stringify(next(get(name)))}\n`)
    } catch {
      // A value that cannot be stored is fetched again the next time.
    }
  }
  return {
    get,
    update: change,
    set: (name, value) => change(name, () => value),
    withLock: (name, work) => withFileLock(`${pathOf(name)}.work`, work),
  }
}

/** Recognisable, and unique by hash. */
function toFileName(name: string): string {
  const readable = name.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 60)
  return `${readable}.${sha256Hex(name).slice(0, 8)}.json`
}
