import { createHash } from 'node:crypto'
import { type FoldedTurn, splitRunnableCalls } from '../../../model/fold.ts'
import { createTurnKey } from '../../../model/ids.ts'
import { isObject, type JsonObject, stringOrEmpty } from '../../../model/json.ts'
import type { ToolSpec } from '../../../model/request.ts'
import type { AssistantPart, CallPart } from '../../../model/turn.ts'
import { decodeResponse } from '../../../wire/decode-response.ts'
import { collectDeclaredTools } from '../../../wire/late-tools.ts'
import { loadWire } from '../../../wire/wires.ts'
import { UserError } from '../../user-error.ts'
import type { WireCommandOptions } from './wire.ts'
import {
  type WireRecording,
  readInput,
  readJsonInput,
  findRecordings,
  parseWireOption,
  printJson,
} from './wire-input.ts'
import { defined } from '../../../model/defined.ts'

/** Prints a decoded response as one JSON object; with `--batch`, one line for each recording of a folder. */
export async function runWireDecode(options: WireCommandOptions): Promise<void> {
  if (options.batch !== undefined) {
    for (const recording of findRecordings(options.batch, 'response'))
      printJson({ id: recording.id, ...(await decodeRecording(recording)) })
    return
  }
  const wire = await loadWire(parseWireOption(options.wire))
  const tools = options.tools === undefined ? [] : parseToolList(readJsonInput(options.tools))
  const status = options.status === undefined ? undefined : Number(options.status)
  if (status !== undefined && !(status >= 100 && status < 600))
    throw new UserError(`--status must be an HTTP status, not “${options.status}”`)
  const bytes = readInput(options.file)
  const reading = { turnKey: turnKeyFor(bytes), profile: wire.profile, tools, ...defined({ status }) }
  printJson(toJsonReport(decodeResponse(wire, reading, [bytes], options['content-type'])))
}

async function decodeRecording({ wire: id, request, response }: WireRecording): Promise<JsonObject> {
  const wire = await loadWire(id)
  const tools = collectDeclaredTools(wire.readRequest(request?.['body']).request).known
  const status = typeof response?.['status'] === 'number' ? { status: response['status'] } : {}
  const contentType = typeof response?.['contentType'] === 'string' ? response['contentType'] : undefined
  const bytes = Buffer.from(stringOrEmpty(response?.['body']), 'utf8')
  return toJsonReport(
    decodeResponse(wire, { turnKey: turnKeyFor(bytes), profile: wire.profile, tools, ...status }, [bytes], contentType),
  )
}

function toJsonReport({ turn, warnings }: FoldedTurn): JsonObject {
  const { calls, rejected } = splitRunnableCalls(turn)
  const join = (hasText: (part: AssistantPart) => boolean): string =>
    turn.parts.map((part) => (hasText(part) && 'text' in part ? part.text : '')).join('')
  const refusal = join((part) => part.kind === 'text' && part.refusal === true)
  const value = {
    text: join((part) => part.kind === 'text' && !part.refusal),
    reasoning: join((part) => part.kind === 'reasoning'),
    calls: calls.map(toCallReport),
    ...(rejected.length > 0 && { rejected: rejected.map(({ call, reason }) => ({ ...toCallReport(call), reason })) }),
    ...(refusal !== '' && { refusal }),
    finish: { reason: turn.finish.reason, raw: turn.finish.raw ?? null },
    usage: turn.usage ?? null,
    warnings,
    fault: turn.finish.fault ?? null,
  }
  return JSON.parse(JSON.stringify(value)) as JsonObject
}

function toCallReport({ id, native, name, freeform, input, raw }: CallPart) {
  return { id, wireId: native?.id ?? null, name, input: freeform ? raw : (input ?? null), raw }
}

/** Tools in our own format, in any vendor's, or inside a conversation or request body. */
function parseToolList(value: unknown): ToolSpec[] {
  const list = isObject(value) ? value['tools'] : value
  if (!Array.isArray(list)) throw new UserError('the tools must be a JSON list of {name, description, schema}')
  return list.flatMap((entry: unknown): ToolSpec[] => {
    if (!isObject(entry)) return []
    const declared = entry['functionDeclarations'] ?? entry['function_declarations']
    if (Array.isArray(declared)) return parseToolList(declared)
    const tool = isObject(entry['function']) ? entry['function'] : entry
    const schema = tool['schema'] ?? tool['parameters'] ?? tool['input_schema'] ?? tool['parametersJsonSchema']
    if (typeof tool['name'] !== 'string') throw new UserError('every tool needs a name')
    const toolSchema = (isObject(schema) ? schema : { type: 'object', properties: {} }) as JsonObject
    return [{ name: tool['name'], description: stringOrEmpty(tool['description']), schema: toolSchema }]
  })
}

/** The same response gives the same ids, so that two runs can be compared. */
function turnKeyFor(bytes: Uint8Array): string {
  return createTurnKey(createHash('sha256').update(bytes).digest())
}
