import { joinTextParts } from '../model/text.ts'
import type { Entry } from './log/entry.ts'
import type { SessionSummary } from './store/store.ts'

/** What a list of sessions shows of one. */
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
    ...(open?.parent && { parent: open.parent }),
  }
}

/** The first thing that the person said, on one line. */
export function createSessionTitle(entries: readonly Entry[]): string {
  const firstUserEntry = entries.find((entry) => entry.kind === 'user')
  return firstUserEntry?.kind === 'user'
    ? joinTextParts(firstUserEntry.parts).replace(/\s+/g, ' ').trim().slice(0, 100)
    : ''
}

/** How many prompts there were up to the last of these entries, and who answered last. Of a prompt's name the number is enough. */
export function readLatestActivity(entries: readonly Entry[]): Pick<SessionSummary, 'prompts' | 'model' | 'asked'> {
  const numbers = entries.flatMap((entry) => ('prompt' in entry ? (/#(\d{1,9})$/.exec(entry.prompt)?.[1] ?? []) : []))
  const number = numbers.at(-1)
  const turn = entries.findLast((entry) => entry.kind === 'turn')
  const request = entries.findLast((entry) => entry.kind === 'request')
  const origin = turn?.kind === 'turn' ? turn.turn.origin : undefined
  return {
    ...(number !== undefined && { prompts: Number(number) }),
    ...(origin && { model: `${origin.provider}/${origin.model}` }),
    ...(request?.kind === 'request' && { asked: request.model }),
  }
}

/** Is this the last entry of a session that was left in the middle of a run? */
export function isUnfinishedSession(last: Entry | undefined): boolean {
  return last !== undefined && !IDLE_ENTRY_KINDS.has(last.kind)
}

/** Entries that stand between two runs. */
const IDLE_ENTRY_KINDS = new Set<Entry['kind']>(['open', 'note', 'change', 'undo', 'close'])
