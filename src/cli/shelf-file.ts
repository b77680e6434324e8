import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Json } from '../model/json.ts'
import type { Shelf } from '../tool/mcp/shelf.ts'

/** A shelf in a folder that only this person can read: each thing is a file. */
export function fileShelf(folder: string): Shelf {
  return {
    get(name) {
      try {
        return JSON.parse(readFileSync(join(folder, fileName(name)), 'utf8')) as Json
      } catch {
        return undefined
      }
    },
    set(name, value) {
      const path = join(folder, fileName(name))
      const fresh = `${path}.${process.pid}`
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        rmSync(fresh, { force: true })
        // Written beside the file and then put in its place, so that nobody ever sees half of it.
        writeFileSync(fresh, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: 'wx' })
        renameSync(fresh, path)
      } catch {
        // What cannot be kept is asked for again the next time.
        rmSync(fresh, { force: true })
      }
    },
  }
}

/** A name that a person recognises, and that no other thing has. */
function fileName(name: string): string {
  const readable = name.replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 60)
  return `${readable}.${createHash('sha256').update(name).digest('hex').slice(0, 8)}.json`
}
