import type { Backend } from './backend.ts'

/** The backend that many machines share. It is loaded only when it is used. */
export async function openDatabaseBackend(url: string, onError: (message: string) => void): Promise<Backend> {
  const { createDurableBackend } = await import('./durable/index.ts')
  return createDurableBackend({ url, onError })
}
