import type { Fault, FaultKind } from '../model/fault.ts'
import type { WireId } from '../model/turn.ts'
import { isRetryable } from '../provider/index.ts'
import type { VendorErrorReport } from '../wire/response-writer.ts'

/** An error as the client's own vendor would report it. */
export interface ClientError {
  readonly report: VendorErrorReport
  readonly headers: Readonly<Record<string, string>>
}

/** The status, the words and the headers by which clients of this wire recognise what to do. */
export function toClientError(fault: Fault, wire: WireId): ClientError {
  const status = chooseStatus(fault, wire)
  return {
    report: { status, message: chooseMessage(fault, wire), ...chooseCode(fault, wire) },
    headers: {
      ...(fault.retryAfter !== undefined && { 'retry-after': String(Math.ceil(fault.retryAfter / 1000)) }),
      // The SDKs of Anthropic and OpenAI obey this; others do not know it.
      'x-should-retry': String(isRetryable(fault)),
    },
  }
}

const STATUS_BY_KIND: Readonly<Record<FaultKind, number>> = {
  auth: 401,
  rate: 429,
  quota: 429,
  overflow: 400,
  invalid: 400,
  policy: 400,
  server: 502,
  transport: 502,
  decode: 502,
}

function chooseStatus({ kind, status = 0, code }: Fault, wire: WireId): number {
  if (code === 'timeout') return 504
  if (kind === 'overflow') return 400
  if (status < 400 || status > 599) return STATUS_BY_KIND[kind]
  // Only Anthropic has a status of its own for overload.
  if (status === 529 && wire !== 'anthropic') return 503
  return status
}

/** Clients shorten their history if they find these words. */
function chooseMessage({ kind, message }: Fault, wire: WireId): string {
  if (kind !== 'overflow') return message
  if (wire === 'anthropic') return `prompt is too long: ${message}`
  if (wire === 'openai-chat' || wire === 'openai-responses')
    return `Your input exceeds the context window of this model. ${message}`
  return `The input token count exceeds the maximum number of tokens allowed. ${message}`
}

function chooseCode({ kind }: Fault, wire: WireId): Pick<VendorErrorReport, 'code'> {
  if (wire !== 'openai-chat' && wire !== 'openai-responses') return {}
  if (kind === 'overflow') return { code: 'context_length_exceeded' }
  return kind === 'quota' ? { code: 'insufficient_quota' } : {}
}
