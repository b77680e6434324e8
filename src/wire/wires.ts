import type { WireId } from '../model/turn.ts'
import type { Wire } from './wire.ts'

/** The five wires, each loaded only when it is asked for. */
const LOADERS: Readonly<Record<WireId, () => Promise<Wire>>> = {
  gemini: async () => (await import('./gemini.ts')).gemini,
  'code-assist': async () => (await import('./code-assist.ts')).codeAssist,
  'openai-chat': async () => (await import('./openai-chat.ts')).openaiChat,
  'openai-responses': async () => (await import('./openai-responses.ts')).openaiResponses,
  anthropic: async () => (await import('./anthropic.ts')).anthropic,
}

/** The names of the wires. */
export const wireIds = Object.keys(LOADERS) as readonly WireId[]

/** Is this the name of a wire? */
export function isWireId(name: string): name is WireId {
  return Object.hasOwn(LOADERS, name)
}

/** Loads a wire by its name. */
export function loadWire(id: WireId): Promise<Wire> {
  return LOADERS[id]()
}
