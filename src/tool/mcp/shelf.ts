import type { Json } from '../../model/json.ts'

/** Where things are kept between runs, each under a name; what cannot be read is as if it were not there. */
export interface Shelf {
  get(name: string): Json | undefined
  set(name: string, value: Json): void
  /** Replaces a thing by what is made of it, while no other process can change it. */
  change(name: string, next: (now: Json | undefined) => Json): void
  /** Does some work about a thing that only one process at a time may do; the others wait. */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>
}

/** A shelf that lasts as long as the process. */
export function memoryShelf(): Shelf {
  const kept = new Map<string, Json>()
  const working = new Map<string, Promise<unknown>>()
  return {
    get: (name) => kept.get(name),
    set: (name, value) => void kept.set(name, value),
    change: (name, next) => void kept.set(name, next(kept.get(name))),
    exclusively(name, work) {
      const done = (working.get(name) ?? Promise.resolve()).then(work, work)
      working.set(name, done)
      return done
    },
  }
}
