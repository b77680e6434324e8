import type { SessionSummary } from '../../session/store/store.ts'
import { ApiError } from '../http/api-error.ts'

type Position = Pick<SessionSummary, 'id' | 'created'>

/** The place after a session in the list. */
export function toCursor({ created, id }: Position): string {
  return `${created}.${id}`
}

export function parseCursor(cursor: string | null): Position | undefined {
  if (cursor === null) return undefined
  const match = /^(\d{1,16})\.([A-Za-z0-9][A-Za-z0-9._-]{0,127})$/.exec(cursor)
  if (!match) throw new ApiError('invalid-request', '“before” is not the `next` of a page.')
  return { created: Number(match[1]), id: match[2] ?? '' }
}
