import { isObject, type Json } from '../../../model/json.ts'
import { defined } from '../../../model/defined.ts'
import { handOverRequest } from '../../../wire/hand-over/hand-over-request.ts'
import type { DecodedRequest, Wire } from '../../../wire/wire.ts'
import { fromPlainConversation, type PlainDefaults } from '../../../wire/plain-conversation/from-plain.ts'
import { toPlainConversation } from '../../../wire/plain-conversation/to-plain.ts'
import { loadWire } from '../../../wire/wires.ts'
import { UserError } from '../../user-error.ts'
import type { WireCommandOptions } from './wire.ts'
import { readJsonInput, findRecordings, parseWireOption, printJson } from './wire-input.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** Prints the request body for a conversation; with `--batch`, one line for each recording that contains one. */
export async function runWireEncode(options: WireCommandOptions): Promise<void> {
  const wire = await loadWire(parseWireOption(options.wire))
  if (options.batch === undefined) {
    const { body, warnings } = encodeConversation(wire, readJsonInput(options.file), options, 'model')
    for (const warning of warnings) process.stderr.write(`dragoman: ${warning.message}\n`)
    return printJson(body)
  }
  for (const { id, model, request } of findRecordings(options.batch, 'conversation')) {
    const { body, warnings } = encodeConversation(wire, request?.['conversation'], options, model)
    printJson({ id, wire: wire.id, body, warnings: JSON.parse(JSON.stringify(warnings)) as Json })
  }
}

export async function runWireRead(options: WireCommandOptions): Promise<void> {
  const wire = await loadWire(parseWireOption(options.wire))
  if (options.batch !== undefined)
    throw new UserError('--batch is for decode and encode; dragoman wire read takes one body')
  const body = readJsonInput(options.file)
  if (!isObject(body))
    throw new UserError(`${options.file ?? 'standard input'} is not a request body: it must be a JSON object`)
  const { request, warnings } = wire.readRequest(body)
  const found = { ...toPlainConversation(request), ...(warnings.length > 0 && { warnings }) }
  printJson(JSON.parse(JSON.stringify(found)) as Json)
}

/** A model that the user names goes before the one of the conversation, which may be of another API. */
function encodeConversation(wire: Wire, value: unknown, { model }: WireCommandOptions, defaultModel: string) {
  const { request, warnings } = parseConversation(value, { model: defaultModel, wire: wire.id })
  const encoded = handOverRequest({ ...request, ...defined({ model }) }, wire, wire.profile)
  return { body: encoded.body, warnings: [...warnings, ...encoded.warnings] }
}

function parseConversation(value: unknown, defaults: PlainDefaults): DecodedRequest {
  try {
    return fromPlainConversation(value, defaults)
  } catch (error) {
    throw new UserError(getErrorMessage(error))
  }
}
