import { isObject } from '../../model/json.ts'
import type { WireId } from '../../model/turn.ts'
import type { Sign } from '../sign.ts'
import { type View, word } from '../view.ts'
import { isOver, isUnfinished } from './transport.ts'

/** What can be odd about an answer as a whole: its end, its text, its counts. */
export const ANSWER_SIGNS: readonly Sign[] = [
  {
    id: 'finish-missing',
    taught: 'T53',
    said: 'ends its answers without saying that they are over',
    outcome: 'harmful',
    seen: (view) => isOver(view) && view.body !== '' && view.look.finishes.length === 0 && !isUnfinished(view),
  },
  {
    id: 'finish-repeated',
    taught: 'T56',
    said: 'says more than once that an answer is over',
    outcome: 'handled',
    seen: ({ look }) => look.finishes.length > 1,
  },
  {
    id: 'finish-wrong',
    taught: 'T51, T52, T54',
    said: 'gives the wrong reason for the end of an answer',
    outcome: 'handled',
    seen: (view) => wrongWord(view) ?? false,
  },
  {
    id: 'no-done',
    taught: 'T111',
    said: 'leaves out the [DONE] at the end of a stream',
    outcome: 'handled',
    seen: (view) =>
      view.wire === 'openai-chat' &&
      view.sse &&
      isOver(view) &&
      view.look.finishes.length > 0 &&
      view.frames.every(({ kind }) => kind !== 'done'),
  },
  {
    id: 'empty',
    taught: 'T57',
    said: 'answers with nothing',
    outcome: 'harmful',
    seen: ({ last, exam: { turn }, look }) =>
      last && turn.finish.reason === 'stop' && turn.parts.length === 0 && look.pieces.length === 0,
  },
  {
    id: 'filter',
    taught: 'T55, T59',
    said: 'stops answers with a content filter',
    outcome: 'harmful',
    seen: ({ last, exam }) => last && exam.turn.finish.reason === 'filter',
  },
  {
    id: 'length',
    taught: 'T37, T38',
    said: 'cuts answers off before their limit',
    outcome: 'harmful',
    seen: ({ last, exam }) => {
      const { turn, request } = exam
      if (!last || turn.finish.fault) return false
      // A model that is long-winded runs into the limit that it was given.
      const written = (turn.usage?.output ?? 0) + (turn.usage?.reasoning ?? 0)
      if (turn.finish.reason === 'length') return written < 0.9 * (request.params?.maxTokens ?? Infinity)
      const cut = turn.parts.some((part) => part.kind === 'call' && part.flaw?.code === 'unfinished')
      return cut && turn.finish.reason !== 'aborted' && 'and says that all is well'
    },
  },
  {
    id: 'text-call',
    taught: 'T60–T70',
    said: 'lets its model write calls as text instead of making them',
    outcome: 'handled',
    seen: ({ last, exam }) =>
      last && exam.warnings.some(({ code }) => ['written-call', 'fenced-call', 'unread-call'].includes(code)),
  },
  {
    id: 'think-in-text',
    taught: 'T71',
    said: 'writes the thoughts of its model into the text, between <think> and </think>',
    outcome: 'handled',
    seen: ({ look }) => /<think(?:ing)?>/.test(look.text),
  },
  {
    id: 'unknown-events',
    taught: 'T132, T140',
    said: 'sends events that nobody knows',
    outcome: 'handled',
    seen: ({ last, exam }) => last && exam.warnings.some(({ code }) => UNKNOWN.has(code)),
  },
  {
    id: 'usage-hostile',
    taught: 'T116',
    said: 'counts tokens in a way that nobody can believe',
    outcome: 'handled',
    seen: ({ look }) => look.usages.some(isHostile),
  },
]

const UNKNOWN = new Set(['unknown-event', 'unknown-frame', 'unknown-block', 'unknown-part', 'unknown-delta'])

/** The words that each wire ends an answer with: when it called, when it did not, and in either case. */
const WORDS: Readonly<Record<WireId, { called: RegExp; silent: RegExp; either: RegExp }>> = {
  'openai-chat': {
    called: /^(?:tool_calls|function_call)$/,
    silent: /^stop$/,
    either: /^(?:length|content_filter)$/,
  },
  anthropic: {
    called: /^tool_use$/,
    silent: /^(?:end_turn|stop_sequence)$/,
    either: /^(?:max_tokens|refusal|pause_turn|model_context_window_exceeded)$/,
  },
  'openai-responses': { called: /^$/, silent: /^$/, either: /^(?:completed|incomplete|failed|cancelled)$/ },
  gemini: {
    called: /^$/,
    silent: /^$/,
    either:
      /^(?:STOP|MAX_TOKENS|SAFETY|RECITATION|LANGUAGE|OTHER|\w*BLOCKLIST|\w*PROHIBITED\w*|SPII|MALFORMED\w*|IMAGE\w*|UNEXPECTED_TOOL_CALL|TOO_MANY_TOOL_CALLS|NO_IMAGE)$/,
  },
  'code-assist': {
    called: /^$/,
    silent: /^$/,
    either: /^[A-Z_]*(?:STOP|TOKENS|SAFETY|RECITATION|LANGUAGE|OTHER|LIST|CONTENT|SPII|CALL)$/,
  },
}

function wrongWord({ wire, look: { finishes, pieces }, trace }: View): string | undefined {
  const said = finishes.at(-1)
  if (said === undefined || trace.status !== 200) return undefined
  const called = pieces.some(({ name }) => word(name) !== undefined)
  const { called: yes, silent: no, either } = WORDS[wire]
  return either.test(said) || (called ? yes : no).test(said)
    ? undefined
    : `“${said}” ${called ? 'beside calls' : 'without a call'}`
}

function isHostile(usage: unknown): boolean {
  if (!isObject(usage)) return false
  return Object.entries(usage).some(([name, value]) => {
    if (isObject(value)) return isHostile(value)
    if (!/tokens|tokencount/i.test(name) || value === null || typeof value === 'object') return false
    return typeof value !== 'number' || !(value >= 0) || value > 1e12
  })
}
