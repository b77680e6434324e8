import type { LogDamage } from './log/scan-log.ts'
import { type OpenCall, findOpenCalls } from './open-calls.ts'
import type { SessionLog } from './store/store.ts'

/** Messages to the user about a session that was opened: damage, interrupted calls, missing locks. */
export function createSessionNotices(log: SessionLog): string[] {
  const { id, entries, damages, unlocked } = log
  const damageCounts = new Map<LogDamage['what'], number>()
  for (const { what } of damages) damageCounts.set(what, (damageCounts.get(what) ?? 0) + 1)
  const found = [...damageCounts].map(([what, count]) => `${count} ${DAMAGE_TEXTS[what]}`)
  const calls = findOpenCalls(log)
  const started = formatToolNames(calls.filter((call) => call.hasStarted === true))
  const uncertain = formatToolNames(calls.filter((call) => call.hasStarted === 'unknown'))
  return [
    entries.length === 0 && `The log of the session ${id} is empty, so the session starts from the beginning.`,
    found.length > 0 &&
      `The log of this session is damaged: ${found.join(', ')}. Everything else was read, and the file was not changed.`,
    started !== undefined &&
      `${started} was interrupted when the program ended. It may have had an effect, and does not run again.`,
    uncertain !== undefined &&
      `The log does not show whether ${uncertain} ran. It may have had an effect, and does not run again.`,
    unlocked === true &&
      'The file system of the sessions has no locks. Do not open this session in two processes at the same time.',
  ].filter((notice) => notice !== false)
}

const DAMAGE_TEXTS: Record<LogDamage['what'], string> = {
  torn: 'incomplete, skipped',
  unreadable: 'unreadable, skipped',
  'too-long': 'too large, skipped',
  altered: 'altered, skipped',
  unlinked: 'used, although the entry before it is missing',
  unproved: 'unverified, used without calls and decisions',
  foreign: 'unknown to this version, skipped',
  parallel: 'written by two processes at the same time, used',
  repeated: 'repeated, used once',
  misplaced: 'out of order, sorted',
  orphaned: 'parent session missing, so the start is missing',
  circular: 'fork of itself, so the start is missing',
}

/** A log may have any number of tool names of any length. */
function formatToolNames(calls: readonly OpenCall[]): string | undefined {
  if (calls.length === 0) return undefined
  const names = calls
    .slice(0, MAX_NAMED_TOOLS)
    .map(({ call }) => (call.name.length > 80 ? `${call.name.slice(0, 80)}…` : call.name))
  return `${names.join(', ')}${calls.length > MAX_NAMED_TOOLS ? ` and ${calls.length - MAX_NAMED_TOOLS} more` : ''}`
}

const MAX_NAMED_TOOLS = 5
