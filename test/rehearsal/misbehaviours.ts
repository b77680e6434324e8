import type { FaultKind } from '../../src/model/fault.ts'
import type { FinishReason, WireId } from '../../src/model/turn.ts'
import type { MisbehaviourKind, Misbehaviour } from '../../src/rehearsal/misbehaviour/misbehaviour.ts'
import type { Answered } from './support.ts'

/** What must be seen in the bytes of a misbehaviour, and what our decoder must make of it. */
export interface Case {
  readonly one: Misbehaviour
  /** Is it there, in comparison with the same answer without it? */
  readonly seen: (bent: Answered, clean: Answered, wire: WireId) => boolean
  /** Both calls run, or none. */
  readonly runs: boolean | ((wire: WireId) => boolean)
  /** `calls` where nothing else is said. */
  readonly finish?: FinishReason | ((wire: WireId) => FinishReason)
  readonly fault?: FaultKind | ((wire: WireId) => FaultKind | undefined)
  /** A warning that must be among those of the turn, on chat. */
  readonly warns?: string
}

/** Every misbehaviour that there is, each at least once. */
export const CASES: Readonly<Record<MisbehaviourKind, readonly Case[]>> = {
  'index-missing': [one('index-missing', fewer(/"(?:output_)?index":/g))],
  'index-zero': [one('index-zero', fewer(/"tool_calls":\[\{"index":1/g))],
  'index-sparse': [one('index-sparse', (bent) => /"(?:output_)?index":3/.test(bent.text))],
  'ids-missing': [one('ids-missing', fewer(/script_0t_[01]"/g))],
  'ids-empty': [one('ids-empty', (bent) => /"(?:call_)?id":""/.test(bent.text))],
  'ids-same': [one('ids-same', fewer(/script_0t_1"/g))],
  'ids-rotating': [one('ids-rotating', (bent) => count(bent, /"(?:id|item_id)":"(?:call|fc)_r\d+"/g) > 4)],
  'name-split': [
    one('name-split', (bent) => bent.text.includes('"name":"read_"') && bent.text.includes('"name":"file"')),
  ],
  'name-repeated': [one('name-repeated', more(/"name":"read_file"/g))],
  'name-late': [one('name-late', (bent) => /"name":"read_file","arguments":"txt/.test(bent.text))],
  'arguments-cumulative': [one('arguments-cumulative', more(/\{\\"path\\":/g), { warns: 'cumulative' })],
  'arguments-object': [one('arguments-object', (bent) => /"(?:arguments|input)":\{"path"/.test(bent.text))],
  'arguments-doubled': [
    one('arguments-doubled', (bent) => /\\\\\\"|"args":"/.test(bent.text), { warns: 'double-encoded' }),
  ],
  'arguments-repeated': [one('arguments-repeated', more(/\{\\"path\\":/g), { warns: 'repeated-call' })],
  interleaved: [
    one('interleaved', (bent, clean) => bent.text !== clean.text && bent.text.length === clean.text.length),
  ],
  'ghost-call': [one('ghost-call', (bent) => /"name":""|"functionCall":\{\}/.test(bent.text))],
  'malformed-call': [
    one('malformed-call', (bent) => /path=\?|MALFORMED_FUNCTION_CALL/.test(bent.text), {
      runs: false,
      finish: (wire) => (isGoogle(wire) ? 'malformed-call' : 'calls'),
    }),
  ],
  'rejected-call': [
    one('rejected-call', (bent) => bent.status === 400 && bent.text.includes('failed_generation'), {
      runs: false,
      finish: 'malformed-call',
      fault: 'invalid',
    }),
  ],
  'finish-missing': [
    one(
      'finish-missing',
      fewer(/"finish_reason":"|message_stop|response\.completed|interaction\.completed|finishReason/g),
      cutOff(),
    ),
  ],
  'finish-repeated': [
    one(
      'finish-repeated',
      more(/"finish_reason":"|message_stop|response\.completed|interaction\.completed|finishReason/g),
    ),
  ],
  'no-done': [one('no-done', fewer(/\[DONE\]/g))],
  empty: [one('empty', fewer(/read_file/g), { runs: false, finish: 'stop' })],
  filter: [
    one('filter', (bent) => /content_filter|refusal"|SAFETY|"safety"/.test(bent.text), {
      runs: false,
      finish: 'filter',
    }),
  ],
  'think-in-text': [one('think-in-text', (bent) => bent.text.includes('<think>'))],
  'unknown-events': [
    one('unknown-events', (bent) => bent.text.includes('rehearsal.note') && bent.text.includes('x_new')),
  ],
  spliced: [one('spliced', more(/"type":"message_start"/g), { runs: false, finish: 'fault', fault: 'decode' })],
  'usage-hostile': [one('usage-hostile', (bent) => /(?:tokens|TokenCount)":-1/.test(bent.text))],
  whole: [one('whole', (bent) => bent.headers['content-type']?.includes('application/json') ?? false)],
  cut: (
    [
      'start',
      'first-event',
      'thinking',
      'text',
      'arguments',
      'after-call',
      'before-end',
      'frame',
      'delimiter',
      4,
    ] as const
  )
    .flatMap((at) => (['close', 'reset', 'end'] as const).map((how) => ({ kind: 'cut', at, how }) as const))
    .map((cut) =>
      one(cut, (bent, clean) => clean.text.startsWith(bent.text) && bent.text.length < clean.text.length, {
        ...cutOff(),
        // Half an event is all that tells of it where the connection itself ended in good order.
        ...(cut.at === 'frame' && cut.how === 'end' && { fault: 'decode' }),
      }),
    ),
  stall: [one({ kind: 'stall', ms: 30, at: 'arguments' }, (bent) => bent.chunks.length > 1)],
  drip: [one({ kind: 'drip', every: 2, ms: 8 }, (bent) => bent.text.includes(': keep-alive'))],
  trickle: [one({ kind: 'trickle', bytes: 5 }, (bent, clean) => bent.chunks.length > clean.chunks.length + 50)],
  framing: [
    framing('crlf', /\r\n\r\n/),
    framing('cr', /\r\r/),
    framing('mixed', /\r\n\r\n[^]*\n\n[^]*\r\r/),
    framing('bom', /^\uFEFF/),
    framing('no-space', /data:\{/),
    framing('two-spaces', /data: {2}\{/),
    framing('multi-line', /data: \{\ndata: /),
    framing('comments', /^: keep-alive 0\n/),
    framing('fields', /retry: 3000\nnonsense\n/),
    framing('no-last-blank', /[^\n]$/),
    framing('ndjson', /^\{.*\}\n\{/),
  ],
  status: [
    status(400, 'invalid'),
    status(401, 'auth'),
    status(403, 'auth'),
    status(408, 'server'),
    status(409, 'server'),
    status(422, 'invalid'),
    status(429, 'rate'),
    status(451, 'policy'),
    status(500, 'server'),
    status(502, 'server'),
    status(503, 'server'),
    status(504, 'server'),
    status(529, 'server'),
    status(429, 'quota', { code: 'insufficient_quota' }),
    status(503, 'server', { body: 'html' }),
    status(500, 'server', { body: 'text' }),
    status(500, 'server', { body: 'empty' }),
  ],
  html: [
    one('html', (bent) => bent.text.startsWith('<!doctype html>'), { runs: false, finish: 'fault', fault: 'decode' }),
  ],
  'half-json': [one('half-json', isBroken, { runs: false, finish: 'fault', fault: 'decode' })],
  redirect: [
    one(
      { kind: 'redirect', status: 301, location: 'https://other.example/' },
      (bent) => bent.headers['location'] === 'https://other.example/',
      {
        runs: false,
        finish: 'fault',
        fault: 'decode',
      },
    ),
  ],
  'content-type': [
    one({ kind: 'content-type', value: 'text/plain' }, (bent) => bent.headers['content-type'] === 'text/plain'),
  ],
  corrupt: [
    one('corrupt', (bent, clean) => bent.text.length < clean.text.length, {
      runs: false,
      finish: 'fault',
      fault: 'decode',
    }),
    one({ kind: 'corrupt', at: 'text' }, (bent, clean) => bent.text.length < clean.text.length, {
      runs: false,
      finish: 'fault',
      fault: 'decode',
    }),
  ],
  error: [
    trouble('overloaded', 'server'),
    trouble('rate', 'rate'),
    trouble('server', 'server'),
    trouble('invalid', 'invalid'),
    one({ kind: 'error', at: 'start' }, (bent) => bent.text.length < 400, {
      runs: false,
      finish: 'fault',
      fault: 'server',
    }),
  ],
  'text-call': (['hermes', 'coder', 'kimi', 'deepseek', 'minimax', 'mistral', 'glm', 'invoke'] as const).map(
    (dialect) =>
      one(
        { kind: 'text-call', dialect },
        (bent) => !/"tool_use"|"function_call"|"functionCall"|"tool_calls"/.test(bent.text),
        {
          warns: 'written-call',
        },
      ),
  ),
  length: [
    one(
      'length',
      (bent) => /"length"|max_tokens"|max_output_tokens"\}|MAX_TOKENS|"status":"incomplete"/.test(bent.text),
      {
        runs: false,
        finish: 'length',
      },
    ),
    one({ kind: 'length', lie: true }, (bent) => !/"length"|"max_tokens"|"incomplete"|MAX_TOKENS/.test(bent.text), {
      runs: false,
      finish: 'length',
    }),
  ],
  'finish-wrong': [
    one('finish-wrong', (bent) => /:"(?:stop|end_turn|finished|FINISHED)"/.test(bent.text), {
      runs: (wire) => wire === 'openai-chat' || wire === 'anthropic',
      finish: (wire) => (wire === 'openai-chat' || wire === 'anthropic' ? 'calls' : 'fault'),
      fault: (wire) =>
        isGoogle(wire) ? 'server' : wire === 'openai-responses' || wire === 'interactions' ? 'decode' : undefined,
    }),
  ],
}

type Seen = Case['seen']

function one(
  given: Misbehaviour | Exclude<MisbehaviourKind, 'framing' | 'status' | 'content-type'>,
  seen: Seen,
  more_: Partial<Case> = {},
): Case {
  return { one: (typeof given === 'string' ? { kind: given } : given) as Misbehaviour, seen, runs: true, ...more_ }
}

function framing(style: Extract<Misbehaviour, { kind: 'framing' }>['style'], mark: RegExp): Case {
  return one({ kind: 'framing', style }, (bent) => mark.test(bent.text))
}

function status(code: number, fault: FaultKind, more_: Partial<Extract<Misbehaviour, { kind: 'status' }>> = {}): Case {
  const given = { kind: 'status', status: code, ...more_ } as const
  return one(given, (bent) => bent.status === code, { runs: false, finish: 'fault', fault })
}

function trouble(word: 'overloaded' | 'rate' | 'server' | 'invalid', fault: FaultKind): Case {
  return one({ kind: 'error', trouble: word }, (bent) => bent.status === 200 && bent.text.includes('"error"'), {
    runs: false,
    finish: 'fault',
    fault,
  })
}

function cutOff(): Partial<Case> {
  return { runs: false, finish: 'fault', fault: 'transport' }
}

function more(mark: RegExp): Seen {
  return (bent, clean) => count(bent, mark) > count(clean, mark)
}

function fewer(mark: RegExp): Seen {
  return (bent, clean) => count(bent, mark) < count(clean, mark)
}

function count({ text }: Answered, mark: RegExp): number {
  return [...text.matchAll(mark)].length
}

function isBroken({ text }: Answered): boolean {
  try {
    JSON.parse(text)
    return false
  } catch {
    return true
  }
}

function isGoogle(wire: WireId): boolean {
  return wire === 'gemini' || wire === 'code-assist'
}
