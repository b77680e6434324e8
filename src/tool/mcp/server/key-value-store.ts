import type { Json } from '../../../model/json.ts'

/** Where things are kept between runs, each under a name; what cannot be read is as if it were not there. */
export interface KeyValueStore {
  get(name: string): Json | undefined
  set(name: string, value: Json): void
  /** Replaces a thing by what is made of it, while no other process can change it. */
  update(name: string, next: (now: Json | undefined) => Json): void
  /** Does some work about a thing that only one process at a time may do; the others wait. */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T>
}

/** A shelf that lasts as long as the process. */
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
