import { isObject } from '../../model/json.ts'
import { checkGeminiFormat } from './response-format.ts'
import { type UnknownFields, findFirstError, toObjectList, findDuplicate } from './read-fields.ts'

export function checkGeminiRequest(body: UnknownFields): string | undefined {
  const contents = toObjectList(body['contents'])
  if (!contents || contents.length === 0) return '* GenerateContentRequest.contents: contents is not specified'
  return (
    checkTools(body) ??
    checkGeminiFormat(body['generationConfig']) ??
    findFirstError(contents, checkContent) ??
    findFirstError(contents, (content, at) => checkOrder(content, contents[at - 1], contents[at + 1])) ??
    (contents.at(-1)?.['role'] === 'model'
      ? 'Please ensure that single turn requests end with a user role or the role field is empty.'
      : undefined)
  )
}

function checkTools(body: UnknownFields): string | undefined {
  const tools = toObjectList(body['tools'] ?? []) ?? []
  const declared = tools.flatMap((tool) => toObjectList(tool['functionDeclarations'] ?? []) ?? [])
  const wrong = declared.findIndex(({ name }) => !/^[A-Za-z_][\w.:-]{0,127}$/.test(String(name)))
  if (wrong >= 0)
    return `* GenerateContentRequest.tools[0].function_declarations[${wrong}].name: Invalid function name. Must start with a letter or an underscore.`
  const duplicate = findDuplicate(declared.map(({ name }) => String(name)))
  if (duplicate !== undefined) return `Duplicate function declaration found: ${duplicate}`
  const config = isObject(body['toolConfig']) ? body['toolConfig']['functionCallingConfig'] : undefined
  return isObject(config) && declared.length === 0
    ? 'Function calling config is set without function_declarations.'
    : undefined
}

function checkContent(content: UnknownFields, at: number): string | undefined {
  const { role } = content
  const here = `* GenerateContentRequest.contents[${at}]`
  if (role !== undefined && role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.'
  const parts = toObjectList(content['parts'])
  if (!parts || parts.length === 0) return `${here}.parts: contents.parts must not be empty.`
  return findFirstError(parts, (part, partIndex) => {
    const call = part['functionCall']
    const response = part['functionResponse']
    if (
      call !== undefined &&
      (!isObject(call) || !hasName(call) || (call['args'] !== undefined && !isObject(call['args'])))
    )
      return `${here}.parts[${partIndex}].function_call: a name and arguments that are an object are required.`
    if (response !== undefined && (!isObject(response) || !hasName(response) || !isObject(response['response'])))
      return `${here}.parts[${partIndex}].function_response.response: [FIELD_INVALID]`
    const data = Object.keys(part).filter((key) => key !== 'thought' && key !== 'thoughtSignature')
    return data.length === 1
      ? undefined
      : `${here}.parts[${partIndex}].data: required oneof field 'data' must have one initialized field`
  })
}

function checkOrder(
  content: UnknownFields,
  before: UnknownFields | undefined,
  after: UnknownFields | undefined,
): string | undefined {
  const calls = getPartValues(content, 'functionCall')
  const responses = getPartValues(content, 'functionResponse')
  if (calls.length > 0 && (content['role'] !== 'model' || !before || before['role'] === 'model'))
    return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
  if (responses.length > 0 && (content['role'] === 'model' || getPartValues(before, 'functionCall').length === 0))
    return 'Please ensure that function response turn comes immediately after a function call turn.'
  if (calls.length === 0) return undefined
  const answers = getPartValues(after, 'functionResponse')
  if (answers.length !== calls.length)
    return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
  const names = (list: UnknownFields[]) => list.map(({ name }) => String(name)).sort((a, b) => (a < b ? -1 : 1))
  if (names(calls).join('\n') !== names(answers).join('\n'))
    return 'Please ensure that the function response parts have the names of the function call parts.'
  const ids = new Set(calls.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])))
  const unmatched = answers.find(({ id }) => typeof id === 'string' && id !== '' && !ids.has(id))
  return unmatched && `The function response id ${String(unmatched['id'])} belongs to no function call.`
}

function getPartValues(content: UnknownFields | undefined, key: string): UnknownFields[] {
  return (toObjectList(content?.['parts']) ?? []).flatMap((part) => (isObject(part[key]) ? [part[key]] : []))
}

function hasName(value: UnknownFields): boolean {
  return typeof value['name'] === 'string' && value['name'] !== ''
}
