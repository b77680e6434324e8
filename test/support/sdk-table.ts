import type { SdkWay } from './sdk-readers.ts'

/** What the SDKs make of calls that a model wrote as text: text. */
const WRITTEN = Object.fromEntries(
  [
    'T50',
    'T60',
    'T61',
    'T62',
    'T64',
    'T66',
    'T67',
    'T68',
    'T70',
    'T181',
    'T182',
    'T183',
    'T184',
    'T185',
    'T186',
    'T187',
    'T188',
  ].map((number) => [number, 'a call that was written as text stays text']),
)

/** Bytes that are no UTF-8, or half of a surrogate pair, in the arguments or the name of a call. */
const BROKEN = 'a call with broken characters is handed out as if the model had written them'

const CHAT = {
  ...WRITTEN,
  T42: 'HTML entities stay in the arguments',
  T63: 'what was written as text is lost, and beside it a call runs without its arguments',
  T65: 'the control tokens of the template stay in the name, and a call that was written as text stays text',
  T105: BROKEN,
  T142: "the model's wrapper around parallel calls is handed out as a call",
  T153: 'a call is handed out though the model was told not to call',
  T202: 'calls in a list of contents are not read',
}

const WHOLE = 'a whole body instead of a stream is read as nothing'

/**
 * Where an SDK reads a stream, but not what the model meant, and why. The rows are the numbers of the failures; each must
 * be needed by a fixture. What is not here must be read alike.
 */
export const DIFFERENCES: Readonly<Record<SdkWay, Readonly<Record<string, string>>>> = {
  'openai chat': {
    ...CHAT,
    T07: 'a blank name on a later piece takes the place of the name',
    T13: 'of a name that comes in pieces the last piece is the name',
    T54: 'a finish reason in capitals is none that is documented',
  },
  'openai chat chunks': {
    ...CHAT,
    T04: 'calls come in the order of their indexes, not in the order in which they were made',
    T13: 'of a name that comes in pieces the first piece is the name',
    T16: WHOLE,
    T25: WHOLE,
    T26: WHOLE,
    T27: 'the older function_call is not among the calls',
    T54: 'a finish reason in capitals is none that is documented',
    T111: 'what comes after [DONE] is lost, the finish reason with it',
    T113: 'lines of JSON without SSE are read as nothing',
    T197: WHOLE,
    T198: WHOLE,
  },
  'openai responses': {},
  'openai responses events': {
    T26: WHOLE,
    T54: 'an answer that ended with a word that nobody knows counts as completed',
    T56: 'a call that comes after the end is handed out',
    T60: WRITTEN['T60'] ?? '',
    T65: 'the control tokens of the template stay in the name',
    T105: BROKEN,
    T140: 'arguments of which events were lost are handed out with a hole, or empty; of two calls in one place the last counts',
    T142: "the model's wrapper around parallel calls is handed out as a call",
    T143: 'an answer that says that it failed counts as completed',
    T173: 'the namespace is not part of the name, and a search for tools is not among the calls',
    T198: WHOLE,
  },
  genai: {
    T60: WRITTEN['T60'] ?? '',
    T105: BROKEN,
    T128: 'a call that is sent again is a second call',
  },
  'genai interactions': {
    T190: 'events without a type are read as nothing, and of calls without an index the last counts',
    T191: 'a call that the server answered itself is handed out',
    T193: 'of a response that the server continues in the same stream, only the last part is read',
  },
  anthropic: {
    T38: 'arguments that were cut off are closed and handed out, because the stop reason says so',
    T56: 'a call that comes after the end is handed out',
    T60: WRITTEN['T60'] ?? '',
    T63: 'what was written as text is lost, and beside it a call runs without its arguments',
    T64: WRITTEN['T64'] ?? '',
    T105: BROKEN,
  },
}
