import type { Backend } from './backend.ts'

/** The backend that many machines share. It is loaded only when it is used. */
export function openDatabaseBackend(_url: string, _onError: (message: string) => void): Promise<Backend> {
  return Promise.reject(new Error('this build has no support for databases'))
}
