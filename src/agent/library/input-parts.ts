import type { UserTurn } from '../../model/turn.ts'
import type { InputPart } from './agent-options.ts'

/** A prompt as the parts of a user turn. */
export function toUserParts(input: string | readonly InputPart[]): UserTurn['parts'] {
  return (typeof input === 'string' ? [input] : input).map((part) => {
    if (typeof part === 'string') return { kind: 'text', text: part }
    if (part.kind === 'text' || !(part.data instanceof Uint8Array)) return part as UserTurn['parts'][number]
    return { ...part, data: Buffer.from(part.data).toString('base64') }
  })
}
