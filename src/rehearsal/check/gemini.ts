import { isObject } from '../../model/json.ts'
import { type Fields, firstOf, objects, twice } from './fields.ts'

/** What Gemini's generateContent would refuse. */
export function checkGemini(body: Fields): string | undefined {
  const contents = objects(body['contents'])
  if (!contents || contents.length === 0) return '* GenerateContentRequest.contents: contents is not specified'
  return (
    checkTools(body) ??
    firstOf(contents, checkContent) ??
    firstOf(contents, (content, at) => checkOrder(content, contents[at - 1], contents[at + 1])) ??
    (contents.at(-1)?.['role'] === 'model'
      ? 'Please ensure that single turn requests end with a user role or the role field is empty.'
      : undefined)
  )
}

function checkTools(body: Fields): string | undefined {
  const tools = objects(body['tools'] ?? []) ?? []
  const declared = tools.flatMap((tool) => objects(tool['functionDeclarations'] ?? []) ?? [])
  const wrong = declared.findIndex(({ name }) => !/^[A-Za-z_][\w.:-]{0,127}$/.test(String(name)))
  if (wrong >= 0)
    return `* GenerateContentRequest.tools[0].function_declarations[${wrong}].name: Invalid function name. Must start with a letter or an underscore.`
  const again = twice(declared.map(({ name }) => String(name)))
  if (again !== undefined) return `Duplicate function declaration found: ${again}`
  const config = isObject(body['toolConfig']) ? body['toolConfig']['functionCallingConfig'] : undefined
  return isObject(config) && declared.length === 0
    ? 'Function calling config is set without function_declarations.'
    : undefined
}

function checkContent(content: Fields, at: number): string | undefined {
  const { role } = content
  const here = `* GenerateContentRequest.contents[${at}]`
  if (role !== undefined && role !== 'user' && role !== 'model') return 'Please use a valid role: user, model.'
  const parts = objects(content['parts'])
  if (!parts || parts.length === 0) return `${here}.parts: contents.parts must not be empty.`
  return firstOf(parts, (part, place) => {
    const call = part['functionCall']
    const response = part['functionResponse']
    if (
      call !== undefined &&
      (!isObject(call) || !named(call) || (call['args'] !== undefined && !isObject(call['args'])))
    )
      return `${here}.parts[${place}].function_call: a name and arguments that are an object are required.`
    if (response !== undefined && (!isObject(response) || !named(response) || !isObject(response['response'])))
      return `${here}.parts[${place}].function_response.response: [FIELD_INVALID]`
    const data = Object.keys(part).filter((key) => key !== 'thought' && key !== 'thoughtSignature')
    return data.length === 1
      ? undefined
      : `${here}.parts[${place}].data: required oneof field 'data' must have one initialized field`
  })
}

function checkOrder(content: Fields, before: Fields | undefined, after: Fields | undefined): string | undefined {
  const calls = inside(content, 'functionCall')
  const responses = inside(content, 'functionResponse')
  if (calls.length > 0 && (content['role'] !== 'model' || !before || before['role'] === 'model'))
    return 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
  if (responses.length > 0 && (content['role'] === 'model' || inside(before, 'functionCall').length === 0))
    return 'Please ensure that function response turn comes immediately after a function call turn.'
  if (calls.length === 0) return undefined
  const answers = inside(after, 'functionResponse')
  if (answers.length !== calls.length)
    return 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
  const names = (list: Fields[]) => list.map(({ name }) => String(name)).sort((a, b) => (a < b ? -1 : 1))
  if (names(calls).join('\n') !== names(answers).join('\n'))
    return 'Please ensure that the function response parts have the names of the function call parts.'
  const ids = new Set(calls.flatMap(({ id }) => (typeof id === 'string' ? [id] : [])))
  const stray = answers.find(({ id }) => typeof id === 'string' && id !== '' && !ids.has(id))
  return stray && `The function response id ${String(stray['id'])} belongs to no function call.`
}

function inside(content: Fields | undefined, key: string): Fields[] {
  return (objects(content?.['parts']) ?? []).flatMap((part) => (isObject(part[key]) ? [part[key]] : []))
}

function named(value: Fields): boolean {
  return typeof value['name'] === 'string' && value['name'] !== ''
}
