import type { Session } from '../../session/session.ts'
import type { RunEvent } from '../loop/run-event.ts'

export const ENVIRONMENT_TOPIC = 'environment'

/** Adds a note that no compaction removes, unless the last one of its topic has the same text. */
export function* appendPinnedNote(session: Session, topic: string, text: string): Generator<RunEvent> {
  const notes = session.entries.filter((entry) => entry.kind === 'note')
  if (notes.findLast((note) => note.topic === topic)?.text === text) return
  yield { type: 'entry', entry: session.append({ kind: 'note', text, topic }) }
}

/** Logs of earlier versions have no pinned notes. */
export function hasPinnedNote({ entries }: Session, topic: string): boolean {
  return entries.some((entry) => entry.kind === 'note' && entry.topic === topic)
}
