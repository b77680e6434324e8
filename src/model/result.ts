import type { ResultPart, ResultStatus } from './turn.ts'

/** Why a call has an error as its result, where the error is ours and not the tool's. */
export type CallErrorType = 'unknown-tool' | 'invalid-arguments' | 'not-run' | 'timeout' | 'exception'

type CallReference = Pick<ResultPart, 'id' | 'name'>

/** The result of a call as one text. */
export function createTextResult({ id, name }: CallReference, status: ResultStatus, text: string): ResultPart {
  return { kind: 'result', id, name, status, content: [{ kind: 'text', text }] }
}

/** The result of a call that failed or did not run; the model reads `text`. */
export function createErrorResult(
  call: CallReference,
  type: CallErrorType,
  message: string,
  text: string = message,
): ResultPart {
  return { ...createTextResult(call, 'error', text), error: { message, type } }
}
