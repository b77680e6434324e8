import { defined } from '../../model/defined.ts'
import type { Warning } from '../../model/event.ts'
import { isObject } from '../../model/json.ts'
import type { ProviderOptions } from '../../model/provider-options.ts'
import type { HostedTool, ModelParams, ModelRequest, ServerTool, ToolChoice, ToolSpec } from '../../model/request.ts'
import { EFFORT_LEVELS } from '../../model/request.ts'
import type { Fault } from '../../model/fault.ts'
import type { Finish, FinishReason, NoteTurn, Turn, WireId } from '../../model/turn.ts'
import { readOutputFormat } from '../output-format.ts'
import { appendResults } from '../read-parts.ts'
import { formatExcerpt } from '../unread-fields.ts'
import type { DecodedRequest } from '../wire.ts'
import { isWireId, wireIds } from '../wires.ts'
import { attachDetails } from './details.ts'
import { type FieldReader, openFields } from './field-reader.ts'
import { createPartReader } from './read-plain-parts.ts'

/** What a conversation need not name. */
export interface PlainDefaults {
  readonly model: string
  /** The wire that the conversation will be encoded for. */
  readonly wire?: WireId
}

/** Results without an id belong to the open calls, in order. Throws an error with a message for the user. */
export function fromPlainConversation(value: unknown, defaults: PlainDefaults): DecodedRequest {
  if (!isObject(value) || !Array.isArray(value['messages'])) throw new Error('a conversation needs a list of messages')
  const warnings: Warning[] = []
  const fields = openFields(attachDetails(value), 'the conversation', warnings)
  const tools = (fields.list('tools') ?? []).map((tool, at) => readTool(tool, `tool ${at}`, warnings))
  const reader = createMessageReader(tools, warnings)
  const turns: Turn[] = []
  for (const [at, message] of (fields.list('messages') ?? []).entries()) reader.read(message, `message ${at}`, turns)
  const output = fields.fields('output')
  const previous = fields.text('previous')
  const previousWire = readWire(fields, 'previousWire') ?? defaults.wire
  const diagnosis = fields.fields('diagnoseCache')
  const hostedTools = fields.list('hostedTools')?.map((tool, at) => readHostedTool(tool, `hosted tool ${at}`, warnings))
  const request: ModelRequest = {
    model: fields.text('model') ?? defaults.model,
    ...defined({ system: fields.text('system') }),
    tools: tools.filter((tool) => !reader.lateTools.has(tool)),
    ...defined({ serverTools: fields.list('serverTools')?.map(readServerTool), hostedTools }),
    ...defined({ toolChoice: readToolChoice(fields) }),
    turns,
    params: readParams(fields.fields('params')),
    ...(output && readOutput(output)),
    ...defined({ providerOptions: readProviderOptions(fields.fields('providerOptions')) }),
    ...defined({ session: fields.text('session'), prompt: fields.text('prompt'), project: fields.text('project') }),
    ...(previous !== undefined && { previous: { id: previous, wire: previousWire ?? 'openai-responses' } }),
    ...defined({ continuation: fields.text('continuation') }),
    ...(diagnosis && { diagnoseCache: defined({ previous: diagnosis.text('previous') }) }),
  }
  // What `wire read` could not keep; it has said so.
  fields.json('warnings')
  for (const one of [output, diagnosis, fields]) one?.close()
  return { request, warnings }
}

function createMessageReader(tools: readonly ToolSpec[], warnings: Warning[]) {
  /** The tools that are declared only by notes. */
  const lateTools = new Set<ToolSpec>()
  const parts = createPartReader(warnings)

  function readNote(fields: FieldReader, text: string): NoteTurn {
    const added = fields.list('addsTools')?.map((one, at) => {
      if (typeof one !== 'string') return readTool(one, `${fields.place}, addsTools ${at}`, warnings)
      const tool = tools.findLast(({ name }) => name === one)
      if (!tool) throw new Error(`${fields.place}: the tool ${one} is not among the tools of the conversation`)
      lateTools.add(tool)
      return tool
    })
    const note: NoteTurn = {
      role: 'note',
      text,
      ...defined({ trusted: fields.flag('trusted'), tools: added }),
      ...defined({ removedTools: fields.texts('removesTools'), native: fields.native() }),
    }
    fields.close()
    return note
  }

  return {
    lateTools,
    read(message: unknown, place: string, turns: Turn[]): void {
      if (!isObject(message) || !Array.isArray(message['parts']))
        throw new Error(`${place} needs a role and a list of parts`)
      const fields = openFields(message, place, warnings)
      turns.push(...readTurns(fields, turns))
      fields.close()
    },
  }

  function readTurns(fields: FieldReader, turns: Turn[]): Turn[] {
    const role = fields.json('role')
    const list = fields.list('parts') ?? []
    const note = fields.fields('note')
    if (role === 'user' && note) return [readNote(note, parts.readTexts(list, fields.place))]
    if (note) throw new Error(`${fields.place}: only a message of the role user can be a note`)
    if (role === 'user') return [{ role, parts: parts.readContent(list, fields.place) }]
    if (role === 'assistant') {
      const origin = fields.fields('origin')
      return [
        {
          role,
          origin: origin ? readOrigin(origin) : PLAIN_ORIGIN,
          parts: parts.readAssistant(list, fields.place),
          finish: readFinish(fields.fields('finish')),
        },
      ]
    }
    if (role !== 'tool') throw new Error(`${fields.place} has the unknown role ${formatExcerpt(role)}`)
    appendResults(turns, ...parts.readResults(list, fields.place))
    return []
  }
}

const PLAIN_ORIGIN = { provider: 'conversation', wire: 'openai-chat', model: '' } as const

function readOrigin(fields: FieldReader) {
  const wire = readWire(fields, 'wire') ?? PLAIN_ORIGIN.wire
  const origin = { provider: fields.text('provider') ?? wire, wire, model: fields.text('model') ?? '' }
  fields.close()
  return origin
}

function readFinish(fields: FieldReader | undefined): Finish {
  if (!fields) return { reason: 'stop' }
  const finish = {
    reason: fields.choice('reason', FINISH_REASONS) ?? 'stop',
    ...defined({ raw: fields.text('raw'), native: fields.native() }),
    ...defined({ fault: fields.object('fault') as unknown as Fault | undefined }),
  }
  fields.close()
  return finish
}

const FINISH_REASONS = [
  'stop',
  'calls',
  'length',
  'filter',
  'malformed-call',
  'aborted',
  'fault',
] as const satisfies FinishReason[]

function readWire(fields: FieldReader, name: string): WireId | undefined {
  const wire = fields.text(name)
  if (wire === undefined || isWireId(wire)) return wire
  throw new Error(`${fields.place}: ${name} must be one of ${wireIds.join(', ')}, not “${wire}”`)
}

function readTool(value: unknown, place: string, warnings: Warning[]): ToolSpec {
  const fields = openFields(value, place, warnings)
  const name = fields.text('name')
  if (name === undefined) throw new Error(`${place} needs a name`)
  const grammar = fields.fields('grammar')
  const namespace = fields.fields('namespace')
  const tool: ToolSpec = {
    name,
    description: fields.text('description') ?? '',
    schema: fields.object('schema') ?? { type: 'object', properties: {} },
    ...defined({ freeform: fields.flag('freeform') }),
    ...(grammar && {
      grammar: {
        syntax: grammar.choice('syntax', ['lark', 'regex']) ?? 'lark',
        definition: grammar.text('definition') ?? '',
      },
    }),
    ...(namespace && {
      namespace: {
        name: namespace.text('name') ?? '',
        ...defined({ description: namespace.text('description'), tool: namespace.text('tool') }),
      },
    }),
    ...defined({ deferred: fields.flag('deferred'), native: fields.native() }),
  }
  for (const one of [grammar, namespace, fields]) one?.close()
  return tool
}

function readHostedTool(value: unknown, place: string, warnings: Warning[]): HostedTool {
  const fields = openFields(value, place, warnings)
  const wire = readWire(fields, 'wire')
  const declaration = fields.object('declaration')
  if (wire === undefined || !declaration) throw new Error(`${place} needs a wire and a declaration`)
  fields.close()
  return { wire, declaration }
}

function readServerTool(value: unknown): ServerTool {
  const tool = SERVER_TOOLS.find((name) => name === value)
  if (tool === undefined)
    throw new Error(`a server tool must be one of ${SERVER_TOOLS.join(', ')}, not ${formatExcerpt(value)}`)
  return tool
}

const SERVER_TOOLS = ['url_context', 'google_search'] as const satisfies ServerTool[]

function readToolChoice(fields: FieldReader): ToolChoice | undefined {
  const value = fields.json('toolChoice')
  if (value === undefined || value === null) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return value
  if (value === 'any') return 'required'
  if (isObject(value) && typeof value['name'] === 'string') return { name: value['name'] }
  if (isObject(value) && Array.isArray(value['only'])) return { only: value['only'].map(String) }
  throw new Error(`toolChoice must be auto, none, required, {"name": …} or {"only": […]}, not ${formatExcerpt(value)}`)
}

function readOutput(fields: FieldReader): Pick<ModelRequest, 'output'> {
  const schema = fields.object('schema')
  if (!schema) throw new Error(`${fields.place} needs a schema`)
  return readOutputFormat(fields.text('name'), schema)
}

function readProviderOptions(fields: FieldReader | undefined): ProviderOptions | undefined {
  if (!fields) return undefined
  const options = Object.fromEntries(
    OPTION_KEYS.flatMap((key) => {
      const found = fields.object(key)
      return found ? [[key, found]] : []
    }),
  )
  fields.close()
  return options
}

const OPTION_KEYS = [
  'gemini',
  'interactions',
  'openai-chat',
  'openai-responses',
  'anthropic',
] as const satisfies (keyof ProviderOptions)[]

function readParams(fields: FieldReader | undefined): ModelParams {
  if (!fields) return {}
  const effort = fields.json('effort') ?? undefined
  const level = EFFORT_LEVELS.find((one) => one === effort)
  if (effort !== undefined && level === undefined && typeof effort !== 'number')
    throw new Error(
      `${fields.place}: effort must be a number or one of ${EFFORT_LEVELS.join(', ')}, not ${formatExcerpt(effort)}`,
    )
  const params: ModelParams = defined({
    maxTokens: fields.number('maxTokens'),
    temperature: fields.number('temperature'),
    topP: fields.number('topP'),
    stop: fields.texts('stop'),
    effort: level ?? (typeof effort === 'number' ? effort : undefined),
    thinking: fields.boolean('thinking'),
    parallelCalls: fields.boolean('parallelCalls'),
    stream: fields.boolean('stream'),
    store: fields.boolean('store'),
    cacheTtl: fields.choice('cacheTtl', ['5m', '1h']),
  })
  fields.close()
  return params
}
