import type { Damage } from './scan.ts'
import { type OpenCall, openCalls } from './repair.ts'
import type { SessionLog } from './store/store.ts'

/** What a person should know of a session that was opened, in sentences; nothing if all is well. */
export function noticesOf(log: SessionLog): string[] {
  const { id, entries, damages, unlocked } = log
  const counted = new Map<Damage['what'], number>()
  for (const { what } of damages) counted.set(what, (counted.get(what) ?? 0) + 1)
  const found = [...counted].map(([what, count]) => `${count} ${WORDS[what]}`)
  return [
    ...(entries.length === 0 ? [`The log of the session ${id} is empty; it begins anew.`] : []),
    ...(found.length > 0
      ? [`The log of this session is damaged: ${found.join(', ')}. All the rest is there, and nothing was deleted.`]
      : []),
    ...interruptedNotices(openCalls(log)),
    ...(unlocked
      ? ['The disk that holds the sessions knows no locks: do not open this session in two programs at once.']
      : []),
  ]
}

const WORDS: Record<Damage['what'], string> = {
  torn: 'event was cut off and dropped',
  unreadable: 'unreadable and dropped',
  'too-long': 'too large to be read',
  altered: 'altered and dropped',
  unlinked: 'kept, though the event before it is lost',
  unproved: 'could not be checked, so that calls and decisions in it are not used',
  foreign: 'not known to this version and set aside',
  parallel: 'written by two programs at once and kept',
  repeated: 'repeated and read once',
  misplaced: 'out of order and put back',
  orphaned: 'beginning is missing, because what it was forked from is gone',
  circular: 'fork that leads back to itself, so its beginning is missing',
}

function interruptedNotices(calls: readonly OpenCall[]): string[] {
  const begun = calls.filter((call) => call.begun === true)
  const unknown = calls.filter((call) => call.begun === 'unknown')
  return [
    ...(begun.length > 0
      ? [`${namesOf(begun)} was interrupted when the program ended. It may have had an effect; it is not run again.`]
      : []),
    ...(unknown.length > 0
      ? [`The log does not show whether ${namesOf(unknown)} ran. It may have had an effect; it is not run again.`]
      : []),
  ]
}

/** The names of a few tools, none of them long: a log may hold any number, of any length. */
function namesOf(calls: readonly OpenCall[]): string {
  const names = calls
    .slice(0, NAMED)
    .map(({ call }) => (call.name.length > 80 ? `${call.name.slice(0, 80)}…` : call.name))
  return `${names.join(', ')}${calls.length > NAMED ? ` and ${calls.length - NAMED} more` : ''}`
}

const NAMED = 5
