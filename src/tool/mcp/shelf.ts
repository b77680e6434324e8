import type { Json } from '../../model/json.ts'

/** Where things are kept between runs, each under a name; what cannot be read is as if it were not there. */
export interface Shelf {
  get(name: string): Json | undefined
  set(name: string, value: Json): void
}

/** A shelf that lasts as long as the process. */
export function memoryShelf(): Shelf {
  const kept = new Map<string, Json>()
  return { get: (name) => kept.get(name), set: (name, value) => void kept.set(name, value) }
}
