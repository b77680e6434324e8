import type { Entry } from '../../session/log/entry.ts'
import { jsonlStore } from '../../session/store/jsonl-store.ts'
import type { RunArgs } from '../args/run-args.ts'
import { findSessionSummary, resolveWorkFolder } from './assemble-agent.ts'
import { getSessionsFolder } from '../paths/folders.ts'

/** The model of the session to resume or fork, unless another model is named. */
export async function findResumedModel(args: RunArgs): Promise<string | undefined> {
  const name = args.resume ?? args.fork?.replace(/@\d+$/, '')
  if (args.model !== undefined || name === undefined) return undefined
  const store = jsonlStore(getSessionsFolder(resolveWorkFolder(args)))
  const { id, asked: requestedModel, model } = await findSessionSummary(name, store)
  // The end of the log nearly always names it; otherwise the log is read whole.
  return requestedModel ?? model ?? findLastModel((await store.read(id)).entries)
}

/** The model of the last request; in old logs without requests, the one that answered last. */
export function findLastModel(entries: readonly Entry[]): string | undefined {
  const lastRequest = entries.findLast((entry) => entry.kind === 'request')
  if (lastRequest?.kind === 'request') return lastRequest.model
  const lastTurn = entries.findLast((entry) => entry.kind === 'turn')
  return lastTurn?.kind === 'turn' ? `${lastTurn.turn.origin.provider}/${lastTurn.turn.origin.model}` : undefined
}
