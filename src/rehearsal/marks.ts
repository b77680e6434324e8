import { createHash } from 'node:crypto'
import { canonical } from '../model/json.ts'

/**
 * The id of an answer: the script and how many answers came before, so that the same request gets the same ids. The
 * `t` says that there was a thought, which some vendors want back with the calls.
 */
export function answerId(script: string, turns: number, thought: boolean): string {
  return `${script.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 16)}_${turns}${thought ? 't' : ''}`
}

/** How many answers came before the one with this id, if it is one of ours. */
export function turnsBefore(id: string): number | undefined {
  const found = /_(\d+)t?$/.exec(id)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Does this call, by its id, belong to an answer of ours that began with a thought? */
export function hadThought(callId: string): boolean {
  return /_\d+t_\d+[a-z]*$/.test(callId)
}

/** A signature over what it stands for. It needs no memory to be checked: whoever has the content can do it again. */
export function sign(content: unknown): string {
  return Buffer.from(`${MARK}${digest(content)}`).toString('base64')
}

/** Is this our signature over this very content? */
export function isSigned(signature: unknown, content: unknown): boolean {
  return signature === sign(content)
}

function digest(content: unknown): string {
  return createHash('sha256').update(written(content)).digest('hex').slice(0, 32)
}

/** Equal content gives equal text; what is nested too deeply to be sorted counts as it stands. */
function written(content: unknown): string {
  try {
    return canonical(content) ?? ''
  } catch {
    return 'deep'
  }
}

const MARK = 'rehearsal:'
