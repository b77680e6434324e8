import { toCanonicalJson } from '../../model/json.ts'
import { sha256Hex } from '../../host/files/sha256.ts'

/**
 * Script and number of earlier responses, so that the same request gets the same ids. The `t` marks reasoning, which
 * some vendors require back with the calls.
 */
export function createResponseId(script: string, turns: number, hasReasoning: boolean): string {
  return `${script.replaceAll(/[^A-Za-z0-9]/g, '').slice(0, 16)}_${turns}${hasReasoning ? 't' : ''}`
}

/** The number of responses before the one with this id. */
export function getTurnCountFromId(id: string): number | undefined {
  const found = /_(\d+)t?$/.exec(id)?.[1]
  return found === undefined ? undefined : Number(found)
}

/** Does the id of this call belong to a response with reasoning? */
export function isCallIdWithReasoning(callId: string): boolean {
  return /_\d+t_\d+[a-z]*$/.test(callId)
}

/** Signatures are derived from the content, so that the server needs no memory to check them. */
export function signContent(content: unknown): string {
  return Buffer.from(`${SIGNATURE_PREFIX}${hashContent(content)}`).toString('base64')
}

export function isValidSignature(signature: unknown, content: unknown): boolean {
  return signature === signContent(content)
}

function hashContent(content: unknown): string {
  return sha256Hex(toCanonicalText(content)).slice(0, 32)
}

/** Content that is nested too deeply to be sorted is not distinguished. */
function toCanonicalText(content: unknown): string {
  try {
    return toCanonicalJson(content) ?? ''
  } catch {
    return 'deep'
  }
}

const SIGNATURE_PREFIX = 'rehearsal:'
