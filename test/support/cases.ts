import * as fc from 'fast-check'
import type { Profile } from '../../src/model/profile.ts'
import type { ModelParams, ModelRequest, ToolChoice, ToolSpec } from '../../src/model/request.ts'
import type { WireId } from '../../src/model/turn.ts'
import { anthropic } from '../../src/wire/anthropic/wire.ts'
import { codeAssist } from '../../src/wire/code-assist/wire.ts'
import { gemini } from '../../src/wire/gemini/wire.ts'
import { interactions } from '../../src/wire/interactions/wire.ts'
import { openaiChat } from '../../src/wire/openai-chat/wire.ts'
import { openaiResponses } from '../../src/wire/openai-responses/wire.ts'
import type { Wire } from '../../src/wire/wire.ts'
import { schemaArbitrary } from '../schema/arbitrary.ts'
import { histories, toolNames, words } from './history.ts'
import { ELSEWHERE } from './seals.ts'

/** The wires by name, without their state. */
export const wires: Readonly<Record<WireId, Wire>> = {
  gemini,
  interactions,
  'code-assist': codeAssist,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  anthropic,
}

/** A request, and the profile of the endpoint that it goes to. */
export interface Case {
  readonly request: ModelRequest
  readonly profile: Profile
}

const tool: fc.Arbitrary<ToolSpec> = fc
  .record({ name: toolNames, description: words, schema: schemaArbitrary, freeform: fc.nat(8) })
  .map(({ freeform, ...rest }) => ({ ...rest, ...(freeform === 0 && { freeform: true }) }))

/** Lists of tools are few and shared, as in a session: declaring one costs more than a whole history. */
function toolLists(seed: number): readonly (readonly ToolSpec[])[] {
  const known = LISTS.get(seed)
  if (known) return known
  const lists = fc.sample(fc.array(tool, { minLength: 1, maxLength: 5 }), { numRuns: 60, seed })
  const made = [[], PLAIN, ...lists]
  LISTS.set(seed, made)
  return made
}

const LISTS = new Map<number, readonly (readonly ToolSpec[])[]>()

const PLAIN: readonly ToolSpec[] = [
  {
    name: 'read_file',
    description: 'Reads a file.',
    schema: { type: 'object', properties: { path: { type: 'string' } } },
  },
  { name: 'run', description: 'Runs a command.', schema: { type: 'object', properties: {} } },
  {
    name: 'patch',
    description: 'Applies a patch.',
    schema: { type: 'object', properties: { input: { type: 'string' } } },
    freeform: true,
  },
]

const choices: fc.Arbitrary<ToolChoice | undefined> = fc.constantFrom<(ToolChoice | undefined)[]>(
  undefined,
  undefined,
  'auto',
  'none',
  'required',
  { name: 'read_file' },
  { name: 'patch' },
  { name: 'nobody' },
  { only: ['read_file', 'nobody', 'patch'] },
  { only: ['nobody'] },
  { only: [] },
)

const params: fc.Arbitrary<ModelParams> = fc.record(
  {
    maxTokens: fc.constantFrom(1, 16, 1024, 2000, 64000),
    temperature: fc.constantFrom(0, 0.5, 1),
    topP: fc.constantFrom(0.1, 1),
    stop: fc.constantFrom([], ['END'], ['', ' '], ['a', 'b', 'c', 'd', 'e', 'f']),
    effort: fc.constantFrom<NonNullable<ModelParams['effort']>[]>(
      'off',
      'minimal',
      'low',
      'medium',
      'high',
      'xhigh',
      0,
      500,
      9000,
      99999,
    ),
    parallelCalls: fc.boolean(),
    stream: fc.boolean(),
    store: fc.boolean(),
  },
  { requiredKeys: [] },
)

/** The default profile with a few flags turned, each to a value that a vendor's row may give it on that wire. */
function profiles(wire: WireId, ids: Profile['ids']): fc.Arbitrary<Profile> {
  const { profile } = wires[wire]
  const some = <T>(first: T, ...others: T[]) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(first) }, fc.constantFrom(first, ...others))
  return fc
    .record({
      signer: some<string>(wire, ELSEWHERE),
      tools: some<Profile['tools']>('native', 'native', 'native', 'text'),
      dialect: some(...DIALECTS[wire]),
      media: some(true, false),
      replay: some<Profile['replay']>('own', 'never'),
      needsReasoning: some<Profile['needsReasoning']>(undefined, 'reasoning_content', 'reasoning'),
      emptyContent: some<Profile['emptyContent']>(profile.emptyContent, 'null', 'empty', 'omit'),
      maxTokensField: some<Profile['maxTokensField']>(profile.maxTokensField, 'max_tokens', 'max_completion_tokens'),
      systemRole: some<Profile['systemRole']>('system', 'developer'),
      alternate: some(profile.alternate, true, profile.alternate),
      bridge: some(false, wire === 'openai-chat'),
      resultName: some(profile.resultName, true, false),
      streamUsage: some(profile.streamUsage, true, false),
      cache: some(...CACHES[wire]),
      signatures: some<Profile['signatures']>(profile.signatures, ...(SIGNATURES[wire] ?? [])),
      nestedMedia: some(profile.nestedMedia, true, false),
      thinking: some<Profile['thinking']>(profile.thinking, 'none', 'budget', 'level', 'adaptive'),
      constrain: some(false, true),
      eagerArguments: some(profile.eagerArguments, true, false),
      encryptedReasoning: some(profile.encryptedReasoning, true, false),
      refuses: some<string[]>([], ['temperature', 'parallel_tool_calls', 'stream_options'], ['tool_choice', 'stop']),
    })
    .map(({ needsReasoning, ...flags }) => ({
      ...profile,
      ...flags,
      ids: wire === 'openai-chat' ? ids : 'any',
      ...(needsReasoning !== undefined && { needsReasoning }),
    }))
}

const DIALECTS: Record<WireId, [Profile['dialect'], ...Profile['dialect'][]]> = {
  gemini: ['gemini-json', 'gemini'],
  interactions: ['gemini-json'],
  'code-assist': ['gemini-json', 'gemini'],
  'openai-chat': ['openai', 'openai-strict', 'grammar'],
  'openai-responses': ['openai', 'openai-strict', 'grammar'],
  anthropic: ['anthropic'],
}

const CACHES: Record<WireId, [Profile['cache'], ...Profile['cache'][]]> = {
  gemini: ['none'],
  interactions: ['none'],
  'code-assist': ['none'],
  'openai-chat': ['key', 'none', 'marks'],
  'openai-responses': ['key', 'none'],
  anthropic: ['auto', 'none', 'marks'],
}

const SIGNATURES: Partial<Record<WireId, Profile['signatures'][]>> = {
  gemini: ['required', 'optional', 'never'],
  interactions: ['required', 'optional', 'never'],
  'code-assist': ['required', 'optional', 'never'],
  anthropic: ['required', 'optional'],
}

/** Requests of every nastiness, for one wire. `seed` is that of the run, so that it repeats as a whole. */
export function cases(wire: WireId, seed: number, maxLength?: number): fc.Arbitrary<Case> {
  const lists = toolLists(seed)
  return fc.constantFrom<Profile['ids'][]>('any', 'any', 'nine', 'functions').chain((ids) =>
    fc
      .record({
        turns: histories(ids, maxLength),
        tools: fc.constantFrom(...lists),
        toolChoice: choices,
        params,
        system: fc.option(words, { nil: undefined }),
        session: fc.option(fc.constant('a-session'), { nil: undefined }),
        profile: profiles(wire, ids),
      })
      .map(({ profile, toolChoice, system, session, ...rest }) => ({
        request: {
          model: 'a-model',
          ...rest,
          ...(toolChoice !== undefined && { toolChoice }),
          ...(system !== undefined && { system }),
          ...(session !== undefined && { session }),
        },
        profile,
      })),
  )
}
