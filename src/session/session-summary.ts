import { joinTextParts } from '../model/text.ts'
import { defined } from '../model/defined.ts'
import { type Entry, ENTRY_TRAITS } from './log/entry.ts'
import type { SessionSummary } from './store/store.ts'

export function createSessionSummary(entries: readonly Entry[]): SessionSummary {
  const opens = entries.filter((entry) => entry.kind === 'open')
  const open = opens.at(-1)
  return {
    id: open?.session ?? '',
    folder: open?.folder ?? '',
    created: open?.at ?? 0,
    changed: entries.at(-1)?.at ?? 0,
    title: createSessionTitle(entries),
    ...readLatestActivity(entries),
    ...(isUnfinishedSession(entries.at(-1)) && { unfinished: true }),
    ...defined({ parent: open?.parent }),
  }
}

/** The first message of the user, on one line. */
export function createSessionTitle(entries: readonly Entry[]): string {
  const firstUserEntry = entries.find((entry) => entry.kind === 'user')
  return firstUserEntry?.kind === 'user'
    ? joinTextParts(firstUserEntry.parts).replace(/\s+/g, ' ').trim().slice(0, 100)
    : ''
}

/** The number of prompts and the last models. The number is read from the prompt id, `<session>#<number>`. */
export function readLatestActivity(entries: readonly Entry[]): Pick<SessionSummary, 'prompts' | 'model' | 'asked'> {
  const numbers = entries.flatMap((entry) => ('prompt' in entry ? (/#(\d{1,9})$/.exec(entry.prompt)?.[1] ?? []) : []))
  const number = numbers.at(-1)
  const turn = entries.findLast((entry) => entry.kind === 'turn')
  const request = entries.findLast((entry) => entry.kind === 'request')
  const origin = turn?.kind === 'turn' ? turn.turn.origin : undefined
  return {
    ...defined({
      prompts: number === undefined ? undefined : Number(number),
      model: origin && `${origin.provider}/${origin.model}`,
      asked: request?.kind === 'request' ? request.model : undefined,
    }),
  }
}

/** Did the last run not end? */
export function isUnfinishedSession(last: Entry | undefined): boolean {
  return last !== undefined && !ENTRY_TRAITS[last.kind].isBetweenRuns
}
