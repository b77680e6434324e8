import { isObject, type Json } from '../../model/json.ts'
import { fromConversation, toConversation } from '../../wire/conversation.ts'
import { loadWire } from '../../wire/wires.ts'
import { Complaint } from '../exit.ts'
import type { WireOptions } from './wire.ts'
import { readJson, recordings, wireOption } from './wire-input.ts'

/** Prints the request body for a conversation; with `--batch`, one line for each recording that holds one. */
export async function encodeCommand(options: WireOptions): Promise<void> {
  const wire = await loadWire(wireOption(options.wire))
  if (options.batch === undefined) {
    const { body, warnings } = wire.encode(conversation(readJson(options.file), options.model ?? 'model'), wire.profile)
    for (const warning of warnings) process.stderr.write(`dragoman: ${warning.message}\n`)
    return print(body)
  }
  for (const { id, model, request } of recordings(options.batch, 'conversation')) {
    const said = conversation(request?.['conversation'], options.model ?? model)
    const { body, warnings } = wire.encode(said, wire.profile)
    print({ id, wire: wire.id, body, warnings: JSON.parse(JSON.stringify(warnings)) as Json })
  }
}

/** Prints the conversation that a request body holds. */
export async function readCommand(options: WireOptions): Promise<void> {
  const wire = await loadWire(wireOption(options.wire))
  if (options.batch !== undefined)
    throw new Complaint('dragoman wire read takes one body at a time; --batch is for decode and encode')
  const body = readJson(options.file)
  if (!isObject(body))
    throw new Complaint(`${options.file ?? 'standard input'} is no request body: it is not a JSON object`)
  const found = toConversation(wire.read(body))
  print(JSON.parse(JSON.stringify(found)) as Json)
}

function conversation(value: unknown, model: string) {
  try {
    return fromConversation(value, model)
  } catch (error) {
    throw new Complaint(error instanceof Error ? error.message : String(error))
  }
}

function print(value: Json): void {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}
