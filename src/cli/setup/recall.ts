import type { Entry } from '../../session/entry.ts'
import { jsonlStore } from '../../session/store/jsonl.ts'
import type { RunArgs } from '../line/args.ts'
import { summaryNamed, workFolder } from './assemble.ts'
import { sessionsFolder } from '../own/places.ts'

/** The model of the session that is to be gone on with, if there is one and no other model is named. */
export function recalledModel(args: RunArgs): string | undefined {
  const name = args.resume ?? args.fork?.replace(/@\d+$/, '')
  if (args.model !== undefined || name === undefined) return undefined
  const store = jsonlStore(sessionsFolder(workFolder(args)))
  const { id, asked, model } = summaryNamed(name, store)
  // The end of the log tells, nearly always: a long log is not read twice.
  return asked ?? model ?? lastModel(store.read(id).entries)
}

/** The model that was asked last; in logs that do not say so, the one that answered last. */
export function lastModel(entries: readonly Entry[]): string | undefined {
  const asked = entries.findLast((entry) => entry.kind === 'request')
  if (asked?.kind === 'request') return asked.model
  const answered = entries.findLast((entry) => entry.kind === 'turn')
  return answered?.kind === 'turn' ? `${answered.turn.origin.provider}/${answered.turn.origin.model}` : undefined
}
