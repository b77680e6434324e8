import type { Entry } from '../../session/entry.ts'
import { project } from '../../session/project.ts'
import { givenIds } from '../../wire/transcript.ts'
import { isWireId, loadWire, wireIds } from '../../wire/wires.ts'
import { Complaint } from '../exit.ts'
import { asMarkdown } from './session-markdown.ts'

/** A session in one of its forms: to read, whole, or as the messages of a wire. */
export async function exportText(entries: readonly Entry[], format: string): Promise<string> {
  if (format === 'markdown') return asMarkdown(entries)
  if (format === 'json') return `${JSON.stringify(entries, null, 2)}\n`
  if (!isWireId(format))
    throw new Complaint(`--format is markdown, json or one of ${wireIds.join(', ')}, not “${format}”`)
  const wire = await loadWire(format)
  const model = entries.findLast((entry) => entry.kind === 'turn')
  const { body } = wire.encode(
    { model: model?.kind === 'turn' ? model.turn.origin.model : '', tools: [], turns: project(entries) },
    wire.profile,
    { ids: givenIds(), begun: false, asSaid: true },
  )
  return `${JSON.stringify(body['messages'] ?? body['contents'] ?? body['input'] ?? body, null, 2)}\n`
}
