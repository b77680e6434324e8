import { toCanonicalJson } from '../../model/json.ts'
import { sha256Hex } from '../../host/files/sha256.ts'

/**
 * The id of an answer: the script and how many answers came before, so that the same request gets the same ids. The
 * `t` says that there was a thought, which some vendors want back with the calls.
 */
export function createResponseId(script: string, turns: number, hasReasoning: boolean): string {
  return `${script.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 16)}_${turns}${hasReasoning ? 't' : ''}`
}

/** How many answers came before the one with this id, if it is one of ours. */
export function parseTurnCount(id: string): number | undefined {
  const found = /_(\d+)t?$/.exec(id)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Does this call, by its id, belong to an answer of ours that began with a thought? */
export function hadReasoning(callId: string): boolean {
  return /_\d+t_\d+[a-z]*$/.test(callId)
}

/** A signature over what it stands for. It needs no memory to be checked: whoever has the content can do it again. */
export function signContent(content: unknown): string {
  return Buffer.from(`${SIGNATURE_PREFIX}${hashContent(content)}`).toString('base64')
}

/** Is this our signature over this very content? */
export function isValidSignature(signature: unknown, content: unknown): boolean {
  return signature === signContent(content)
}

function hashContent(content: unknown): string {
  return sha256Hex(toCanonicalText(content)).slice(0, 32)
}

/** Equal content gives equal text; what is nested too deeply to be sorted counts as it stands. */
function toCanonicalText(content: unknown): string {
  try {
    return toCanonicalJson(content) ?? ''
  } catch {
    return 'deep'
  }
}

const SIGNATURE_PREFIX = 'rehearsal:'
