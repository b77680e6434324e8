import type { Session } from '../../session/session.ts'
import type { RunEvent } from '../loop/run-event.ts'

/** The topic of the note that describes where the agent is. */
export const ENVIRONMENT_TOPIC = 'environment'

/** States a note that is never summarised, unless the last one of its topic says the same. */
export function* appendPinnedNote(session: Session, topic: string, text: string): Generator<RunEvent> {
  const last = session.entries.findLast((entry) => entry.kind === 'note' && entry.topic === topic)
  if (last?.kind === 'note' && last.text === text) return
  yield { type: 'entry', entry: session.append({ kind: 'note', text, topic }) }
}

/** Has the session a note of this topic? Logs of earlier versions have none. */
export function hasPinnedNote({ entries }: Session, topic: string): boolean {
  return entries.some((entry) => entry.kind === 'note' && entry.topic === topic)
}
