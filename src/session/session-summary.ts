import { defined } from '../model/defined.ts'
import { joinTextParts } from '../model/text.ts'
import { type Entry, LOG_ENTRY_TRAITS } from './log/entry.ts'
import type { SessionSummary } from './store/store.ts'

/** `first` and `last` are the first and the last entries of the log, or all of them. */
export function createSessionSummary(
  id: string,
  open: Extract<Entry, { kind: 'open' }> | undefined,
  first: readonly Entry[],
  last: readonly Entry[],
): SessionSummary {
  const end = last.at(-1)
  return {
    id,
    folder: open?.folder ?? '',
    created: open?.at ?? 0,
    changed: end?.at ?? 0,
    title: createSessionTitle(first),
    ...readLatestActivity(last),
    ...(end && !LOG_ENTRY_TRAITS[end.kind].isBetweenRuns && { unfinished: true }),
    ...defined({ parent: open?.parent, subagent: open?.subagent }),
  }
}

/** Keeps the summary of a session up to date while entries are added, without keeping the entries. */
export function createSummaryTracker(id: string): { add(entry: Entry): void; get(): SessionSummary } {
  let open: Extract<Entry, { kind: 'open' }> | undefined
  let firstMessage: Entry | undefined
  /** The last entry of each kind; the latest of all is last. */
  const last = new Map<Entry['kind'], Entry>()
  return {
    add(entry) {
      if (entry.kind === 'open') open = entry
      if (entry.kind === 'user') firstMessage ??= entry
      last.delete(entry.kind)
      last.set(entry.kind, entry)
    },
    get: () => createSessionSummary(id, open, firstMessage ? [firstMessage] : [], [...last.values()]),
  }
}

/** The first message of the user, on one line. */
function createSessionTitle(entries: readonly Entry[]): string {
  const message = entries.find((entry) => entry.kind === 'user')
  return joinTextParts(message?.parts ?? [])
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 100)
}

/** The number of prompts and the last models. The number is read from the prompt id, `<session>#<number>`. */
function readLatestActivity(entries: readonly Entry[]): Pick<SessionSummary, 'prompts' | 'model' | 'asked'> {
  const numbers = entries.flatMap((entry) => ('prompt' in entry ? (/#(\d{1,9})$/.exec(entry.prompt)?.[1] ?? []) : []))
  const number = numbers.at(-1)
  const origin = entries.findLast((entry) => entry.kind === 'turn')?.turn.origin
  return defined({
    prompts: number === undefined ? undefined : Number(number),
    model: origin && `${origin.provider}/${origin.model}`,
    asked: entries.findLast((entry) => entry.kind === 'request')?.model,
  })
}
