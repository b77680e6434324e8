import type { LogDamage } from './log/scan-log.ts'
import { type OpenCall, findOpenCalls } from './open-calls.ts'
import type { SessionLog } from './store/store.ts'

/** What a person should know of a session that was opened, in sentences; nothing if all is well. */
export function createSessionNotices(log: SessionLog): string[] {
  const { id, entries, damages, unlocked } = log
  const damageCounts = new Map<LogDamage['what'], number>()
  for (const { what } of damages) damageCounts.set(what, (damageCounts.get(what) ?? 0) + 1)
  const found = [...damageCounts].map(([what, count]) => `${count} ${DAMAGE_TEXTS[what]}`)
  return [
    ...(entries.length === 0 ? [`The log of the session ${id} is empty; it begins anew.`] : []),
    ...(found.length > 0
      ? [`The log of this session is damaged: ${found.join(', ')}. All the rest is there, and nothing was deleted.`]
      : []),
    ...createInterruptedNotices(findOpenCalls(log)),
    ...(unlocked
      ? ['The disk that holds the sessions knows no locks: do not open this session in two programs at once.']
      : []),
  ]
}

const DAMAGE_TEXTS: Record<LogDamage['what'], string> = {
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

function createInterruptedNotices(calls: readonly OpenCall[]): string[] {
  const startedCalls = calls.filter((call) => call.hasStarted === true)
  const uncertainCalls = calls.filter((call) => call.hasStarted === 'unknown')
  return [
    ...(startedCalls.length > 0
      ? [
          `${formatToolNames(startedCalls)} was interrupted when the program ended. It may have had an effect; it is not run again.`,
        ]
      : []),
    ...(uncertainCalls.length > 0
      ? [
          `The log does not show whether ${formatToolNames(uncertainCalls)} ran. It may have had an effect; it is not run again.`,
        ]
      : []),
  ]
}

/** The names of a few tools, none of them long: a log may hold any number, of any length. */
function formatToolNames(calls: readonly OpenCall[]): string {
  const names = calls
    .slice(0, MAX_NAMED_TOOLS)
    .map(({ call }) => (call.name.length > 80 ? `${call.name.slice(0, 80)}…` : call.name))
  return `${names.join(', ')}${calls.length > MAX_NAMED_TOOLS ? ` and ${calls.length - MAX_NAMED_TOOLS} more` : ''}`
}

const MAX_NAMED_TOOLS = 5
