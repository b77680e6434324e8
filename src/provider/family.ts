import type { WireId } from '../model/turn.ts'
import type { Facts } from './row.ts'

/** A family of models: what holds for all of them, wherever they are served. */
export interface Family {
  readonly id: string
  /** Matches the last part of the model's name, in lower case. */
  readonly pattern: RegExp
  /** The wires on which these facts hold; all, where it does not say. */
  readonly wires?: readonly WireId[]
  readonly facts: Facts
}

const GOOGLE: readonly WireId[] = ['gemini', 'code-assist']
const CHAT: readonly WireId[] = ['openai-chat']
const MESSAGES: readonly WireId[] = ['anthropic']

/** What Google looks up by itself since Gemini 2.5. */
const LOOKS_UP = ['url_context', 'google_search'] as const

const MILLION = 1_000_000
const SAMPLING = ['temperature', 'top_p']

/** The families. The first one that matches name and wire counts, so the narrower pattern stands first. */
export const families: readonly Family[] = [
  // Gemini. From 3 on, calls must carry their signature (T117), results take media inside (T100), thinking has levels.
  {
    id: 'gemini-2.5',
    pattern: /^gemini-2\.5/,
    wires: GOOGLE,
    facts: { signatures: 'optional', nestedMedia: false, thinking: 'budget', serverTools: LOOKS_UP, window: 1_048_576 },
  },
  {
    id: 'gemini-2',
    pattern: /^gemini-(?:1|2\.0)/,
    wires: GOOGLE,
    facts: { signatures: 'never', nestedMedia: false, thinking: 'none', window: 1_048_576 },
  },
  {
    id: 'gemini-3',
    pattern: /^gemini-(?!robotics|embedding)/,
    wires: GOOGLE,
    facts: { signatures: 'required', nestedMedia: true, thinking: 'level', serverTools: LOOKS_UP, window: 1_048_576 },
  },
  { id: 'gemini-2.5', pattern: /^gemini-2\.5/, facts: { window: 1_048_576 } },
  { id: 'gemini', pattern: /^gemini-/, facts: { window: 1_048_576 } },
  // Gemma 3 makes no native calls on Google's own endpoint; elsewhere its template wants strict alternation (T93).
  {
    id: 'gemma-3',
    pattern: /^gemma-?3/,
    wires: GOOGLE,
    facts: { tools: 'text', signatures: 'never', thinking: 'none' },
  },
  { id: 'gemma', pattern: /^gemma/, wires: GOOGLE, facts: { signatures: 'never', thinking: 'none' } },
  { id: 'gemma', pattern: /^gemma/, facts: { alternate: true } },

  // Claude. Before 4.6 thinking has a budget; since then it is adaptive, and since 4.7 sampling is refused (T83, T155).
  {
    id: 'claude-3',
    pattern: /^claude-(?:instant|2|3(?!-7))/,
    wires: MESSAGES,
    facts: { thinking: 'none', eagerArguments: false, window: 200_000 },
  },
  {
    id: 'claude',
    pattern: /^claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:@|-\d{6,}|-latest|$))/,
    wires: MESSAGES,
    facts: { thinking: 'budget', window: 200_000 },
  },
  {
    id: 'claude',
    pattern: /^claude-(?:opus|sonnet|haiku)-4-6/,
    wires: MESSAGES,
    facts: { thinking: 'adaptive', window: MILLION },
  },
  {
    id: 'claude',
    pattern: /^claude-/,
    wires: MESSAGES,
    facts: { thinking: 'adaptive', refuses: SAMPLING, window: MILLION },
  },
  // Behind a gateway that speaks chat, the cache is asked for with marks, which gateways pass on.
  { id: 'claude', pattern: /^claude-/, wires: CHAT, facts: { cache: 'marks', window: 200_000 } },

  // OpenAI. Models that reason refuse sampling and stop words, the o-series also a word on parallel calls (T154, T155).
  {
    id: 'o-series',
    pattern: /^(?:o\d|codex-mini)/,
    facts: { refuses: [...SAMPLING, 'stop', 'parallel_tool_calls'], window: 200_000 },
  },
  { id: 'gpt-chat', pattern: /^gpt-5[\d.]*-chat/, facts: { thinking: 'none', window: 128_000 } },
  { id: 'gpt-5', pattern: /^gpt-5/, facts: { refuses: [...SAMPLING, 'stop'], window: 400_000 } },
  { id: 'gpt-6', pattern: /^gpt-[6-9]/, facts: { refuses: [...SAMPLING, 'stop'], window: 1_050_000 } },
  { id: 'gpt-4.1', pattern: /^gpt-4\.1/, facts: { thinking: 'none', window: 1_047_576 } },
  { id: 'gpt-4', pattern: /^(?:chat)?gpt-4/, facts: { thinking: 'none', window: 128_000 } },
  // It wants its reasoning back within a turn, under the field in which it came (T76), and looks at no pictures (T100).
  { id: 'gpt-oss', pattern: /^gpt-oss/, facts: { media: false, window: 131_072 } },

  // Grok writes HTML entities into arguments (T42), and its coding and older models refuse an effort (T155).
  { id: 'grok-3-mini', pattern: /^grok-3-mini/, facts: { entities: true, refuses: ['stop'], window: 131_072 } },
  {
    id: 'grok-3',
    pattern: /^grok-(?:[23](?![\d.])|code|build|4(?:-|$|\.20))/,
    facts: { entities: true, thinking: 'none', refuses: ['stop'], window: 131_072 },
  },
  { id: 'grok', pattern: /^grok/, facts: { entities: true, refuses: ['stop'], window: 256_000 } },

  // Mistral: ids of exactly nine letters and digits (T95), and strict alternation in its templates (T93).
  {
    id: 'mistral',
    pattern: /^(?:open-)?(?:mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)/,
    facts: { ids: 'nine', alternate: true, window: 128_000 },
  },
  // Kimi: ids of its own form, which must come back as they were (T96).
  { id: 'kimi-k3', pattern: /^kimi-k[3-9]/, facts: { ids: 'functions', window: 1_048_576 } },
  { id: 'kimi', pattern: /^kimi/, facts: { ids: 'functions', window: 262_144 } },
  { id: 'deepseek-r1', pattern: /^deepseek-r1/, wires: CHAT, facts: { think: true, window: 128_000 } },
  { id: 'deepseek-v4', pattern: /^deepseek-(?:v[4-9]|flash|pro)/, facts: { media: false, window: MILLION } },
  { id: 'deepseek', pattern: /^deepseek/, facts: { media: false, window: 128_000 } },
  // Local servers leave Qwen's thoughts inside the text (T71).
  { id: 'qwen-coder', pattern: /^qwen.*coder/, wires: CHAT, facts: { media: false, window: 262_144 } },
  { id: 'qwen-vl', pattern: /^(?:qwen|qvq).*(?:vl|omni)/, wires: CHAT, facts: { think: true, window: 131_072 } },
  { id: 'qwen', pattern: /^(?:qwen|qwq)/, wires: CHAT, facts: { think: true, window: 131_072 } },
  { id: 'glm', pattern: /^glm-(?:4\.[6-9]|[5-9])/, wires: CHAT, facts: { think: true, window: 200_000 } },
  { id: 'glm', pattern: /^glm/, wires: CHAT, facts: { think: true, window: 128_000 } },
  // MiniMax writes its thoughts into the text on this wire, and wants the text back as it came (T79).
  { id: 'minimax', pattern: /^minimax/, wires: CHAT, facts: { think: true, window: 204_800 } },
  { id: 'minimax-m2', pattern: /^minimax-m2/, facts: { media: false, window: 204_800 } },
  { id: 'minimax', pattern: /^minimax/, facts: { window: 204_800 } },
  { id: 'llama', pattern: /^(?:meta-)?llama/, facts: { window: 131_072 } },
]
