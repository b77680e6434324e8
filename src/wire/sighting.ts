import { isObject } from '../model/json.ts'

/** An error as some vendor wrote it, with the parts that vendors put into different places in one place. */
export interface ErrorSighting {
  readonly message: string
  readonly code?: string
  readonly type?: string
  /** The HTTP status that the error itself names. */
  readonly status?: number
  readonly param?: string
  /** Whatever else came with it; retry hints are found here. */
  readonly details?: unknown
  /** What the model wrote, where a server rejected it as a malformed call (T73). */
  readonly written?: string
}

/** The error that a frame carries, if it carries one: the shapes of all vendors (T107). */
export function findError(value: unknown): ErrorSighting | undefined {
  return find(value, 0)
}

/** `depth` counts the errors around this one. */
function find(value: unknown, depth: number): ErrorSighting | undefined {
  if (depth > MAX_NESTED) return undefined
  const one: unknown = Array.isArray(value) ? value[0] : value
  if (!isObject(one)) return undefined
  return ownError(one, depth) ?? enclosedError(one, depth) ?? bareError(one, depth)
}

/** `{error: …}`, where null, false and the like mean that there is none. */
function ownError(value: Fields, depth: number): ErrorSighting | undefined {
  const error = value['error']
  if (isObject(error) && Object.keys(error).length > 0) return fromObject(error, value, depth)
  if (typeof error === 'string' && error !== '') return fromText(error, value, depth)
  return error === true ? fromObject(value, value, depth) : undefined
}

/** The error of an envelope's content (Code Assist, response.failed) or of a choice. */
function enclosedError(value: Fields, depth: number): ErrorSighting | undefined {
  const response = value['response']
  if (isObject(response)) return ownError(response, depth)
  const choices = value['choices']
  if (!Array.isArray(choices)) return undefined
  for (const choice of choices) {
    const found = isObject(choice) ? ownError(choice, depth) : undefined
    if (found) return found
  }
  return undefined
}

/** Errors that are not under `error`. Their keys are so common that a frame with content is never taken for one. */
function bareError(value: Fields, depth: number): ErrorSighting | undefined {
  const minimax = value['base_resp']
  if (isObject(minimax) && (number(minimax['status_code']) ?? 0) !== 0) {
    return fromObject({ message: minimax['status_msg'], code: minimax['status_code'] }, {}, depth)
  }
  if (value['success'] === true || value['code'] === 0 || value['code'] === 200) return undefined
  const type = value['type']
  if (type !== 'error' && value['object'] !== 'error') {
    if (!SIGNS.some((key) => isSaying(value[key])) && !isObject(value['detail'])) return undefined
    if (CONTENT.some((key) => value[key] !== undefined && value[key] !== null)) return undefined
    if (typeof type === 'string' && !ERROR_TYPE.test(type) && statusIn(value) === undefined) return undefined
  }
  const errors = value['errors']
  if (!Array.isArray(errors) || !isObject(errors[0])) return fromObject(value, value, depth)
  const first = fromObject(errors[0], {}, depth)
  return { ...first, message: said(errors) || first.message }
}

function fromObject(error: Fields, outer: Fields, depth: number): ErrorSighting {
  const metadata = isObject(error['metadata']) ? error['metadata'] : undefined
  const inner = nested(metadata?.['raw'], depth) ?? nested(error['message'], depth)
  const message = said(error) || text(error['type']) || text(error['code']) || brief(error)
  const details = error['details'] ?? metadata ?? inner?.details ?? remainder(error)
  const fields = {
    code:
      wordy(error['code']) ??
      text(error['error_code']) ??
      wordy(error['status']) ??
      inner?.code ??
      wordy(outer['code']),
    type: typeOf(error) ?? inner?.type,
    status: truer(statusIn(error) ?? statusIn(outer), inner?.status),
    param: text(error['param']) ?? place(error['detail']) ?? place(error['details']) ?? inner?.param,
    details,
    written: text(error['failed_generation']) ?? inner?.written,
  }
  return sighting(withInner(message, metadata?.['raw'], inner), fields)
}

function fromText(error: string, outer: Fields, depth: number): ErrorSighting {
  const inner = nested(error, depth)
  if (inner) return inner
  const more = text(outer['error_description']) ?? text(outer['message'])
  return sighting(more === undefined || more === error ? error : `${error}: ${more}`, {
    code: wordy(outer['code']) ?? (outer['error_description'] === undefined ? undefined : error),
    type: typeOf(outer),
    status: statusIn(outer),
    details: outer['details'],
  })
}

function sighting(
  message: string,
  fields: { [Key in keyof ErrorSighting]?: ErrorSighting[Key] | undefined },
): ErrorSighting {
  const written = fields.written ?? OLLAMA_PARSE_ERROR.exec(message)?.[1]
  const all = { ...fields, written, message: message.slice(0, MESSAGE_LIMIT) }
  return Object.fromEntries(Object.entries(all).filter(([, field]) => field !== undefined)) as unknown as ErrorSighting
}

/** The error inside an error: gateways pass on what their upstream said, often as a string of JSON. */
function nested(value: unknown, depth: number): ErrorSighting | undefined {
  if (typeof value !== 'string') return isObject(value) ? find(value, depth + 1) : undefined
  if (value.length > NESTED_LIMIT) return undefined
  const start = isJson(value) ? 0 : value.indexOf('{"error"')
  if (start < 0) return undefined
  try {
    return find(JSON.parse(value.slice(start)), depth + 1)
  } catch {
    return undefined
  }
}

function withInner(message: string, raw: unknown, inner: ErrorSighting | undefined): string {
  const more = inner?.message ?? (typeof raw === 'string' ? raw.slice(0, RAW_LIMIT) : '')
  if (raw === undefined) return inner && isJson(message) ? more : message
  return more === '' || message.includes(more) ? message : `${message}: ${more}`
}

/** What an error says in words, wherever it says it. */
function said(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (depth > 4) return ''
  if (Array.isArray(value))
    return value
      .slice(0, 5)
      .map((item) => said(item, depth + 1))
      .filter(Boolean)
      .join('; ')
  if (!isObject(value)) return ''
  for (const key of SAYINGS) {
    const words = said(value[key], depth + 1)
    if (words !== '') return key === 'msg' ? [place([value]), words].filter(Boolean).join(': ') : words
  }
  return ''
}

function isJson(value: string): boolean {
  return /^\s*[[{]/.test(value)
}

function isSaying(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || (Array.isArray(value) && value.length > 0)
}

/** The parameter that a validation error of FastAPI points at. */
function place(errors: unknown): string | undefined {
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  const path = isObject(first) && Array.isArray(first['loc']) ? first['loc'] : []
  const steps = path.filter((step) => typeof step === 'string' || typeof step === 'number')
  return steps.filter((step, at) => at > 0 || step !== 'body').join('.') || undefined
}

function typeOf(error: Fields): string | undefined {
  const type = text(error['type']) ?? text(error['error_type']) ?? text(error['__type'])
  return type === 'error' ? undefined : type
}

function statusIn(error: Fields): number | undefined {
  for (const key of ['status', 'status_code', 'statusCode', 'http_status', 'code', 'error_code']) {
    const status = number(error[key])
    if (status !== undefined && status >= 300 && status < 600) return status
  }
  return undefined
}

/** A gateway says 502 of whatever its upstream refused; the upstream's own word for it counts more. */
function truer(outer: number | undefined, inner: number | undefined): number | undefined {
  return outer === undefined || (outer >= 500 && inner !== undefined) ? inner : outer
}

/** A code that is not just a status. */
function wordy(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return value === '' || statusIn({ code: value }) !== undefined ? undefined : String(value)
}

/** The fields that have no place of their own, such as a time to wait. */
function remainder(error: Fields): Fields | undefined {
  const rest = Object.entries(error).filter(([key, value]) => !PLACED.has(key) && value !== null)
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

/** Only of texts and numbers: other values could have a `valueOf` of their own. */
function number(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return value === '' || !Number.isInteger(Number(value)) ? undefined : Number(value)
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function brief(value: unknown): string {
  try {
    return JSON.stringify(value).slice(0, RAW_LIMIT)
  } catch {
    return 'an error without a message'
  }
}

type Fields = Readonly<Record<string, unknown>>

const MESSAGE_LIMIT = 4000
const RAW_LIMIT = 500
const NESTED_LIMIT = 20_000
const MAX_NESTED = 4
const SAYINGS = ['message', 'msg', 'detail', 'error', 'error_msg', 'errors', 'description', 'title']
/** Keys that only an error has at the top level. */
const SIGNS = ['message', 'msg', 'detail', 'error_msg', 'errors']
const CONTENT = [
  'choices',
  'candidates',
  'content',
  'output',
  'delta',
  'response',
  'item',
  'part',
  'data',
  'content_block',
  'usageMetadata',
]
const ERROR_TYPE = /error|exception|invalid|denied|fail|limit|quota|not.?found|forbidden|unauthori|^about:|^https?:/i
const PLACED = new Set([
  'message',
  'type',
  'code',
  'status',
  'param',
  'failed_generation',
  'object',
  'error',
  'detail',
  'errors',
])
const OLLAMA_PARSE_ERROR = /error parsing tool call: raw='([\s\S]*)', err=/
