import type { Json } from '../../../model/json.ts'

/** Values that are kept between runs, by name; unreadable ones count as missing. */
export interface KeyValueStore {
  get(name: string): Json | undefined
  set(name: string, value: Json): void
  /** Replaces a value while no other process can change it. */
  update(name: string, next: (now: Json | undefined) => Json): void
  /** Only one process at a time does the work; the others wait. */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T>
}
