import type { ToolSpec } from '../../model/request.ts'
import { validate } from '../../schema/validate/validate.ts'
import {
  type Probe,
  createDegradedProbeResult,
  createFailedProbeResult,
  createNotOfferedProbeResult,
  createPassedProbeResult,
  type ProbeResult,
} from './probe.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import {
  explainMissingCall,
  LIST_NOTES_TOOL,
  createUserTurn,
  truncateLine,
  toFailureResult,
  WEATHER_TOOL,
  WRITE_NOTE_TOOL,
} from './probe-helpers.ts'

const TREE_TOOL: ToolSpec = {
  name: 'plant_tree',
  description: 'Plants a tree of names.',
  schema: {
    type: 'object',
    properties: { root: { $ref: '#/$defs/node' } },
    required: ['root'],
    $defs: {
      node: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          children: { type: 'array', items: { $ref: '#/$defs/node' } },
        },
        required: ['name'],
      },
    },
  },
}

const VALUE_TOOL: ToolSpec = {
  name: 'set_value',
  description: 'Sets a value.',
  schema: {
    type: 'object',
    properties: {
      key: { enum: ['alpha', 'beta'] },
      value: { anyOf: [{ type: 'number' }, { type: 'string' }] },
      note: { type: ['string', 'null'] },
    },
    required: ['key', 'value', 'note'],
  },
}

const LONG_NAME_TOOL: ToolSpec = {
  ...LIST_NOTES_TOOL,
  name: 'notizen.auflisten/für-alle:die_es_wirklich_ganz_genau_und_vollständig_wissen_wollen_und_zwar_jetzt',
}

/** Probes 14 to 18 and 25: how tools are declared and chosen, and calls that are cut off. */
export const DECLARATION_PROBES: readonly Probe[] = [
  {
    id: 14,
    title: 'tool choice: named tool, none, required',
    failureIds: 'T153',
    advice: 'The agent leaves the choice to the model, so this does not affect it.',
    async run(context) {
      const tools = [WEATHER_TOOL, LIST_NOTES_TOOL]
      const [named, none, required] = await Promise.all([
        context.send({
          tools,
          toolChoice: { name: LIST_NOTES_TOOL.name },
          turns: [createUserTurn('Greet me, with the tool that you must use.')],
        }),
        context.send({ tools, toolChoice: 'none', turns: [createUserTurn('Greet me, without any tool.')] }),
        context.send({ tools, toolChoice: 'required', turns: [createUserTurn('Greet me, with any tool.')] }),
      ])
      const unsupported = [
        ...(named.calls.some(({ name }) => name === LIST_NOTES_TOOL.name) ? [] : ['a named tool is not enforced']),
        ...(!none.fault && none.calls.length === 0 ? [] : ['none is not respected']),
        ...(required.calls.length > 0 ? [] : ['required is not enforced']),
      ]
      if (unsupported.length === 0) return createPassedProbeResult()
      const refusals = [named, none, required].filter(({ fault }) => fault?.kind === 'invalid')
      const all = `Tool choice: ${unsupported.join(', ')}.`
      if (unsupported.length < 3) return createDegradedProbeResult(all)
      return refusals.length > 0
        ? createNotOfferedProbeResult(all)
        : (toFailureResult(named) ?? createFailedProbeResult(all))
    },
  },
  {
    id: 15,
    title: 'a recursive schema',
    failureIds: 'T129, T147–T149',
    advice: "No action needed: schemas are converted to the endpoint's dialect, and a tool that it rejects is omitted.",
    async run(context) {
      const text = 'Plant a tree with the tool: the root is named oak, and it has one child named acorn.'
      return checkDeclaredCall(await context.send({ tools: [TREE_TOOL], turns: [createUserTurn(text)] }), TREE_TOOL)
    },
  },
  {
    id: 16,
    title: 'enums, unions and null',
    failureIds: 'T42, T129, T146, T151',
    advice: 'No action needed: unsupported constraints go into the description, and argument types are coerced.',
    async run(context) {
      const text = 'Set the key alpha to the number 5 with the tool. The note is exactly: if a < b && c > d'
      const exchange = await context.send({ tools: [VALUE_TOOL], turns: [createUserTurn(text)] })
      if (exchange.calls.some(({ raw }) => /&(?:lt|gt|amp);/.test(raw)) && context.capabilities.entities !== true)
        return {
          ...createDegradedProbeResult('The model HTML-escapes arguments (&lt;, &amp;). Dragoman decodes them.'),
          capabilities: { entities: true },
        }
      return checkDeclaredCall(exchange, VALUE_TOOL)
    },
  },
  {
    id: 17,
    title: 'a long name with unusual characters',
    failureIds: 'T97, T145',
    advice: 'Dragoman maps tool names to legal ones and back.',
    async run(context) {
      const exchange = await context.send({
        tools: [LONG_NAME_TOOL],
        turns: [createUserTurn('Call the only tool that you have.')],
      })
      return checkDeclaredCall(exchange, LONG_NAME_TOOL)
    },
  },
  {
    id: 18,
    title: 'a response truncated inside arguments',
    failureIds: 'T37–T39',
    advice: 'An incomplete call never runs.',
    expectedQuirks: ['length', 'malformed-call', 'empty'],
    async run(context) {
      const turns = [createUserTurn('Write a note about the sea with the tool. Its text has 300 words.')]
      const exchange = await context.send({ tools: [WRITE_NOTE_TOOL], turns, params: { maxTokens: 40 } })
      const failure = toFailureResult(exchange)
      if (failure) return failure
      if (exchange.calls.length > 0)
        return createDegradedProbeResult('The endpoint ignored the token limit: the call was complete.')
      if (exchange.turn.finish.reason === 'length') return createPassedProbeResult()
      const begun = exchange.turn.parts.some(({ kind }) => kind === 'call')
      return begun
        ? createPassedProbeResult('The endpoint does not report the truncation. Dragoman rejected the incomplete call.')
        : createNotOfferedProbeResult('The model made no call.')
    },
  },
  {
    id: 25,
    title: 'cancelled in the middle of a call',
    failureIds: 'T165',
    advice: 'No call of a cancelled response runs.',
    async run(context) {
      let began = false
      const exchange = await context.send({
        tools: [WRITE_NOTE_TOOL],
        turns: [createUserTurn('Write a note about the moon with the tool. Its text has 100 words.')],
        onEvent(event, stop) {
          began ||= event.type === 'part-open' && event.kind === 'call'
          if (began) stop()
        },
      })
      if (exchange.fault) return toFailureResult(exchange) ?? createPassedProbeResult()
      if (!began) return createNotOfferedProbeResult('The model made no call, so cancelling could not be tested.')
      if (exchange.turn.finish.reason !== 'aborted')
        return createDegradedProbeResult('The response finished before it could be cancelled.')
      return exchange.calls.length === 0
        ? createPassedProbeResult()
        : createFailedProbeResult('A call of a cancelled response would run.')
    },
  },
]

function checkDeclaredCall(exchange: ProbeExchange, tool: ToolSpec): ProbeResult {
  if (exchange.warnings.some(({ code }) => code === 'tool-quarantined' || code === 'tool-set-aside'))
    return createDegradedProbeResult('The endpoint rejects this tool. Dragoman omits it, so that the other tools work.')
  const [call] = exchange.calls
  if (!call) return explainMissingCall(exchange)
  if (call.name !== tool.name)
    return createFailedProbeResult(`The model called “${truncateLine(call.name)}”, which is not a declared tool.`)
  const [problem] = validate(tool.schema, call.input ?? {})
  return problem
    ? createDegradedProbeResult(`The arguments do not match the schema: ${problem.message}`)
    : createPassedProbeResult()
}
