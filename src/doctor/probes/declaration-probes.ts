import type { ToolSpec } from '../../model/request.ts'
import { validate } from '../../schema/validate/validate.ts'
import { type Probe, type ProbeResult, degraded, failed, notOffered, passed } from './probe.ts'
import type { ProbeExchange } from '../probe-exchange.ts'
import {
  prompt,
  defineTool,
  explainMissingCall,
  LIST_NOTES_TOOL,
  toFailure,
  truncateLine,
  WEATHER_TOOL,
  WRITE_NOTE_TOOL,
} from './probe-helpers.ts'

const NODE_REF = { $ref: '#/$defs/node' }
const NODE_PROPERTIES = { name: { type: 'string' }, children: { type: 'array', items: NODE_REF } }

const TREE_TOOL = defineTool(
  'plant_tree',
  'Plants a tree of names.',
  { root: NODE_REF },
  { $defs: { node: { type: 'object', properties: NODE_PROPERTIES, required: ['name'] } } },
)

const VALUE_TOOL = defineTool('set_value', 'Sets a value.', {
  key: { enum: ['alpha', 'beta'] },
  value: { anyOf: [{ type: 'number' }, { type: 'string' }] },
  note: { type: ['string', 'null'] },
})

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
          ...prompt('Greet me, with the tool that you must use.', ...tools),
          toolChoice: { name: LIST_NOTES_TOOL.name },
        }),
        context.send({ ...prompt('Greet me, without any tool.', ...tools), toolChoice: 'none' }),
        context.send({ ...prompt('Greet me, with any tool.', ...tools), toolChoice: 'required' }),
      ])
      const unsupported = [
        ...(named.calls.some(({ name }) => name === LIST_NOTES_TOOL.name) ? [] : ['a named tool is not enforced']),
        ...(!none.fault && none.calls.length === 0 ? [] : ['none is not respected']),
        ...(required.calls.length > 0 ? [] : ['required is not enforced']),
      ]
      if (unsupported.length === 0) return passed()
      const refusals = [named, none, required].filter(({ fault }) => fault?.kind === 'invalid')
      const all = `Tool choice: ${unsupported.join(', ')}.`
      if (unsupported.length < 3) return degraded(all)
      return refusals.length > 0 ? notOffered(all) : (toFailure(named) ?? failed(all))
    },
  },
  {
    id: 15,
    title: 'a recursive schema',
    failureIds: 'T129, T147–T149',
    advice: "No action needed: schemas are converted to the endpoint's dialect, and a tool that it rejects is omitted.",
    async run(context) {
      const text = 'Plant a tree with the tool: the root is named oak, and it has one child named acorn.'
      return checkDeclaredCall(await context.send(prompt(text, TREE_TOOL)), TREE_TOOL)
    },
  },
  {
    id: 16,
    title: 'enums, unions and null',
    failureIds: 'T42, T129, T146, T151',
    advice: 'No action needed: unsupported constraints go into the description, and argument types are coerced.',
    async run(context) {
      const text = 'Set the key alpha to the number 5 with the tool. The note is exactly: if a < b && c > d'
      const exchange = await context.send(prompt(text, VALUE_TOOL))
      if (exchange.calls.some(({ raw }) => /&(?:lt|gt|amp);/.test(raw)) && context.capabilities.entities !== true)
        return {
          ...degraded('The model HTML-escapes arguments (&lt;, &amp;). Dragoman decodes them.'),
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
      const text = 'Call the only tool that you have.'
      return checkDeclaredCall(await context.send(prompt(text, LONG_NAME_TOOL)), LONG_NAME_TOOL)
    },
  },
  {
    id: 18,
    title: 'a response truncated inside arguments',
    failureIds: 'T37–T39',
    advice: 'An incomplete call never runs.',
    expectedQuirks: ['length', 'malformed-call', 'empty'],
    async run(context) {
      const text = 'Write a note about the sea with the tool. Its text has 300 words.'
      const exchange = await context.send({ ...prompt(text, WRITE_NOTE_TOOL), params: { maxTokens: 40 } })
      const failure = toFailure(exchange)
      if (failure) return failure
      if (exchange.calls.length > 0) return degraded('The endpoint ignored the token limit: the call was complete.')
      if (exchange.turn.finish.reason === 'length') return passed()
      const begun = exchange.turn.parts.some(({ kind }) => kind === 'call')
      return begun
        ? passed('The endpoint does not report the truncation. Dragoman rejected the incomplete call.')
        : notOffered('The model made no call.')
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
        ...prompt('Write a note about the moon with the tool. Its text has 100 words.', WRITE_NOTE_TOOL),
        onEvent(event, stop) {
          began ||= event.type === 'part-open' && event.kind === 'call'
          if (began) stop()
        },
      })
      if (exchange.fault) return toFailure(exchange) ?? passed()
      if (!began) return notOffered('The model made no call, so cancelling could not be tested.')
      if (exchange.turn.finish.reason !== 'aborted')
        return degraded('The response finished before it could be cancelled.')
      return exchange.calls.length === 0 ? passed() : failed('A call of a cancelled response would run.')
    },
  },
]

function checkDeclaredCall(exchange: ProbeExchange, tool: ToolSpec): ProbeResult {
  if (exchange.warnings.some(({ code }) => code === 'tool-quarantined' || code === 'tool-set-aside'))
    return degraded('The endpoint rejects this tool. Dragoman omits it, so that the other tools work.')
  const [call] = exchange.calls
  if (!call) return explainMissingCall(exchange)
  if (call.name !== tool.name)
    return failed(`The model called “${truncateLine(call.name)}”, which is not a declared tool.`)
  const [problem] = validate(tool.schema, call.input ?? {})
  return problem ? degraded(`The arguments do not match the schema: ${problem.message}`) : passed()
}
