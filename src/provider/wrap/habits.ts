import type { Profile } from '../../model/profile.ts'
import type { WireId } from '../../model/turn.ts'
import type { Facts } from '../row.ts'
import type { Lesson, Refusal } from './lesson.ts'

/** The lesson from a refusal that shows a habit of the endpoint, where a flag stands for that habit. */
export function habitOf(refusal: Refusal): Lesson | undefined {
  for (const { when, change, told } of HABITS) {
    const facts = when(refusal) ? change(refusal.profile) : undefined
    if (facts && differs(facts, refusal.profile)) return { facts, told }
  }
  return undefined
}

interface Habit {
  readonly when: (refusal: Refusal) => boolean
  readonly change: (profile: Profile) => Facts | undefined
  readonly told: string
}

/** A habit that shows in the words of a refusal, or in the parameter that it points at. */
function habit(pattern: RegExp, change: Facts | Habit['change'], told: string, wires?: readonly WireId[]): Habit {
  return {
    when: ({ words, param, wire }) =>
      (wires === undefined || wires.includes(wire)) && (pattern.test(words) || (param !== '' && pattern.test(param))),
    change: typeof change === 'function' ? change : () => change,
    told,
  }
}

const GOOGLE: readonly WireId[] = ['gemini', 'code-assist']
const CHAT: readonly WireId[] = ['openai-chat']
const MESSAGES: readonly WireId[] = ['anthropic']

/** The habits that have a flag, each with the failure that taught it. */
const HABITS: readonly Habit[] = [
  // T156: models and servers without native calls.
  habit(
    /(?:not|n't) support (?:tools?\b|tool (?:use|call)|function call)|support tool use|(?:tools?|tool use|function calling) (?:is|are) not (?:supported|enabled)|requires --jinja|tool choice requires --enable/i,
    { tools: 'text' },
    'has no native tool calls here; tools are described in the prompt',
  ),
  // T74, T75, before T78, which is the reverse.
  habit(
    /reasoning_content.{0,60}(?:must be|is missing|passed back|required)|missing.{0,20}reasoning_content/i,
    { needsReasoning: 'reasoning_content' },
    'wants its reasoning back with every message',
    CHAT,
  ),
  habit(
    /^messages\b.*reasoning|messages?\b.{0,40}reasoning|reasoning(?:_content|_details)?'?"?`? (?:is|are) (?:unsupported|not)/i,
    { replay: 'never' },
    'does not take reasoning back; it is left out',
    CHAT,
  ),
  // T155: one limit, two names.
  habit(
    /max_tokens.{0,60}(?:not supported|unsupported|unrecogni|deprecated)|(?:unsupported|unknown|unrecogni\w+|extra inputs).{0,60}max_(?:completion_)?tokens|max_completion_tokens.{0,60}(?:not supported|not permitted|unsupported|unknown)/i,
    ({ maxTokensField }) => ({
      maxTokensField: maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens',
    }),
    'names the limit of an answer otherwise',
    CHAT,
  ),
  // T94, T93, T95, T101.
  habit(
    /unexpected role '?"?user'?"? after role '?"?tool/i,
    { bridge: true },
    'wants a word between a result and a message',
    CHAT,
  ),
  habit(/roles? must alternate/i, { alternate: true }, 'wants user and assistant to alternate', CHAT),
  habit(/tool.?call.?id.{0,80}length of 9/i, { ids: 'nine' }, 'wants call ids of nine letters', CHAT),
  habit(
    /role.{0,60}\bdeveloper\b|\bdeveloper\b.{0,100}role/i,
    { systemRole: 'system' },
    'does not know the developer role',
    CHAT,
  ),
  // T86: what stands for no content is tried in turn.
  habit(
    /content.{0,60}(?:null|NoneType|none is not|must be a string|should be a valid string|is required)/i,
    ({ emptyContent }) =>
      emptyContent === 'null'
        ? { emptyContent: 'empty' }
        : emptyContent === 'empty'
          ? { emptyContent: 'omit' }
          : undefined,
    'wants another form of empty content beside calls',
    CHAT,
  ),
  // T100.
  habit(
    /(?:not|n't) support (?:image|vision|multimodal)|images?(?:_url| inputs?)? (?:is|are) not supported|unknown variant `image_url`/i,
    { media: false },
    'looks at no pictures; they become a sentence',
  ),
  // T117, T120.
  habit(/missing (?:a )?`?thought.?signature/i, { signatures: 'required' }, 'wants a signature on its calls', GOOGLE),
  habit(
    /(?:invalid|corrupted) thought.?signature|thought.?signature.{0,20}not valid/i,
    { signatures: 'never' },
    'does not know its signatures any more; they are left out',
    GOOGLE,
  ),
  // T126.
  habit(
    /unknown name \W{0,2}id\W{1,3}at .{0,60}function_?(?:call|response)/i,
    { refuses: ['functionCall.id'] },
    'takes no ids of calls back',
    GOOGLE,
  ),
  // T129, T149: another way to declare tools.
  habit(/parameters_?json_?schema/i, { dialect: 'gemini' }, 'wants tools in the older schema language', GOOGLE),
  habit(/(?:parse|compile|build|invalid).{0,20}grammar/i, { dialect: 'grammar' }, 'compiles tools to a grammar', CHAT),
  habit(
    /function_?response.{0,40}"?parts|"parts".{0,60}function_?response/i,
    { nestedMedia: false },
    'takes no media inside a result',
    GOOGLE,
  ),
  // T138, T150 and the cache: keys inside a tool that the endpoint does not know. The tools themselves are fine.
  habit(/eager_input_streaming/i, { eagerArguments: false }, 'cannot stream arguments as they are written', MESSAGES),
  habit(/(?:tools|system|messages)\b.{0,60}cache_control/i, { cache: 'none' }, 'knows no cache marks'),
  habit(
    /tools\b.{0,40}\bstrict/i,
    ({ dialect }) => ({ constrain: false, dialect: dialect === 'openai-strict' ? 'openai' : dialect }),
    'knows no strict tools',
    [...CHAT, ...MESSAGES],
  ),
  habit(/tools\b.{0,40}\bstrict/i, { refuses: ['tools.strict'] }, 'knows no strict tools', ['openai-responses']),
  // T155: how thinking is asked for.
  habit(/thinking\.type\.enabled|use.{0,20}adaptive/i, { thinking: 'adaptive' }, 'thinks adaptively', MESSAGES),
  habit(/adaptive thinking is not supported|tag 'adaptive'/i, { thinking: 'budget' }, 'thinks by a budget', MESSAGES),
  habit(/thinking.?level.{0,40}not supported/i, { thinking: 'budget' }, 'thinks by a budget', GOOGLE),
  habit(/thinking.?budget.{0,40}not supported/i, { thinking: 'level' }, 'thinks by levels', GOOGLE),
  habit(
    /only works in thinking mode/i,
    { refuses: ['thinkingConfig'] },
    'cannot be told not to think; the wish is left out',
    GOOGLE,
  ),
  habit(
    /stream(?:ing)?(?: mode)? is not supported|not support stream(?:ing)?\b/i,
    { stream: false },
    'does not stream; answers come whole',
  ),
]

function differs(facts: Facts, profile: Profile): boolean {
  const now: Readonly<Record<string, unknown>> = { ...profile }
  return Object.entries(facts).some(([flag, value]) => now[flag] !== value)
}
