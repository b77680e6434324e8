import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Json, JsonObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelRequest } from '../../src/model/request.ts'
import type { AssistantPart, Turn, WireId } from '../../src/model/turn.ts'
import { wires } from '../support/cases.ts'
import { sealed, signed } from '../support/native.ts'
import { WIRES, sealMark } from '../support/seals.ts'
import { validateTranscript } from '../support/transcript-validator.ts'

/** A conversation in which everything occurs that a wire can get wrong: a thought, words, two calls, a picture, words again. */
function conversation(wire: WireId): ModelRequest {
  const parts: AssistantPart[] = [
    { kind: 'reasoning', text: 'Two files.' },
    { kind: 'text', text: 'I look.' },
    { kind: 'call', id: 'k0000000000000000000A0000', name: 'read_file', raw: '{"path":"a"}', input: { path: 'a' } },
    { kind: 'call', id: 'k0000000000000000000A0001', name: 'run', raw: '{}', input: {} },
  ]
  const maker = { wire, signer: wire, ids: 'any' } as const
  const made = signed(
    parts.map((part, at) => sealed(part, maker, at === 0 ? 3 : at)),
    maker,
  )
  const turns: Turn[] = [
    { role: 'user', parts: [{ kind: 'text', text: 'Look.' }, PICTURE] },
    { role: 'assistant', origin: { provider: wire, wire, model: 'm' }, parts: made, finish: { reason: 'calls' } },
    {
      role: 'results',
      parts: [
        { kind: 'result', id: 'k0000000000000000000A0000', name: 'read_file', status: 'ok', content: [PICTURE] },
        { kind: 'result', id: 'k0000000000000000000A0001', name: 'run', status: 'error', content: [] },
      ],
    },
    { role: 'assistant', origin: { provider: wire, wire, model: 'm' }, parts: [SAID], finish: { reason: 'stop' } },
    { role: 'user', parts: [{ kind: 'text', text: 'Go on.' }] },
  ]
  return { model: 'm', system: 'Be brief.', tools: TOOLS, toolChoice: { name: 'run' }, turns }
}

const PICTURE = { kind: 'media', mime: 'image/png', data: 'iVBORw0K' } as const
const SAID = { kind: 'text', text: 'One failed.' } as const
const TOOLS = ['read_file', 'run'].map((name) => ({
  name,
  description: 'Works.',
  schema: { type: 'object', properties: { path: { type: 'string' } } },
}))

/** One thing done to a body: a value put in its place, a key taken away, an item taken out, doubled or swapped. */
type Harm = [rule: string, path: string, how: 'take' | 'double' | 'swap' | { put: Json }, flags?: Partial<Profile>]

const put = (value: Json) => ({ put: value })
const SECOND = { role: 'user', content: 'Another.' }

const GEMINI: Harm[] = [
  ['T121', 'contents/2/parts/1', 'take'],
  ['T88–T92', 'contents/2/parts/0', 'swap'],
  ['T121', 'contents/2/parts/0', 'double'],
  ['T121', 'contents/4/parts/0', put({ functionResponse: { name: 'run', response: {} } })],
  ['T122', 'contents/2/role', put('function')],
  ['T122', 'contents/0', 'take'],
  ['T102', 'contents/4', 'take'],
  ['T123', 'contents/4/parts', put([])],
  ['T123', 'contents/4/parts/0/text', put(' ')],
  ['T117', 'contents/1/parts/2/thoughtSignature', 'take'],
  ['T118', 'contents/1/parts/3/thoughtSignature', put('skip_thought_signature_validator')],
  ['T78', 'contents/1/parts/2/thoughtSignature', put('x'), { signatures: 'never' }],
  ['T120', 'contents/1/parts/2/thoughtSignature', put(sealMark('anthropic', 'anthropic'))],
  ['T104', 'contents/1/parts/2/functionCall/name', put('$RUN')],
  ['T128', 'contents/1/parts/2/functionCall/args', put('{}')],
  ['T127', 'contents/2/parts/0/functionResponse/response', put('text')],
  [
    'T100',
    'contents/2/parts/0/functionResponse/parts',
    put([{ inlineData: { mimeType: 'image/png', data: 'x' } }]),
    { nestedMedia: false },
  ],
  ['T100', 'contents/0/parts/1/inlineData/data', put('')],
  ['T130', 'tools', 'take'],
  ['T130', 'toolConfig/functionCallingConfig/allowedFunctionNames', put(['nobody'])],
  ['T130', 'toolConfig/functionCallingConfig/mode', put('AUTO')],
  ['T145', 'tools/0/functionDeclarations/0/name', put('a b')],
  ['T145', 'tools/0/functionDeclarations/0', 'double'],
  ['T147', 'tools/0/functionDeclarations/0/parametersJsonSchema/anyOf', put([])],
  ['T103', 'contents/4/parts/0/text', put('half \uD83D')],
]

const CHAT: Harm[] = [
  ['T88–T92', 'messages/3', 'take'],
  ['T88–T92', 'messages/3', 'swap'],
  ['T88–T92', 'messages/3', 'double'],
  ['T88–T92', 'messages/2/tool_calls/0', 'take'],
  ['T89', 'messages/2', 'take'],
  ['T97', 'messages/2/tool_calls/0/id', put('x'.repeat(41))],
  ['T97', 'messages/2/tool_calls/0/id', put('ten0000000'), { ids: 'nine' }],
  ['T10', 'messages/2/tool_calls/1/id', put(`call_${sealMark('openai-chat', 'openai-chat')}2`)],
  ['T104', 'messages/2/tool_calls/0/function/name', put('a.b')],
  ['T40', 'messages/2/tool_calls/0/function/arguments', put('[]')],
  ['T40', 'messages/2/tool_calls/0/function/arguments', put('{"a":"\\ud83d"}')],
  ['T85', 'messages/6/content', put('')],
  ['T86', 'messages/2/content', put('')],
  ['T87', 'messages/6/content', put([{ type: 'text', text: 'x' }])],
  ['T99', 'messages/4/content', put('')],
  ['T99', 'messages/4/content', put([{ type: 'text', text: 'x' }])],
  ['T99', 'messages/4/name', 'take', { resultName: true }],
  ['T75', 'messages/6/reasoning', 'take', { needsReasoning: 'reasoning' }],
  ['T78', 'messages/6/reasoning', put('x'), { replay: 'never' }],
  ['T93', 'messages/7', 'double', { alternate: true }],
  ['T94', 'messages/5', put(SECOND), { bridge: true }],
  ['T93', 'messages/6', 'double'],
  ['T101', 'messages/0/role', put('developer')],
  ['T102', 'messages/7', 'take'],
  ['T100', 'messages/1/content/1/image_url/url', put('data:image/png;base64,')],
  ['T100', 'messages/1/content/0/type', put('text'), { media: false }],
  ['T98', 'tools', 'take'],
  ['T98', 'tools', put([])],
  ['T153', 'tool_choice/function/name', put('nobody')],
  ['T155', 'max_tokens', put(5)],
  ['T92', 'user', put('after the messages')],
]

const RESPONSES: Harm[] = [
  ['T88–T92', 'input/5', 'take'],
  ['T88–T92', 'input/5', 'swap'],
  ['T88–T92', 'input/5', 'double'],
  ['T88', 'input/6', 'take'],
  ['T97', 'input/3/call_id', put('a|b')],
  ['T104', 'input/3/name', put('a.b')],
  ['T40', 'input/3/arguments', put('null')],
  ['T84', 'input/1/encrypted_content', 'take'],
  ['T84', 'input/1/summary', 'take'],
  ['unknown key id', 'input/1/id', put('rs_1')],
  ['unknown key id', 'input/3/id', put('fc_1')],
  ['T78', 'input/1/type', put('reasoning'), { replay: 'never' }],
  ['T84', 'input/7', put({ type: 'reasoning', summary: [], encrypted_content: 'x' })],
  ['T85', 'input/7/content', put('')],
  ['T99', 'input/6/output', put('')],
  ['T100', 'input/0/content/1/image_url', put('data:image/png;base64,')],
  ['T102', 'input/8', 'take'],
  ['T144', 'tools/0/strict', 'take'],
  ['T98', 'tools', 'take'],
  ['T153', 'tool_choice/name', put('nobody')],
  ['T155', 'max_output_tokens', put(1)],
]

const ANTHROPIC: Harm[] = [
  ['T88–T92', 'messages/2/content/0', 'take'],
  ['T88–T92', 'messages/2/content/0', 'swap'],
  ['T89', 'messages/2/content/0', 'double'],
  ['T89', 'messages/4/content/0', put({ type: 'tool_result', tool_use_id: 'x', content: 'x' })],
  ['T88–T92', 'messages/2/content/0', put({ type: 'text', text: 'before the results' })],
  ['T93', 'messages/1', 'take'],
  ['T93', 'messages/0', 'take'],
  ['T97', 'messages/1/content/2/id', put('a.b')],
  ['T104', 'messages/1/content/2/name', put('a.b')],
  ['T40', 'messages/1/content/2/input', put('{}')],
  ['T81', 'messages/1/content/0/signature', put('')],
  ['T80', 'messages/3/content/0', put({ type: 'thinking', thinking: 'x', signature: 'y' })],
  ['T78', 'messages/1/content/0/type', put('thinking'), { replay: 'never' }],
  ['T136', 'messages/3/content/0/text', put(' ')],
  ['T136', 'messages/3/content', put([])],
  ['T99', 'messages/2/content/1/content', put('')],
  ['T100', 'messages/2/content/0/is_error', put(true)],
  ['T100', 'messages/0/content/1/source/media_type', put('image/tiff')],
  ['T102', 'messages/4', 'take'],
  ['T137', 'messages/3/content/0', put({ type: 'web_search_tool_result', tool_use_id: 'x' })],
  ['T137', 'messages/1/content/1', put({ type: 'server_tool_use', id: 'srvtoolu_1', name: 'x', input: {} })],
  ['T98', 'tools', 'take'],
  ['T146', 'tools/0/input_schema/properties/filter[id]', put({ type: 'string' })],
  ['T147', 'tools/0/input_schema/type', 'take'],
  ['T152', 'tools/0/description', put('')],
  ['T153', 'tool_choice/name', put('nobody')],
  ['T83', 'thinking', put({ type: 'enabled', budget_tokens: 2000 })],
  ['T155', 'thinking', put({ type: 'enabled', budget_tokens: 99999 })],
  ['T120', 'messages/1/content/0/signature', put(sealMark('gemini', 'gemini'))],
]

const INTERACTIONS: Harm[] = [
  ['T88–T92', 'input/5', 'take'],
  ['T88–T92', 'input/5', 'swap'],
  ['T88–T92', 'input/5', 'double'],
  ['T10', 'input/4/id', put(`call_${sealMark('interactions', 'interactions')}2`)],
  ['T97', 'input/3/id', put('')],
  ['T104', 'input/3/name', put('$RUN')],
  ['T40', 'input/3/arguments', put('{}')],
  ['T189', 'input/1', 'take'],
  ['T189', 'input/1/signature', put('')],
  ['T78', 'input/1/type', put('thought'), { signatures: 'never' }],
  ['T78', 'input/1/summary', put([]), { replay: 'never' }],
  ['T120', 'input/1/signature', put(sealMark('gemini', 'gemini'))],
  ['T123', 'input/0/content', put([])],
  ['T123', 'input/7/content/0/text', put(' ')],
  ['T99', 'input/6/result', put([])],
  ['unknown key role', 'input/0/role', put('user')],
  ['unknown key response', 'input/5/response', put({})],
  ['T100', 'input/0/content/1/data', put('')],
  ['T100', 'input/0/content/1/type', put('picture')],
  ['T102', 'input/8', 'take'],
  ['unknown key tool_choice', 'tool_choice', put('auto')],
  ['T130', 'tools', 'take'],
  ['T130', 'generation_config/tool_choice/allowed_tools/tools', put(['nobody'])],
  ['T145', 'tools/0/name', put('a b')],
  ['T145', 'tools/0', 'double'],
  ['T147', 'tools/0/parameters/anyOf', put([])],
  ['T152', 'tools/0/description', put('')],
  ['T103', 'input/8/content/0/text', put('half \uD83D')],
]

const HARMS: Record<WireId, Harm[]> = {
  gemini: GEMINI,
  interactions: INTERACTIONS,
  'code-assist': GEMINI.map(([rule, path, ...rest]) => [rule, `request/${path}`, ...rest]),
  'openai-chat': CHAT,
  'openai-responses': RESPONSES,
  anthropic: ANTHROPIC,
}

describe('the validator refuses', () => {
  for (const wire of WIRES) {
    it(`${wire}: nothing that is sound, and each harm done to it`, () => {
      const { profile } = wires[wire]
      const { body } = wires[wire].encodeRequest(conversation(wire), profile)
      assert.deepEqual(validateTranscript(wire, body, profile), [])
      for (const [rule, path, how, flags] of HARMS[wire]) {
        const harmed = structuredClone(body)
        harm(harmed, path.split('/'), how)
        const found = validateTranscript(wire, harmed, { ...profile, ...flags })
        assert.ok(
          found.some((one) => one.startsWith(rule)),
          `${path} ${JSON.stringify(how)}: wanted ${rule}, found ${found.join('; ') || 'nothing'}\n${JSON.stringify(body)}`,
        )
      }
    })
  }
})

function harm(body: JsonObject, path: readonly string[], how: Harm[2]): void {
  const [last = ''] = path.slice(-1)
  const holder = path.slice(0, -1).reduce<Json>((inner, key) => (inner as JsonObject)[key] ?? {}, body)
  if (typeof how === 'object') Object.assign(holder as JsonObject, { [last]: how.put })
  else if (Array.isArray(holder)) {
    const at = Number(last)
    const [one, next] = holder.slice(at)
    if (how === 'take') holder.splice(at, 1)
    else if (one !== undefined && how === 'double') holder.splice(at, 0, one)
    else if (one !== undefined && next !== undefined) holder.splice(at, 2, next, one)
  } else Reflect.deleteProperty(holder as JsonObject, last)
}
