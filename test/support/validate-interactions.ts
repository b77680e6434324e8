import { isObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import {
  type Fields,
  type Refuse,
  declarations,
  historicName,
  isText,
  list,
  onlyKeys,
  paired,
  uniqueIds,
} from './validate-shape.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_.:-]{0,62}$/

/** Documented to let a call pass whose signature is not known (T120). */
const SENTINEL = 'skip_thought_signature_validator'

/** What `POST /v1beta/interactions` would refuse, by the types of Google's own client. */
export function validateInteractions(body: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(
    body,
    'model system_instruction tools response_format generation_config store stream previous_interaction_id input',
    refuse,
    'body',
  )
  if (!isText(body['model'])) refuse('no model')
  if (body['system_instruction'] !== undefined && !isText(body['system_instruction']))
    refuse('T136 an empty system instruction')
  if (body['store'] !== false && body['store'] !== true) refuse('T84 does not say whether to store')
  settings(body, profile, refuse)
  const steps = list(body['input'])
  for (const [at, step] of steps.entries()) STEPS.get(String(step['type']))?.(step, profile, refuse, `step ${at}`)
  uniqueIds(
    steps.flatMap((step) => (step['type'] === 'function_call' ? [step['id']] : [])),
    /^[\w.:-]{1,64}$/,
    refuse,
  )
  order(steps, profile, refuse)
}

function settings(body: Fields, profile: Profile, refuse: Refuse): void {
  const config = isObject(body['generation_config']) ? body['generation_config'] : {}
  onlyKeys(
    config,
    'max_output_tokens temperature top_p stop_sequences seed thinking_level thinking_summaries tool_choice',
    refuse,
    'generation_config',
  )
  const stop = config['stop_sequences'] ?? ['x']
  if (!Array.isArray(stop) || stop.length === 0 || stop.length > 5 || stop.includes('')) refuse('T155 stop_sequences')
  for (const key of profile.refuses) if (Object.hasOwn(config, key)) refuse(`T155 ${key} is refused here`)
  const tools = list(body['tools'])
  const functions = tools.filter(({ type }) => type === 'function')
  for (const one of functions) onlyKeys(one, 'type name description parameters', refuse, 'tool')
  const names =
    body['tools'] === undefined
      ? new Set<string>()
      : declarations(
          functions.map(({ name, description, parameters }) => ({ name, description, schema: parameters })),
          { names: NAME, object: 'object' },
          refuse,
        )
  const choice = config['tool_choice']
  if (choice === undefined) return
  if (names.size === 0) refuse('T130 a choice without tools')
  if (typeof choice === 'string') {
    if (!/^(?:auto|any|none|validated)$/.test(choice)) refuse('T153 an unknown choice')
    return
  }
  const allowed = isObject(choice) && isObject(choice['allowed_tools']) ? choice['allowed_tools'] : {}
  const wanted = Array.isArray(allowed['tools']) ? allowed['tools'] : []
  if (wanted.length === 0 || !wanted.every((name) => names.has(String(name))))
    refuse('T130 chooses what nobody declares')
}

type Check = (step: Fields, profile: Profile, refuse: Refuse, where: string) => void

/** Steps of the vendor's own tools go back as they came. */
const STEPS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ['user_input', said],
  ['model_output', said],
  [
    'thought',
    (step, profile, refuse, where) => {
      onlyKeys(step, 'type summary signature', refuse, where)
      if (!isText(step['signature'])) refuse('T189 a thought without a signature', where)
      if (profile.signatures === 'never') refuse('T78 a thought', where)
      if (profile.replay === 'never' && step['signature'] !== SENTINEL) refuse('T78 a thought', where)
    },
  ],
  [
    'function_call',
    (step, _profile, refuse, where) => {
      onlyKeys(step, 'type id name arguments', refuse, where)
      historicName(step['name'], NAME, refuse)
      if (!isObject(step['arguments'])) refuse('T40 arguments that are no object', where)
    },
  ],
  [
    'function_result',
    (step, profile, refuse, where) => {
      onlyKeys(step, 'type call_id name result is_error', refuse, where)
      historicName(step['name'], NAME, refuse)
      const { result } = step
      if (Array.isArray(result)) {
        if (result.length === 0) refuse('T99 an empty result', where)
        for (const one of list(result)) content(one, profile, refuse, where)
      } else if (!isObject(result)) refuse('T99 no result', where)
      if (step['is_error'] !== undefined && step['is_error'] !== true) refuse('T99 is_error', where)
    },
  ],
])

function said(step: Fields, profile: Profile, refuse: Refuse, where: string): void {
  onlyKeys(step, 'type content', refuse, where)
  const contents = list(step['content'])
  if (contents.length === 0) refuse('T123 no content', where)
  for (const one of contents) content(one, profile, refuse, where)
}

const MEDIA = /^(?:image\/(?:png|jpe?g|webp|hei[cf]|gif|bmp|tiff)|audio\/.+|video\/.+|text\/.+|application\/pdf)$/

function content(one: Fields, profile: Profile, refuse: Refuse, where: string): void {
  const { type, text, data, uri, mime_type: mime } = one
  if (type === 'text') {
    onlyKeys(one, 'type text annotations', refuse, where)
    if (!isText(text)) refuse('T123 empty text', where)
    return
  }
  onlyKeys(one, 'type mime_type data uri resolution', refuse, where)
  if (!/^(?:image|audio|video|document)$/.test(String(type))) refuse('T100 an unknown content', where)
  if (!profile.media) refuse('T100 media for a model that takes none', where)
  if (!isText(data) && !isText(uri)) refuse('T100 empty media', where)
  if (isText(data) && !MEDIA.test(String(mime))) refuse('T100 media of a type that is not taken', where)
}

/** Each turn of the model is followed by the results of its calls, and its first call has a thought before it (T189). */
function order(steps: readonly Fields[], profile: Profile, refuse: Refuse): void {
  let calls: Fields[] = []
  let results: Fields[] = []
  let hasThought = false
  const flush = (where: string) => {
    paired(
      calls.map(({ id }) => id),
      results.map(({ call_id: id }) => id),
      refuse,
      where,
    )
    calls = []
    results = []
    hasThought = false
  }
  for (const [at, step] of steps.entries()) {
    const type = String(step['type'])
    if (type === 'function_result') results.push(step)
    else {
      if (type === 'user_input' || results.length > 0) flush(`step ${at}`)
      hasThought ||= type === 'thought'
      if (type === 'function_call' && !hasThought && profile.signatures === 'required')
        refuse('T189 a call without a thought', `step ${at}`)
      if (type === 'function_call') calls.push(step)
    }
  }
  flush('the end')
  const last = String(steps.at(-1)?.['type'])
  if (last !== 'user_input' && last !== 'function_result') refuse('T102 does not end with the user')
}
