import { isObject, type Json } from '../../../model/json.ts'
import { fromPlainConversation, toPlainConversation } from '../../../wire/plain-conversation.ts'
import { loadWire } from '../../../wire/wires.ts'
import { UserError } from '../../user-error.ts'
import type { WireCommandOptions } from './wire.ts'
import { readJsonInput, findRecordings, parseWireOption, printJson } from './wire-input.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** Prints the request body for a conversation; with `--batch`, one line for each recording that contains one. */
export async function runWireEncode(options: WireCommandOptions): Promise<void> {
  const wire = await loadWire(parseWireOption(options.wire))
  if (options.batch === undefined) {
    const request = parseConversation(readJsonInput(options.file), options.model ?? 'model')
    const { body, warnings } = wire.encodeRequest(request, wire.profile)
    for (const warning of warnings) process.stderr.write(`dragoman: ${warning.message}\n`)
    return printJson(body)
  }
  for (const { id, model, request } of findRecordings(options.batch, 'conversation')) {
    const parsed = parseConversation(request?.['conversation'], options.model ?? model)
    const { body, warnings } = wire.encodeRequest(parsed, wire.profile)
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

function parseConversation(value: unknown, model: string) {
  try {
    return fromPlainConversation(value, model)
  } catch (error) {
    throw new UserError(getErrorMessage(error))
  }
}
