import type { WireId } from '../model/turn.ts'
import type { Wire } from './wire.ts'

/** Each wire is loaded only when it is needed. */
const WIRE_LOADERS: Readonly<Record<WireId, () => Promise<Wire>>> = {
  gemini: async () => (await import('./gemini/wire.ts')).gemini,
  interactions: async () => (await import('./interactions/wire.ts')).interactions,
  'code-assist': async () => (await import('./code-assist/wire.ts')).codeAssist,
  'openai-chat': async () => (await import('./openai-chat/wire.ts')).openaiChat,
  'openai-responses': async () => (await import('./openai-responses/wire.ts')).openaiResponses,
  anthropic: async () => (await import('./anthropic/wire.ts')).anthropic,
}

/** The ids of all API formats. */
export const wireIds = Object.keys(WIRE_LOADERS) as readonly WireId[]

export function isWireId(name: string): name is WireId {
  return Object.hasOwn(WIRE_LOADERS, name)
}

/** Loads the codecs of an API format. */
export function loadWire(id: WireId): Promise<Wire> {
  return WIRE_LOADERS[id]()
}
