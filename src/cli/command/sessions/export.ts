import { isObject, type Json, type JsonObject } from '../../../model/json.ts'
import type { Entry } from '../../../session/log/entry.ts'
import { deriveModelHistory } from '../../../session/derive-model-history.ts'
import { createIdRegistry } from '../../../wire/history/transcript.ts'
import { isWireId, loadWire, wireIds } from '../../../wire/wires.ts'
import { UserError } from '../../user-error.ts'
import { sessionToMarkdown } from './markdown.ts'

/** A session as Markdown, as JSON, or as the messages of a wire. */
export async function exportSessionText(entries: readonly Entry[], format: string): Promise<string> {
  if (format === 'markdown') return sessionToMarkdown(entries)
  if (format === 'json') return `${JSON.stringify(entries, null, 2)}\n`
  if (!isWireId(format))
    throw new UserError(`--format must be one of markdown, json, ${wireIds.join(', ')}, not “${format}”`)
  const wire = await loadWire(format)
  const model = entries.findLast((entry) => entry.kind === 'turn')
  const { body } = wire.encodeRequest(
    { model: model?.kind === 'turn' ? model.turn.origin.model : '', tools: [], turns: deriveModelHistory(entries) },
    wire.profile,
    { ids: createIdRegistry(), isContinuation: false, omitFiller: true },
  )
  return `${JSON.stringify(findHistory(body), null, 2)}\n`
}

/** The history is the last field of every request body, or of the object that is (Code Assist). */
function findHistory(body: JsonObject): Json {
  const last = Object.values(body).at(-1) ?? []
  return isObject(last) ? findHistory(last) : last
}
