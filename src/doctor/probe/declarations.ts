import type { ToolSpec } from '../../model/request.ts'
import { validate } from '../../schema/validate.ts'
import { type Behaviour, degraded, fails, notOffered, passes, type Verdict } from '../behaviour.ts'
import type { Exam } from '../exam.ts'
import { noCall, NOTES, said, short, trouble, WEATHER, WRITE } from './words.ts'

const TREE: ToolSpec = {
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

const VALUE: ToolSpec = {
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

const LONG_NAME: ToolSpec = {
  ...NOTES,
  name: 'notizen.auflisten/für-alle:die_es_wirklich_ganz_genau_und_vollständig_wissen_wollen_und_zwar_jetzt',
}

/** 14 to 18 and 25: how tools are declared, forced and cut off. */
export const DECLARATIONS: readonly Behaviour[] = [
  {
    id: 14,
    title: 'tools that are forced, forbidden, required',
    taught: 'T153',
    advice: 'The agent leaves the choice to the model.',
    how: 'live',
    async probe(ward) {
      const tools = [WEATHER, NOTES]
      const [named, none, required] = await Promise.all([
        ward.ask({
          tools,
          toolChoice: { name: NOTES.name },
          turns: [said('Greet me, with the tool that you must use.')],
        }),
        ward.ask({ tools, toolChoice: 'none', turns: [said('Greet me, without any tool.')] }),
        ward.ask({ tools, toolChoice: 'required', turns: [said('Greet me, with any tool.')] }),
      ])
      const wrong = [
        ...(named.calls.some(({ name }) => name === NOTES.name) ? [] : ['a named tool cannot be forced']),
        ...(!none.fault && none.calls.length === 0 ? [] : ['tools cannot be forbidden']),
        ...(required.calls.length > 0 ? [] : ['a call cannot be required']),
      ]
      if (wrong.length === 0) return passes()
      const refusals = [named, none, required].filter(({ fault }) => fault?.kind === 'invalid')
      const all = `Here ${wrong.join(', ')}.`
      if (wrong.length < 3) return degraded(all)
      return refusals.length > 0 ? notOffered(all) : (trouble(named) ?? fails(all))
    },
  },
  {
    id: 15,
    title: 'a schema that refers to itself',
    taught: 'T129, T147–T149',
    advice:
      'Nothing to do: schemas are written in the language of the endpoint, and a tool that it refuses is left out.',
    how: 'live',
    async probe(ward) {
      const text = 'Plant a tree with the tool: the root is named oak, and it has one child named acorn.'
      return declared(await ward.ask({ tools: [TREE], turns: [said(text)] }), TREE)
    },
  },
  {
    id: 16,
    title: 'enums, unions and null',
    taught: 'T42, T129, T146, T151',
    advice: 'What a dialect cannot say is said in the description, and values are put right.',
    how: 'live',
    async probe(ward) {
      const text = 'Set the key alpha to the number 5 with the tool. The note is exactly: if a < b && c > d'
      const exam = await ward.ask({ tools: [VALUE], turns: [said(text)] })
      if (exam.calls.some(({ raw }) => /&(?:lt|gt|amp);/.test(raw)) && ward.facts.entities !== true)
        return { ...degraded('It writes < and & as HTML does; this is undone.'), facts: { entities: true } }
      return declared(exam, VALUE)
    },
  },
  {
    id: 17,
    title: 'a long name with unusual characters',
    taught: 'T97, T145',
    advice: 'Names are made legal, and the way back is kept.',
    how: 'live',
    async probe(ward) {
      const exam = await ward.ask({ tools: [LONG_NAME], turns: [said('Call the only tool that you have.')] })
      return declared(exam, LONG_NAME)
    },
  },
  {
    id: 18,
    title: 'an answer cut off inside arguments',
    taught: 'T37–T39',
    advice: 'A call that did not close never runs.',
    how: 'live',
    but: ['length', 'malformed-call', 'empty'],
    async probe(ward) {
      const turns = [said('Write a note about the sea with the tool. Its text has 300 words.')]
      const exam = await ward.ask({ tools: [WRITE], turns, params: { maxTokens: 40 } })
      const bad = trouble(exam)
      if (bad) return bad
      if (exam.calls.length > 0) return degraded('The limit of tokens was not kept: the call came whole.')
      if (exam.turn.finish.reason === 'length') return passes()
      const begun = exam.turn.parts.some(({ kind }) => kind === 'call')
      return begun
        ? passes('It does not say that it was cut off; the half call was refused all the same.')
        : notOffered('It made no call.')
    },
  },
  {
    id: 25,
    title: 'stopped in the middle of a call',
    taught: 'T165',
    advice: 'An answer that is stopped leaves no call behind.',
    how: 'live',
    async probe(ward) {
      let began = false
      const exam = await ward.ask({
        tools: [WRITE],
        turns: [said('Write a note about the moon with the tool. Its text has 100 words.')],
        watch(event, stop) {
          began ||= event.type === 'part-open' && event.kind === 'call'
          if (began) stop()
        },
      })
      if (exam.fault) return trouble(exam) ?? passes()
      if (!began) return notOffered('It made no call to stop.')
      if (exam.turn.finish.reason !== 'aborted') return degraded('It was over before it could be stopped.')
      return exam.calls.length === 0 ? passes() : fails('A call of a stopped answer would run.')
    },
  },
]

function declared(exam: Exam, tool: ToolSpec): Verdict {
  if (exam.warnings.some(({ code }) => code === 'tool-quarantined' || code === 'tool-set-aside'))
    return degraded('It refuses such a tool, which is left out so that the others work.')
  const [call] = exam.calls
  if (!call) return noCall(exam)
  if (call.name !== tool.name) return fails(`It called “${short(call.name)}”, which there is not.`)
  const [problem] = validate(tool.schema, call.input ?? {})
  return problem ? degraded(`Its arguments do not fit: ${problem.message}`) : passes()
}
