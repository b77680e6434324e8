export interface Closable {
  close(): Promise<void>
}

interface Subscription {
  stop(): Promise<void>
}

/** What listens for notifications. The connection is free when all have stopped, also those that nobody stopped. */
export function createSubscriptions(): Closable & Pick<Set<Subscription>, 'add' | 'delete'> {
  const all = new Set<Subscription>()
  return {
    add: (one) => all.add(one),
    delete: (one) => all.delete(one),
    async close() {
      await Promise.all([...all].map((one) => one.stop()))
      all.clear()
    },
  }
}
