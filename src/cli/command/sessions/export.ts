import type { Entry } from '../../../session/log/entry.ts'
import { projectHistory } from '../../../session/project-history.ts'
import { createIdRegistry } from '../../../wire/history/transcript.ts'
import { isWireId, loadWire, wireIds } from '../../../wire/wires.ts'
import { UserError } from '../../user-error.ts'
import { sessionToMarkdown } from './markdown.ts'

/** A session in one of its forms: to read, whole, or as the messages of a wire. */
export async function exportSessionText(entries: readonly Entry[], format: string): Promise<string> {
  if (format === 'markdown') return sessionToMarkdown(entries)
  if (format === 'json') return `${JSON.stringify(entries, null, 2)}\n`
  if (!isWireId(format))
    throw new UserError(`--format is markdown, json or one of ${wireIds.join(', ')}, not “${format}”`)
  const wire = await loadWire(format)
  const model = entries.findLast((entry) => entry.kind === 'turn')
  const { body } = wire.encodeRequest(
    { model: model?.kind === 'turn' ? model.turn.origin.model : '', tools: [], turns: projectHistory(entries) },
    wire.profile,
    { ids: createIdRegistry(), isContinuation: false, omitFiller: true },
  )
  return `${JSON.stringify(body['messages'] ?? body['contents'] ?? body['input'] ?? body, null, 2)}\n`
}
