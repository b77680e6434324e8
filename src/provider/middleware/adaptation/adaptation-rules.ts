import type { Profile } from '../../../model/profile.ts'
import type { WireId } from '../../../model/turn.ts'
import { CHAT, GOOGLE, MESSAGES } from '../../model-families.ts'
import type { Capabilities } from '../../provider-definition.ts'
import type { EndpointAdaptation, RequestRefusal } from './adaptation.ts'

export function matchAdaptationRule(refusal: RequestRefusal): EndpointAdaptation | undefined {
  for (const { matches, getChange, description } of ADAPTATION_RULES) {
    const capabilities = matches(refusal) ? getChange(refusal.profile) : undefined
    if (capabilities && differsFromProfile(capabilities, refusal.profile)) return { capabilities, description }
  }
  return undefined
}

interface AdaptationRule {
  readonly matches: (refusal: RequestRefusal) => boolean
  readonly getChange: (profile: Profile) => Capabilities | undefined
  readonly description: string
}

/** Matches the message of a refusal, or the parameter that it names. */
function adapt(
  pattern: RegExp,
  change: Capabilities | AdaptationRule['getChange'],
  description: string,
  wires?: readonly WireId[],
): AdaptationRule {
  return {
    matches: ({ message, param, wire }) =>
      (wires === undefined || wires.includes(wire)) && (pattern.test(message) || (param !== '' && pattern.test(param))),
    getChange: typeof change === 'function' ? change : () => change,
    description,
  }
}

/** A rule about the response format; it applies only if one was asked for. */
function createOutputRule(pattern: RegExp, change: AdaptationRule['getChange'], description: string): AdaptationRule {
  const rule = adapt(pattern, change, description)
  return {
    ...rule,
    matches: (refusal) =>
      refusal.hasOutput && OUTPUT_PATTERN.test(`${refusal.param} ${refusal.message}`) && rule.matches(refusal),
  }
}

const OUTPUT_PATTERN =
  /response.?(?:format|mime.?type|(?:json.?)?schema)|\bjson_schema\b|json.?mode|structured.?output|output_(?:config|format)|text\.format/i

/** Each rule with the failures that it handles. */
const ADAPTATION_RULES: readonly AdaptationRule[] = [
  // T178
  adapt(
    /tool_(?:addition|removal|definition|reference)|defer_loading|inline-tools|Tool reference .* not found/i,
    { lateTools: 'none' },
    'cannot add tools inside the history; they are declared with the others',
    MESSAGES,
  ),
  // T177
  adapt(
    /role\W{0,3}system|"system" as an input message role|system\W{0,3}role|messages\.\d+\.role/i,
    { systemNotes: false },
    'accepts no system messages inside the history; notes are written as text of the user',
    MESSAGES,
  ),
  // The format of the answer. Before T156, because a message about both is not about the tools.
  createOutputRule(
    /\btools?\b|function.?call/i,
    ({ outputWithTools }) => (outputWithTools ? { outputWithTools: false } : undefined),
    'has no response format together with tools; the format is described in the prompt',
  ),
  createOutputRule(
    /response_?json_?schema/i,
    ({ dialect }) => (dialect === 'gemini-json' ? { dialect: 'gemini' } : undefined),
    'requires schemas in the older dialect',
  ),
  createOutputRule(
    /json_object/i,
    ({ outputFormat }) => (outputFormat === 'schema' ? { outputFormat: 'object' } : undefined),
    'knows only JSON objects of any form as a response format; the form is described in the prompt',
  ),
  createOutputRule(
    /./,
    () => ({ outputFormat: 'none' }),
    'has no response format; the format is described in the prompt',
  ),
  // T156: models and servers without native calls.
  adapt(
    /(?:not|n't) support (?:tools?\b|tool (?:use|call)|function call)|support tool use|(?:tools?|tool use|function calling) (?:is|are) not (?:supported|enabled)|requires --jinja|tool choice requires --enable/i,
    { tools: 'text' },
    'does not support native tool calls; tools are described in the prompt',
  ),
  // T74, T75, before T78, which is the reverse.
  adapt(
    /reasoning_content.{0,60}(?:must be|is missing|passed back|required)|missing.{0,20}reasoning_content/i,
    { needsReasoning: 'reasoning_content' },
    'requires its reasoning back with every message',
    CHAT,
  ),
  adapt(
    /^messages\b.*reasoning|messages?\b.{0,40}reasoning|reasoning(?:_content|_details)?'?"?`? (?:is|are) (?:unsupported|not)/i,
    { replay: 'never' },
    'does not accept reasoning back; it is omitted',
    CHAT,
  ),
  // T155: one limit, two names.
  adapt(
    /max_tokens.{0,60}(?:not supported|unsupported|unrecogni|deprecated)|(?:unsupported|unknown|unrecogni\w+|extra inputs).{0,60}max_(?:completion_)?tokens|max_completion_tokens.{0,60}(?:not supported|not permitted|unsupported|unknown)/i,
    ({ maxTokensField }) => ({
      maxTokensField: maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens',
    }),
    'uses another name for the token limit',
    CHAT,
  ),
  // T94, T93, T95, T101.
  adapt(
    /unexpected role '?"?user'?"? after role '?"?tool/i,
    { bridge: true },
    'requires a message between a result and a user message',
    CHAT,
  ),
  adapt(/roles? must alternate/i, { alternate: true }, 'requires user and assistant to alternate', CHAT),
  adapt(/tool.?call.?id.{0,80}length of 9/i, { ids: 'nine' }, 'requires call ids of nine characters', CHAT),
  adapt(
    /role.{0,60}\bdeveloper\b|\bdeveloper\b.{0,100}role/i,
    { systemRole: 'system' },
    'does not know the developer role',
    CHAT,
  ),
  // T86: the forms of empty content are tried in turn.
  adapt(
    /content.{0,60}(?:null|NoneType|none is not|must be a string|should be a valid string|is required)/i,
    ({ emptyContent }) =>
      emptyContent === 'null'
        ? { emptyContent: 'empty' }
        : emptyContent === 'empty'
          ? { emptyContent: 'omit' }
          : undefined,
    'requires another form of empty content beside calls',
    CHAT,
  ),
  // T100.
  adapt(
    /(?:not|n't) support (?:image|vision|multimodal)|images?(?:_url| inputs?)? (?:is|are) not supported|unknown variant `image_url`/i,
    { media: false },
    'has no image input; a text placeholder is sent',
  ),
  // T117, T120.
  adapt(
    /missing (?:a )?`?thought.?signature/i,
    { signatures: 'required' },
    'requires a signature on its calls',
    GOOGLE,
  ),
  adapt(
    /(?:invalid|corrupted) thought.?signature|thought.?signature.{0,20}not valid/i,
    { signatures: 'never' },
    'rejects its signatures; they are omitted',
    GOOGLE,
  ),
  adapt(
    /(?:invalid|corrupted) thought.?signature/i,
    { replay: 'never' },
    'rejects its signatures; they are replaced by the documented placeholder',
    ['interactions'],
  ),
  // T126.
  adapt(
    /unknown name \W{0,2}id\W{1,3}at .{0,60}function_?(?:call|response)/i,
    { refuses: ['functionCall.id'] },
    'does not accept call ids',
    GOOGLE,
  ),
  // T129, T149: another way to declare tools.
  adapt(/parameters_?json_?schema/i, { dialect: 'gemini' }, 'requires tools in the older schema dialect', GOOGLE),
  adapt(/(?:parse|compile|build|invalid).{0,20}grammar/i, { dialect: 'grammar' }, 'compiles tools to a grammar', CHAT),
  adapt(
    /function_?response.{0,40}"?parts|"parts".{0,60}function_?response/i,
    { nestedMedia: false },
    'does not accept media inside a result',
    GOOGLE,
  ),
  // T138, T150 and the cache: keys inside a tool that the endpoint does not know. The tools themselves are fine.
  adapt(/eager_input_streaming/i, { eagerArguments: false }, 'cannot stream arguments as they are written', MESSAGES),
  adapt(/(?:tools|system|messages)\b.{0,60}cache_control/i, { cache: 'none' }, 'does not support cache marks'),
  adapt(
    /tools\b.{0,40}\bstrict/i,
    ({ dialect }) => ({ constrain: false, dialect: dialect === 'openai-strict' ? 'openai' : dialect }),
    'does not support strict tools',
    [...CHAT, ...MESSAGES],
  ),
  adapt(/tools\b.{0,40}\bstrict/i, { refuses: ['tools.strict'] }, 'does not support strict tools', [
    'openai-responses',
  ]),
  // T155: how thinking is asked for.
  adapt(
    /thinking\.type\.enabled|use.{0,20}adaptive/i,
    { thinking: 'adaptive' },
    'requires adaptive thinking',
    MESSAGES,
  ),
  adapt(
    /adaptive thinking is not supported|tag 'adaptive'/i,
    { thinking: 'budget' },
    'requires a thinking budget',
    MESSAGES,
  ),
  adapt(/thinking.?level.{0,40}not supported/i, { thinking: 'budget' }, 'requires a thinking budget', GOOGLE),
  adapt(/thinking.?budget.{0,40}not supported/i, { thinking: 'level' }, 'requires a thinking level', GOOGLE),
  adapt(
    /only works in thinking mode/i,
    { refuses: ['thinkingConfig'] },
    'cannot turn thinking off; the setting is omitted',
    GOOGLE,
  ),
  adapt(
    /stream(?:ing)?(?: mode)? is not supported|not support stream(?:ing)?\b/i,
    { stream: false },
    'does not stream; responses are requested whole',
  ),
]

function differsFromProfile(capabilities: Capabilities, profile: Profile): boolean {
  const now: Readonly<Record<string, unknown>> = { ...profile }
  return Object.entries(capabilities).some(([flag, value]) => now[flag] !== value)
}
