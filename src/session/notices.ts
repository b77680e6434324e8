import type { Damage } from './line.ts'
import { openCalls } from './repair.ts'
import type { SessionLog } from './store/store.ts'

/** What a person should know of a session that was opened, in sentences; nothing if all is well. */
export function noticesOf({ id, entries, damages, unlocked }: SessionLog): string[] {
  const counted = new Map<Damage['what'], number>()
  for (const { what } of damages) counted.set(what, (counted.get(what) ?? 0) + 1)
  const found = [...counted].map(([what, count]) => `${count} ${WORDS[what]}`)
  return [
    ...(entries.length === 0 ? [`The log of the session ${id} is empty; it begins anew.`] : []),
    ...(found.length > 0
      ? [`The log of this session is damaged: ${found.join(', ')}. All the rest is there, and nothing was deleted.`]
      : []),
    ...openCalls(entries)
      .filter(({ begun }) => begun)
      .map(
        ({ call }) =>
          `${call.name} was interrupted when the program ended. It may have had an effect; it is not run again.`,
      ),
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
  repeated: 'repeated and read once',
  misplaced: 'out of order and put back',
  orphaned: 'beginning is missing, because what it was forked from is gone',
  circular: 'fork that leads back to itself, so its beginning is missing',
}
