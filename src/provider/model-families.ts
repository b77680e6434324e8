import type { WireId } from '../model/turn.ts'
import type { Capabilities } from './provider-definition.ts'

/** What is true of a group of models, whichever provider serves them. */
export interface ModelFamily {
  readonly id: string
  /** Matches the last part of the model's name, in lower case. */
  readonly pattern: RegExp
  /** The wires on which this is true; all, if absent. */
  readonly wires?: readonly WireId[]
  readonly capabilities: Capabilities
}

export const GOOGLE: readonly WireId[] = ['gemini', 'code-assist']
/** All wires of Gemini's own endpoints. */
const GEMINI_WIRES: readonly WireId[] = [...GOOGLE, 'interactions']
export const CHAT: readonly WireId[] = ['openai-chat']
export const MESSAGES: readonly WireId[] = ['anthropic']

/** Server-side tools since Gemini 2.5. */
const GOOGLE_SERVER_TOOLS = ['url_context', 'google_search'] as const

const MILLION_TOKENS = 1_000_000
const SAMPLING_PARAMS = ['temperature', 'top_p']

/** The first family that matches name and wire counts, so narrower patterns come first. */
export const modelFamilies: readonly ModelFamily[] = [
  // Gemini. Since version 3, calls need their signature (T117), results may contain media (T100), and thinking has
  // levels.
  {
    id: 'gemini-2.5',
    pattern: /^gemini-2\.5/,
    wires: GEMINI_WIRES,
    capabilities: {
      signatures: 'optional',
      nestedMedia: false,
      thinking: 'budget',
      serverTools: GOOGLE_SERVER_TOOLS,
      window: 1_048_576,
    },
  },
  {
    id: 'gemini-2',
    pattern: /^gemini-(?:1|2\.0)/,
    wires: GEMINI_WIRES,
    capabilities: { signatures: 'never', nestedMedia: false, thinking: 'none', window: 1_048_576 },
  },
  {
    id: 'gemini-3',
    pattern: /^gemini-(?!robotics|embedding)/,
    wires: GEMINI_WIRES,
    capabilities: {
      signatures: 'required',
      nestedMedia: true,
      thinking: 'level',
      outputWithTools: true,
      serverTools: GOOGLE_SERVER_TOOLS,
      window: 1_048_576,
    },
  },
  { id: 'gemini-2.5', pattern: /^gemini-2\.5/, capabilities: { window: 1_048_576 } },
  { id: 'gemini', pattern: /^gemini-/, capabilities: { window: 1_048_576 } },
  // Gemma 3 makes no native calls on Google's own endpoint; elsewhere its template requires alternating roles (T93).
  {
    id: 'gemma-3',
    pattern: /^gemma-?3/,
    wires: GEMINI_WIRES,
    capabilities: { tools: 'text', signatures: 'never', thinking: 'none', outputFormat: 'none' },
  },
  {
    id: 'gemma',
    pattern: /^gemma/,
    wires: GEMINI_WIRES,
    capabilities: { signatures: 'never', thinking: 'none', outputFormat: 'none' },
  },
  { id: 'gemma', pattern: /^gemma/, capabilities: { alternate: true } },

  // Claude. Before 4.6 thinking has a budget; since then it is adaptive, and since 4.7 sampling is refused (T83, T155).
  // The response format came with Opus 4.1 and the models 4.5.
  {
    id: 'claude-3',
    pattern: /^claude-(?:instant|2|3(?!-7))/,
    wires: MESSAGES,
    capabilities: { thinking: 'none', eagerArguments: false, outputFormat: 'none', window: 200_000 },
  },
  {
    id: 'claude',
    pattern: /^claude-(?:3-7|(?:opus|sonnet)-4(?:-0)?(?:@|-\d{6,}|-latest|$))/,
    wires: MESSAGES,
    capabilities: { thinking: 'budget', outputFormat: 'none', window: 200_000 },
  },
  {
    id: 'claude',
    pattern: /^claude-(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:@|-\d{6,}|-latest|$)/,
    wires: MESSAGES,
    capabilities: { thinking: 'budget', window: 200_000 },
  },
  {
    id: 'claude',
    pattern: /^claude-(?:opus|sonnet|haiku)-4-6/,
    wires: MESSAGES,
    capabilities: { thinking: 'adaptive', window: MILLION_TOKENS },
  },
  {
    id: 'claude',
    pattern: /^claude-(?:(?:opus|sonnet|haiku)-4-7|(?:sonnet|haiku)-4-8|(?:sonnet|haiku)-5(?!-[5-9])|mythos-preview)/,
    wires: MESSAGES,
    capabilities: { thinking: 'adaptive', refuses: SAMPLING_PARAMS, window: MILLION_TOKENS },
  },
  // System messages inside the history, which may add and remove tools, came with Opus 4.8; Sonnet 5 has none (T177).
  {
    id: 'claude',
    pattern: /^claude-/,
    wires: MESSAGES,
    capabilities: { thinking: 'adaptive', refuses: SAMPLING_PARAMS, systemNotes: true, window: MILLION_TOKENS },
  },
  // Chat gateways pass cache marks on.
  { id: 'claude', pattern: /^claude-/, wires: CHAT, capabilities: { cache: 'marks', window: 200_000 } },

  // OpenAI. Reasoning models refuse sampling and stop sequences, the o-series also parallel_tool_calls (T154, T155).
  // Tools are added inside a history since gpt-5.6 (T175).
  {
    id: 'o-series',
    pattern: /^(?:o\d|codex-mini)/,
    capabilities: {
      refuses: [...SAMPLING_PARAMS, 'stop', 'parallel_tool_calls'],
      lateTools: 'none',
      window: 200_000,
    },
  },
  {
    id: 'gpt-chat',
    pattern: /^gpt-5[\d.]*-chat/,
    capabilities: { thinking: 'none', lateTools: 'none', window: 128_000 },
  },
  {
    id: 'gpt-5',
    pattern: /^gpt-5\.[6-9]/,
    capabilities: { refuses: [...SAMPLING_PARAMS, 'stop'], cacheTtlField: 'prompt_cache_options', window: 400_000 },
  },
  {
    id: 'gpt-5',
    pattern: /^gpt-5/,
    capabilities: { refuses: [...SAMPLING_PARAMS, 'stop'], lateTools: 'none', window: 400_000 },
  },
  {
    id: 'gpt-6',
    pattern: /^gpt-[6-9]/,
    capabilities: { refuses: [...SAMPLING_PARAMS, 'stop'], cacheTtlField: 'prompt_cache_options', window: 1_050_000 },
  },
  { id: 'gpt-4.1', pattern: /^gpt-4\.1/, capabilities: { thinking: 'none', lateTools: 'none', window: 1_047_576 } },
  { id: 'gpt-4', pattern: /^(?:chat)?gpt-4/, capabilities: { thinking: 'none', lateTools: 'none', window: 128_000 } },
  // It needs its reasoning back within a turn, in the same field (T76), and has no image input (T100).
  { id: 'gpt-oss', pattern: /^gpt-oss/, capabilities: { media: false, lateTools: 'none', window: 131_072 } },

  // Grok writes HTML entities into arguments (T42), and its coding and older models refuse an effort (T155).
  { id: 'grok-3-mini', pattern: /^grok-3-mini/, capabilities: { entities: true, refuses: ['stop'], window: 131_072 } },
  {
    id: 'grok-3',
    pattern: /^grok-(?:[23](?![\d.])|code|build|4(?:-|$|\.20))/,
    capabilities: { entities: true, thinking: 'none', refuses: ['stop'], window: 131_072 },
  },
  { id: 'grok', pattern: /^grok/, capabilities: { entities: true, refuses: ['stop'], window: 256_000 } },

  // Mistral: ids of exactly nine letters and digits (T95), and alternating roles in its templates (T93).
  {
    id: 'mistral',
    pattern: /^(?:open-)?(?:mistral|mixtral|ministral|magistral|codestral|devstral|pixtral|voxtral)/,
    capabilities: { ids: 'nine', alternate: true, window: 128_000 },
  },
  // Kimi: ids of its own form, which must be sent back unchanged (T96).
  { id: 'kimi-k3', pattern: /^kimi-k[3-9]/, capabilities: { ids: 'functions', window: 1_048_576 } },
  { id: 'kimi', pattern: /^kimi/, capabilities: { ids: 'functions', window: 262_144 } },
  { id: 'deepseek-r1', pattern: /^deepseek-r1/, wires: CHAT, capabilities: { think: true, window: 128_000 } },
  {
    id: 'deepseek-v4',
    pattern: /^deepseek-(?:v[4-9]|flash|pro)/,
    capabilities: { media: false, window: MILLION_TOKENS },
  },
  { id: 'deepseek', pattern: /^deepseek/, capabilities: { media: false, window: 128_000 } },
  // Local servers leave Qwen's reasoning inside the text (T71).
  { id: 'qwen-coder', pattern: /^qwen.*coder/, wires: CHAT, capabilities: { media: false, window: 262_144 } },
  {
    id: 'qwen-vl',
    pattern: /^(?:qwen|qvq).*(?:vl|omni)/,
    wires: CHAT,
    capabilities: { think: true, window: 131_072 },
  },
  { id: 'qwen', pattern: /^(?:qwen|qwq)/, wires: CHAT, capabilities: { think: true, window: 131_072 } },
  { id: 'glm', pattern: /^glm-(?:4\.[6-9]|[5-9])/, wires: CHAT, capabilities: { think: true, window: 200_000 } },
  { id: 'glm', pattern: /^glm/, wires: CHAT, capabilities: { think: true, window: 128_000 } },
  // MiniMax writes its reasoning into the text on this wire, and needs the text back unchanged (T79).
  { id: 'minimax', pattern: /^minimax/, wires: CHAT, capabilities: { think: true, window: 204_800 } },
  { id: 'minimax-m2', pattern: /^minimax-m2/, capabilities: { media: false, window: 204_800 } },
  { id: 'minimax', pattern: /^minimax/, capabilities: { window: 204_800 } },
  { id: 'llama', pattern: /^(?:meta-)?llama/, capabilities: { window: 131_072 } },
]
