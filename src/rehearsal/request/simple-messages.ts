import type { Json } from '../../model/json.ts'
import type { PlainConversation } from '../../wire/plain-conversation/plain-conversation.ts'

/** A message that was sent to a model: its text and calls, without ids. */
export interface SimpleMessage {
  readonly role: 'user' | 'assistant' | 'tool'
  /** The text; of a tool, its result. */
  readonly text: string
  /** The calls that the model made. */
  readonly calls?: readonly { readonly name: string; readonly args: Json }[]
  /** The name of the tool whose result this is. */
  readonly name?: string
  /** The result is an error. */
  readonly error?: true
  /** The types of the images and documents that it contains. */
  readonly media?: readonly string[]
}

export function toSimpleMessages({ messages }: PlainConversation): SimpleMessage[] {
  const names = new Map<string | undefined, string>()
  return messages.map(({ role, parts }) => {
    for (const part of parts) if (part.type === 'call') names.set(part.id, part.name)
    const calls = parts.flatMap((part) => (part.type === 'call' ? [{ name: part.name, args: part.args }] : []))
    const media = parts.flatMap((part) => (part.type === 'media' ? [part.mime] : []))
    const result = parts.find((part) => part.type === 'result')
    const name = result && (result.name ?? names.get(result.id))
    const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    return {
      role,
      text: result ? formatOutput(result.output) : texts.join('\n'),
      ...(calls.length > 0 && { calls }),
      ...(media.length > 0 && { media }),
      ...(name !== undefined && { name }),
      ...(result?.error && { error: true }),
    }
  })
}

function formatOutput(output: Json): string {
  return typeof output === 'string' ? output : JSON.stringify(output)
}
