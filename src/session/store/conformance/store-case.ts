import type { Store } from '../store.ts'

/** How the test cases get the stores that they test. */
export interface StoreSetup {
  /** A new, empty store. */
  readonly createStore: () => Store | Promise<Store>
  /** The same sessions as another process would see them. */
  readonly reopen: (store: Store) => Store | Promise<Store>
  /** Makes everything fail that is written from now on, as a full disk or a lost server would. */
  readonly failWrites?: (store: Store) => void | Promise<void>
  /**
   * Makes a store look as if its process were paused, or cut off from the rest, until the returned function is called: nothing
   * that it sends is received before.
   */
  readonly pause?: (store: Store) => (() => void) | Promise<() => void>
  /** How long a session stays locked after its process was paused, in milliseconds, if its lock has an end. */
  readonly leaseMs?: number
}

/** One requirement of every store. `run` rejects if the store does not meet it. */
export interface StoreCase {
  readonly name: string
  /** A case that needs what a setup does not have is left out. */
  readonly needs?: 'failWrites' | 'pause' | 'leaseMs'
  readonly run: (setup: StoreSetup) => Promise<void>
}
