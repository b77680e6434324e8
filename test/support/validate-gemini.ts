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

/** Documented to let a call pass that has no signature of its own (T120). */
const SENTINEL = 'skip_thought_signature_validator'

/** What generateContent would refuse. */
export function validateGemini(body: Fields, profile: Profile, refuse: Refuse): void {
  onlyKeys(body, 'systemInstruction tools toolConfig generationConfig session_id contents', refuse, 'body')
  tools(body, profile, refuse)
  const { systemInstruction: system } = body
  if (system !== undefined && !(isObject(system) && list(system['parts']).every((one) => isText(one['text']))))
    refuse('T136 an empty system instruction')
  const config = isObject(body['generationConfig']) ? body['generationConfig'] : {}
  const stop = config['stopSequences'] ?? ['x']
  if (!Array.isArray(stop) || stop.length === 0 || stop.length > 5 || stop.includes('')) refuse('T155 stopSequences')
  const contents = list(body['contents'])
  const signatures: unknown[] = []
  for (const [at, content] of contents.entries()) {
    const where = `content ${at}`
    onlyKeys(content, 'role parts', refuse, where)
    const role = at % 2 === 0 ? 'user' : 'model'
    if (content['role'] !== role) refuse('T122 the roles do not alternate, beginning with the user', where)
    const parts = list(content['parts'])
    if (parts.length === 0) refuse('T123 no parts', where)
    for (const one of parts) part(one, String(content['role']), profile, refuse)
    if (content['role'] === 'model') model(parts, list(contents[at + 1]?.['parts']), profile, refuse, where)
    else if (at === 0 && parts.some((one) => one['functionResponse'] !== undefined))
      refuse('T121 a response that answers nothing', where)
    if (at > 0 && content['role'] === 'user') unasked(parts, list(contents[at - 1]?.['parts']), refuse, where)
    signatures.push(...parts.flatMap(({ thoughtSignature: signature }) => (signature === undefined ? [] : [signature])))
  }
  if (contents.at(-1)?.['role'] !== 'user') refuse('T102 does not end with the user')
  const real = signatures.filter((signature) => signature !== SENTINEL)
  if (profile.signatures === 'never' && signatures.length > 0) refuse('T78 a signature')
  if (!real.every(isText)) refuse('T120 an empty signature')
  // In these tests the ids that an endpoint gives carry its mark; any other is one that it never gave (T126).
  uniqueIds(ids(contents, 'functionCall'), /^Zq[A-Z]7Qz/, refuse)
}

function ids(contents: readonly Fields[], key: string): unknown[] {
  const parts = contents.flatMap((content) => list(content['parts']))
  return parts.flatMap(({ [key]: one }) => (isObject(one) && one['id'] !== undefined ? [one['id']] : []))
}

/** The calls of a content and the responses at the head of the next one: as many, in the same order, nothing before them (T121). */
function model(
  parts: readonly Fields[],
  next: readonly Fields[],
  profile: Profile,
  refuse: Refuse,
  where: string,
): void {
  const calls = parts.map(({ functionCall: call }) => call).filter(isObject)
  const responses = next.slice(0, calls.length).map(({ functionResponse: response }) => response)
  const named = (one: unknown) => (isObject(one) ? [one['name'], one['id']] : undefined)
  paired(calls.map(named), responses.map(named), refuse, where)
  const signed = parts.filter((one) => one['functionCall'] !== undefined).map((one) => one['thoughtSignature'])
  if (profile.signatures === 'required' && signed.length > 0 && signed[0] === undefined)
    refuse('T117 the first call is not signed', where)
  if (signed.slice(1).includes(SENTINEL)) refuse('T118 more than the first call is signed', where)
  if (parts.some((one) => one['functionCall'] === undefined && one['thoughtSignature'] === SENTINEL))
    refuse('T118 the sentinel on what is no call', where)
}

function unasked(parts: readonly Fields[], before: readonly Fields[], refuse: Refuse, where: string): void {
  const count = (some: readonly Fields[], key: string) => some.filter((one) => one[key] !== undefined).length
  if (count(parts, 'functionResponse') !== count(before, 'functionCall'))
    refuse('T121 the number of responses is not that of the calls', where)
}

const TAKEN = /^(?:image\/(?:png|jpeg|webp|heic|heif)|audio\/wav|video\/mp4|text\/plain|application\/pdf)$/

const HOLDS = [
  'text',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
  'executableCode',
  'codeExecutionResult',
]

function part(given: Fields, role: string, profile: Profile, refuse: Refuse): void {
  onlyKeys(given, [...HOLDS, 'thought', 'thoughtSignature'].join(' '), refuse, 'part')
  const held = HOLDS.filter((key) => given[key] !== undefined)
  if (held.length !== 1) refuse('T123 a part that holds not one thing', held.join(' '))
  const { text, thought, functionCall: call, functionResponse: response, thoughtSignature: signature } = given
  if (text !== undefined && !isText(text) && signature === undefined) refuse('T123 an empty text')
  if (role === 'user' && (call !== undefined || thought !== undefined || signature !== undefined))
    refuse('T122 the user calls or thinks')
  if (role === 'model' && response !== undefined) refuse('T122 the model answers a call')
  if (thought !== undefined && (thought !== true || signature === undefined || profile.replay === 'never'))
    refuse('a thought that nobody asks for')
  media(given, profile, refuse)
  if (isObject(call)) {
    onlyKeys(call, 'id name args', refuse, 'functionCall')
    historicName(call['name'], NAME, refuse)
    if (!isObject(call['args'])) refuse('T128 args are no object')
    if (call['id'] === '') refuse('T126 an empty id')
  }
  if (!isObject(response)) return
  onlyKeys(response, 'id name response parts', refuse, 'functionResponse')
  if (!isObject(response['response'])) refuse('T127 the response is no object')
  if (response['parts'] === undefined) return
  if (!profile.nestedMedia || !profile.media) refuse('T100 media inside a response')
  if (list(response['parts']).length === 0) refuse('T123 no parts')
  for (const inside of list(response['parts'])) {
    onlyKeys(inside, 'inlineData fileData', refuse, 'functionResponse.parts')
    media(inside, profile, refuse)
  }
}

function media({ inlineData: inline, fileData: file }: Fields, profile: Profile, refuse: Refuse): void {
  if (inline === undefined && file === undefined) return
  if (!profile.media) refuse('T100 media for a model that takes none')
  if (isObject(inline) && !isText(inline['data'])) refuse('T100 empty media')
  if (isObject(inline) && !TAKEN.test(String(inline['mimeType']))) refuse('T100 media of no known kind')
  if (isObject(file) && !isText(file['fileUri'])) refuse('T100 media that are nowhere')
}

function tools(body: Fields, profile: Profile, refuse: Refuse): void {
  const { toolConfig: config } = body
  if (!Object.hasOwn(body, 'tools')) return config === undefined ? undefined : refuse('T130 toolConfig without tools')
  if (profile.tools === 'text') refuse('tools for a model without calls')
  const given = list(body['tools']).flatMap((tool) => list(tool['functionDeclarations']))
  const older = profile.dialect === 'gemini'
  for (const tool of given)
    onlyKeys(tool, older ? 'name description parameters' : 'name description parametersJsonSchema', refuse, 'tool')
  const names = declarations(
    given.map(({ name, description, parameters, parametersJsonSchema: json }) => ({
      name,
      description,
      schema: older ? parameters : (json ?? null),
    })),
    {
      names: NAME,
      object: older ? 'OBJECT' : 'object',
      ...(older && { keys: /^[A-Za-z_]\w{0,63}$/ }),
    },
    refuse,
  )
  if (config === undefined) return
  const calling = isObject(config) ? config['functionCallingConfig'] : undefined
  if (!isObject(calling)) return refuse('T130 an empty toolConfig')
  const { mode, allowedFunctionNames: allowed } = calling
  if (allowed === undefined) return
  if (mode !== 'ANY' && mode !== 'VALIDATED') refuse('T130 allowed names without a mode that takes them')
  if (!Array.isArray(allowed) || allowed.length === 0) return refuse('T130 no allowed names')
  for (const name of allowed) if (!names.has(String(name))) refuse('T130 allows what is not declared', String(name))
}
