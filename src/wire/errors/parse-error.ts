import { defined } from '../../model/defined.ts'
import { isObject, tryParseJson } from '../../model/json.ts'

/** The error of any vendor, in one form. */
export interface ParsedVendorError {
  readonly message: string
  readonly code?: string
  readonly type?: string
  /** The HTTP status that the error itself contains. */
  readonly status?: number
  readonly param?: string
  /** Everything else, such as retry hints. */
  readonly details?: unknown
  /** What the model wrote, if a server rejected it as a malformed call (T73). */
  readonly written?: string
}

/** The error in a frame, if there is one, in the format of any vendor (T107). */
export function parseVendorError(value: unknown): ParsedVendorError | undefined {
  return parseAtDepth(value, 0)
}

/** `depth` counts the errors around this one. */
function parseAtDepth(value: unknown, depth: number): ParsedVendorError | undefined {
  if (depth > MAX_NESTED_ERRORS) return undefined
  const one: unknown = Array.isArray(value) ? value[0] : value
  if (!isObject(one)) return undefined
  return parseErrorField(one, depth) ?? parseEnclosedError(one, depth) ?? parseBareError(one, depth)
}

/** `{error: …}`; null, false and empty values mean that there is no error. */
function parseErrorField(value: Fields, depth: number): ParsedVendorError | undefined {
  const error = value['error']
  if (isObject(error) && Object.keys(error).length > 0) return parseErrorObject(error, value, depth)
  if (typeof error === 'string' && error !== '') return parseErrorText(error, value, depth)
  return error === true ? parseErrorObject(value, value, depth) : undefined
}

/** The error of an envelope's content (Code Assist, response.failed) or of a choice. */
function parseEnclosedError(value: Fields, depth: number): ParsedVendorError | undefined {
  const response = value['response']
  if (isObject(response)) return parseErrorField(response, depth)
  const choices = value['choices']
  if (!Array.isArray(choices)) return undefined
  for (const choice of choices) {
    const found = isObject(choice) ? parseErrorField(choice, depth) : undefined
    if (found) return found
  }
  return undefined
}

/** Errors without a key `error`. Their keys are common, so a frame with content is never taken for an error. */
function parseBareError(value: Fields, depth: number): ParsedVendorError | undefined {
  const minimax = value['base_resp']
  if (isObject(minimax) && (toInteger(minimax['status_code']) ?? 0) !== 0) {
    return parseErrorObject({ message: minimax['status_msg'], code: minimax['status_code'] }, {}, depth)
  }
  if (value['success'] === true || value['code'] === 0 || value['code'] === 200) return undefined
  const type = value['type']
  if (type !== 'error' && value['object'] !== 'error') {
    if (!ERROR_KEYS.some((key) => isNonEmpty(value[key])) && !isObject(value['detail'])) return undefined
    if (CONTENT_KEYS.some((key) => value[key] !== undefined && value[key] !== null)) return undefined
    if (typeof type === 'string' && !ERROR_TYPE.test(type) && findStatus(value) === undefined) return undefined
  }
  const errors = value['errors']
  if (!Array.isArray(errors) || !isObject(errors[0])) return parseErrorObject(value, value, depth)
  const first = parseErrorObject(errors[0], {}, depth)
  return { ...first, message: extractMessage(errors) || first.message }
}

function parseErrorObject(error: Fields, outer: Fields, depth: number): ParsedVendorError {
  const metadata = isObject(error['metadata']) ? error['metadata'] : undefined
  const inner = parseNestedError(metadata?.['raw'], depth) ?? parseNestedError(error['message'], depth)
  const message =
    extractMessage(error) || nonEmptyText(error['type']) || nonEmptyText(error['code']) || toExcerpt(error)
  const details = error['details'] ?? metadata ?? inner?.details ?? collectOtherFields(error)
  const fields = {
    code:
      getNonStatusCode(error['code']) ??
      nonEmptyText(error['error_code']) ??
      getNonStatusCode(error['status']) ??
      inner?.code ??
      getNonStatusCode(outer['code']),
    type: getErrorType(error) ?? inner?.type,
    status: preferUpstreamStatus(findStatus(error) ?? findStatus(outer), inner?.status),
    param:
      nonEmptyText(error['param']) ??
      getValidationPath(error['detail']) ??
      getValidationPath(error['details']) ??
      inner?.param,
    details,
    written: nonEmptyText(error['failed_generation']) ?? inner?.written,
  }
  return createParsedError(joinMessages(message, metadata?.['raw'], inner), fields)
}

function parseErrorText(error: string, outer: Fields, depth: number): ParsedVendorError {
  const inner = parseNestedError(error, depth)
  if (inner) return inner
  const more = nonEmptyText(outer['error_description']) ?? nonEmptyText(outer['message'])
  return createParsedError(more === undefined || more === error ? error : `${error}: ${more}`, {
    code: getNonStatusCode(outer['code']) ?? (outer['error_description'] === undefined ? undefined : error),
    type: getErrorType(outer),
    status: findStatus(outer),
    details: outer['details'],
  })
}

function createParsedError(
  message: string,
  fields: { [Key in keyof ParsedVendorError]?: ParsedVendorError[Key] | undefined },
): ParsedVendorError {
  const written = fields.written ?? OLLAMA_PARSE_ERROR.exec(message)?.[1]
  return { ...defined({ ...fields, written }), message: message.slice(0, MAX_MESSAGE_CHARS) }
}

/** The error inside an error: gateways pass on the error of their upstream, often as a string of JSON. */
function parseNestedError(value: unknown, depth: number): ParsedVendorError | undefined {
  if (typeof value !== 'string') return isObject(value) ? parseAtDepth(value, depth + 1) : undefined
  if (value.length > MAX_NESTED_CHARS) return undefined
  const start = looksLikeJson(value) ? 0 : value.indexOf('{"error"')
  return start < 0 ? undefined : parseAtDepth(tryParseJson(value.slice(start)), depth + 1)
}

function joinMessages(message: string, raw: unknown, inner: ParsedVendorError | undefined): string {
  const more = inner?.message ?? (typeof raw === 'string' ? raw.slice(0, MAX_RAW_CHARS) : '')
  if (raw === undefined) return inner && looksLikeJson(message) ? more : message
  return more === '' || message.includes(more) ? message : `${message}: ${more}`
}

function extractMessage(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (depth > 4) return ''
  if (Array.isArray(value))
    return value
      .slice(0, 5)
      .map((item) => extractMessage(item, depth + 1))
      .filter(Boolean)
      .join('; ')
  if (!isObject(value)) return ''
  for (const key of MESSAGE_KEYS) {
    const messageText = extractMessage(value[key], depth + 1)
    if (messageText !== '')
      return key === 'msg' ? [getValidationPath([value]), messageText].filter(Boolean).join(': ') : messageText
  }
  return ''
}

function looksLikeJson(value: string): boolean {
  return /^\s*[[{]/.test(value)
}

function isNonEmpty(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || (Array.isArray(value) && value.length > 0)
}

/** The parameter that a validation error of FastAPI refers to. */
function getValidationPath(errors: unknown): string | undefined {
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  const path = isObject(first) && Array.isArray(first['loc']) ? first['loc'] : []
  const steps = path.filter((step) => typeof step === 'string' || typeof step === 'number')
  return steps.filter((step, at) => at > 0 || step !== 'body').join('.') || undefined
}

function getErrorType(error: Fields): string | undefined {
  const type = nonEmptyText(error['type']) ?? nonEmptyText(error['error_type']) ?? nonEmptyText(error['__type'])
  return type === 'error' ? undefined : type
}

function findStatus(error: Fields): number | undefined {
  for (const key of ['status', 'status_code', 'statusCode', 'http_status', 'code', 'error_code']) {
    const status = toInteger(error[key])
    if (status !== undefined && status >= 300 && status < 600) return status
  }
  return undefined
}

/** A gateway responds with 502 to any error of its upstream; the status of the upstream is the better one. */
function preferUpstreamStatus(outer: number | undefined, inner: number | undefined): number | undefined {
  return outer === undefined || (outer >= 500 && inner !== undefined) ? inner : outer
}

function getNonStatusCode(value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return value === '' || findStatus({ code: value }) !== undefined ? undefined : String(value)
}

/** The fields that are not parsed otherwise, such as retry hints. */
function collectOtherFields(error: Fields): Fields | undefined {
  const rest = Object.entries(error).filter(([key, value]) => !PARSED_KEYS.has(key) && value !== null)
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

/** Only strings and numbers: other values could have a `valueOf` of their own. */
function toInteger(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  return value === '' || !Number.isInteger(Number(value)) ? undefined : Number(value)
}

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

function toExcerpt(value: unknown): string {
  try {
    return JSON.stringify(value).slice(0, MAX_RAW_CHARS)
  } catch {
    return 'an error without a message'
  }
}

type Fields = Readonly<Record<string, unknown>>

const MAX_MESSAGE_CHARS = 4000
const MAX_RAW_CHARS = 500
const MAX_NESTED_CHARS = 20_000
const MAX_NESTED_ERRORS = 4
const MESSAGE_KEYS = ['message', 'msg', 'detail', 'error', 'error_msg', 'errors', 'description', 'title']
/** Keys that only an error has at the top level. */
const ERROR_KEYS = ['message', 'msg', 'detail', 'error_msg', 'errors']
const CONTENT_KEYS =
  'choices candidates content output delta response item part data content_block usageMetadata'.split(' ')
const ERROR_TYPE = /error|exception|invalid|denied|fail|limit|quota|not.?found|forbidden|unauthori|^about:|^https?:/i
const PARSED_KEYS = new Set('message type code status param failed_generation object error detail errors'.split(' '))
const OLLAMA_PARSE_ERROR = /error parsing tool call: raw='([\s\S]*)', err=/
