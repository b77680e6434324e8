import { createHash } from 'node:crypto'
import { type Folded, runnable } from '../../model/fold.ts'
import { turnKey } from '../../model/ids.ts'
import { isObject, type JsonObject, stringOf } from '../../model/json.ts'
import type { ToolSpec } from '../../model/request.ts'
import type { CallPart } from '../../model/turn.ts'
import { decode } from '../../wire/decode.ts'
import { loadWire } from '../../wire/wires.ts'
import { Complaint } from '../exit.ts'
import type { WireOptions } from './wire.ts'
import { type Recording, readInput, readJson, recordings, wireOption } from './wire-input.ts'

/** Prints what an answer means, as one JSON object; with `--batch`, one line for each recording of a folder. */
export async function decodeCommand(options: WireOptions): Promise<void> {
  if (options.batch !== undefined) {
    for (const recording of recordings(options.batch, 'answer'))
      print({ id: recording.id, ...(await decodeRecording(recording)) })
    return
  }
  const wire = await loadWire(wireOption(options.wire))
  const tools = options.tools === undefined ? [] : toolList(readJson(options.tools))
  const status = options.status === undefined ? undefined : Number(options.status)
  if (status !== undefined && !(status >= 100 && status < 600))
    throw new Complaint(`--status ${options.status} is not an HTTP status`)
  const bytes = readInput(options.file)
  const reading = { key: keyFor(bytes), profile: wire.profile, tools, ...(status !== undefined && { status }) }
  print(shown(decode(wire, reading, [bytes], options['content-type'])))
}

async function decodeRecording({ wire: id, request, response }: Recording): Promise<JsonObject> {
  const wire = await loadWire(id)
  const tools = wire.read(request?.['body']).tools
  const status = typeof response?.['status'] === 'number' ? { status: response['status'] } : {}
  const contentType = typeof response?.['contentType'] === 'string' ? response['contentType'] : undefined
  const bytes = Buffer.from(stringOf(response?.['body']), 'utf8')
  return shown(decode(wire, { key: keyFor(bytes), profile: wire.profile, tools, ...status }, [bytes], contentType))
}

/** The one JSON form of an answer. */
function shown({ turn, warnings }: Folded): JsonObject {
  const { calls, rejected } = runnable(turn)
  const texts = turn.parts.filter((part) => part.kind === 'text')
  const refusal = texts
    .filter((part) => part.refusal)
    .map((part) => part.text)
    .join('')
  const value = {
    text: texts
      .filter((part) => !part.refusal)
      .map((part) => part.text)
      .join(''),
    reasoning: turn.parts.map((part) => (part.kind === 'reasoning' ? part.text : '')).join(''),
    calls: calls.map(shownCall),
    ...(rejected.length > 0 && { rejected: rejected.map(({ call, reason }) => ({ ...shownCall(call), reason })) }),
    ...(refusal !== '' && { refusal }),
    finish: { reason: turn.finish.reason, raw: turn.finish.raw ?? null },
    usage: turn.usage ?? null,
    warnings,
    fault: turn.finish.fault ?? null,
  }
  return JSON.parse(JSON.stringify(value)) as JsonObject
}

function shownCall(call: CallPart) {
  return {
    id: call.id,
    wireId: call.native?.id ?? null,
    name: call.name,
    input: call.freeform ? call.raw : (call.input ?? null),
    raw: call.raw,
  }
}

/** Tools in our own form, in any vendor's, or inside a conversation or request body. */
function toolList(value: unknown): ToolSpec[] {
  const list = isObject(value) ? value['tools'] : value
  if (!Array.isArray(list)) throw new Complaint('the tools must be a JSON list of {name, description, schema}')
  return list.flatMap((entry: unknown): ToolSpec[] => {
    if (!isObject(entry)) return []
    const declared = entry['functionDeclarations'] ?? entry['function_declarations']
    if (Array.isArray(declared)) return toolList(declared)
    const tool = isObject(entry['function']) ? entry['function'] : entry
    const schema = tool['schema'] ?? tool['parameters'] ?? tool['input_schema'] ?? tool['parametersJsonSchema']
    if (typeof tool['name'] !== 'string') throw new Complaint('every tool needs a name')
    return [
      {
        name: tool['name'],
        description: typeof tool['description'] === 'string' ? tool['description'] : '',
        schema: (isObject(schema) ? schema : { type: 'object', properties: {} }) as JsonObject,
      },
    ]
  })
}

/** The same answer gives the same ids, so that two runs can be compared. */
function keyFor(bytes: Uint8Array): string {
  return turnKey(createHash('sha256').update(bytes).digest())
}

function print(value: JsonObject): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
