import type { Warning } from '../model/event.ts'
import type { JsonObject } from '../model/json.ts'
import type { Profile } from '../model/profile.ts'
import type { ModelParams, ModelRequest } from '../model/request.ts'
import { formatResultText, toWellFormed } from '../model/text.ts'
import type { ResultPart } from '../model/turn.ts'
import type { ToolDeclarations } from '../schema/dialect/declare-tools.ts'
import type { EncodeContext } from './history/transcript.ts'
import { describeOutput } from './output-format.ts'
import { describeToolsAsText } from './text-calls/format-text-calls.ts'

/** The system prompt, with what the API has no parameter for: tools without native calls, the format of the answer. */
export function joinSystemPrompt(request: ModelRequest, context: EncodeContext): string {
  const { profile, projection } = context
  const tools = profile.tools === 'text' ? describeToolsAsText(projection.tools) : ''
  const texts = [request.system ?? '', tools, describeOutput(request, context)]
  return toWellFormed(texts.filter((text) => text.trim() !== '').join('\n\n'))
}

export function findChosenTool(name: string, projection: ToolDeclarations, warnings: Warning[]) {
  const tool = projection.tools.find(({ originalName }) => originalName === name)
  if (!tool) warnings.push({ code: 'tool-choice', message: `${name} cannot be chosen: it is not declared.` })
  return tool
}

/** Endpoints reject empty stop sequences, and too many of them (T155). */
export function limitStopSequences(stop: readonly string[] = [], max: number, warnings: Warning[]): string[] {
  const sequences = stop.filter((sequence) => sequence !== '')
  if (sequences.length > max)
    warnings.push({ code: 'stop', message: `Only the first ${max} stop sequences were sent.` })
  return sequences.slice(0, max)
}

/** For a lifetime of the prompt cache that cannot be requested. The shortest one is what every vendor has anyway. */
export function warnAboutCacheTtl({ cacheTtl }: ModelParams, warnings: Warning[]): void {
  if (cacheTtl === '1h')
    warnings.push({
      code: 'cache-ttl',
      message: 'The lifetime of the prompt cache cannot be set here; it was left out.',
    })
}

/** The lifetime of the prompt cache, as OpenAI's wires have it. */
export function encodeOpenAiCacheTtl(params: ModelParams, profile: Profile, warnings: Warning[]): JsonObject {
  if (params.cacheTtl !== '1h') return {}
  if (profile.cache === 'key')
    return profile.cacheTtlField === 'prompt_cache_options'
      ? { prompt_cache_options: { ttl: '12h' } }
      : { prompt_cache_retention: '24h' }
  if (profile.cache === 'none') warnAboutCacheTtl(params, warnings)
  return {}
}

/** A mark up to which the prompt is cached, as Anthropic's models have it. */
export function createCacheMark({ cacheTtl }: ModelParams): JsonObject {
  return { type: 'ephemeral', ...(cacheTtl === '1h' && { ttl: '1h' }) }
}

/** The text of a result, on wires that have no field for the status. */
export function formatResultWithStatus(result: ResultPart): string {
  const text = formatResultText(result)
  return result.status === 'error' && !/^error/i.test(text) ? `Error: ${text}` : text
}

/** With any other image type, OpenAI's endpoints reject this request and all that follow (T100). */
export const OPENAI_IMAGE_MIME_PATTERN = /^image\/(?:png|jpe?g|gif|webp|\*)$/
