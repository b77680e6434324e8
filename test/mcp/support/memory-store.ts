import type { Json } from '../../../src/model/json.ts'
import type { KeyValueStore } from '../../../src/tool/mcp/client/key-value-store.ts'

/** A store that lasts as long as the process. */
export function createMemoryKeyValueStore(): KeyValueStore {
  const values = new Map<string, Json>()
  const pendingWork = new Map<string, Promise<unknown>>()
  return {
    get: (name) => values.get(name),
    set: (name, value) => void values.set(name, value),
    update: (name, next) => void values.set(name, next(values.get(name))),
    withLock(name, work) {
      const done = (pendingWork.get(name) ?? Promise.resolve()).then(work, work)
      pendingWork.set(name, done)
      return done
    },
  }
}
