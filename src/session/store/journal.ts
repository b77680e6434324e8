import { closeSync, existsSync, fsync, openSync, readFileSync, renameSync } from 'node:fs'
import { dirname } from 'node:path'
import type { JsonObject } from '../../model/json.ts'
import { isObject, tryParseJson } from '../../model/json.ts'
import { createPrivateFolder, fsyncFolder, writeAllBytes, writeDurableFile } from './durable-write.ts'

/** A file of changes, one JSON object a line, from which a state can be made again after a crash. */
export interface Journal {
  /** Adds a change without waiting for the disk. Throws if it cannot be written, and from then on always. */
  append(change: JsonObject): void
  /** Resolves when all changes so far are on the disk. Calls that overlap share one sync. */
  flush(): Promise<void>
  /** Replaces all changes by fewer ones that make the same state. */
  rewrite(changes: Iterable<JsonObject>): void
  /** The number of changes in the file. */
  readonly length: number
  close(): Promise<void>
}

/**
 * The changes of a journal, in order. The last line may be torn by a crash: it was not acknowledged, and is left out. Any
 * other line that cannot be read is an error, because what was acknowledged must not disappear silently.
 */
export function readJournal(path: string): JsonObject[] {
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n')
  return lines.flatMap((line, at) => {
    const change = tryParseJson(line)
    if (isObject(change)) return [change as JsonObject]
    if (at >= lines.length - 1) return []
    throw new Error(`the line ${at + 1} of ${path} is damaged; remove it to go on without it`)
  })
}

/** Opens a journal that begins with these changes. */
export function createJournal(path: string, initial: Iterable<JsonObject>): Journal {
  createPrivateFolder(dirname(path)).forEach(fsyncFolder)
  let handle = -1
  let length = 0
  let [written, synced] = [0, 0]
  let syncing: Promise<void> | undefined
  let failure: { readonly error: unknown } | undefined

  function guard<T>(work: () => T): T {
    if (failure) throw failure.error
    try {
      return work()
    } catch (error) {
      // After a failure it is unknown what is on the disk.
      failure = { error }
      throw error
    }
  }

  function rewrite(changes: Iterable<JsonObject>): void {
    guard(() => {
      const next = `${path}.new`
      let count = 0
      writeDurableFile(next, 'w', (file) => {
        for (const change of changes) {
          writeAllBytes(file, Buffer.from(`${JSON.stringify(change)}\n`))
          count++
        }
      })
      renameSync(next, path)
      fsyncFolder(dirname(path))
      const previous = handle
      handle = openSync(path, 'a')
      length = count
      synced = written
      // A sync in progress still uses the old file.
      if (previous >= 0)
        void Promise.resolve(syncing).then(
          () => closeSync(previous),
          () => closeSync(previous),
        )
    })
  }

  function sync(): Promise<void> {
    const upTo = written
    const file = handle
    return new Promise((resolve, reject) => {
      fsync(file, (error) => {
        if (error) failure ??= { error }
        else synced = Math.max(synced, upTo)
        if (error) reject(error)
        else resolve()
      })
    })
  }

  rewrite(initial)
  return {
    get length() {
      return length
    },
    append(change) {
      guard(() => writeAllBytes(handle, Buffer.from(`${JSON.stringify(change)}\n`)))
      written++
      length++
    },
    async flush() {
      const target = written
      while (synced < target) {
        if (failure) throw failure.error
        syncing ??= sync().finally(() => (syncing = undefined))
        await syncing
      }
      if (failure) throw failure.error
    },
    rewrite,
    async close() {
      if (handle < 0) return
      await this.flush().catch(() => undefined)
      const open = handle
      handle = -1
      failure ??= { error: new Error(`${path} is closed`) }
      if (open >= 0) closeSync(open)
    },
  }
}
