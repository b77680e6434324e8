import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '../../src/model/json.ts'
import type { WireId } from '../../src/model/turn.ts'
import type { PlainConversation } from '../../src/wire/plain-conversation/plain-conversation.ts'
import { hasShared, shared } from './paths.ts'

/** A recorded exchange with a real provider, and what its answer means. */
export interface Recording {
  readonly file: string
  readonly id: string
  readonly provider: string
  readonly wire: WireId
  readonly model: string
  readonly streaming: boolean
  readonly tags: readonly string[]
  readonly request?: { readonly body?: JsonObject; readonly conversation?: JsonObject }
  readonly response: {
    readonly status: number
    readonly contentType: string
    readonly body: string
    readonly chunkBytes?: readonly number[]
  }
  readonly expect: Expectation
}

/** What the corpus says of an answer; see its README. */
export interface Expectation {
  readonly toolCalls: readonly {
    readonly id?: string
    readonly name: string
    readonly args: unknown
    readonly argsText?: string
    readonly argsInvalid?: boolean
    readonly kind?: string
    readonly input?: string
    readonly signature?: boolean
  }[]
  readonly text: string
  readonly reasoning?: string
  readonly refusal?: string
  readonly finish: string | null
  readonly finishClass: string | null
  readonly usage?: Readonly<Record<string, number>>
  readonly error?: { readonly message: string; readonly httpStatus?: number }
  readonly notes?: readonly string[]
}

/** All recordings of a wire, in the order of their names; none where the corpus is absent, or has none of it. */
export function recordings(wire: WireId): Recording[] {
  const folder = join(shared, 'corpus', wire)
  if (!hasShared || !existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => ({
      file: `${wire}/${name}`,
      ...(JSON.parse(readFileSync(join(folder, name), 'utf8')) as Omit<Recording, 'file'>),
    }))
}

/** A conversation without its details, which the corpus does not know. */
export function toCorpusConversation({ details: _details, ...plain }: PlainConversation): JsonObject {
  return JSON.parse(JSON.stringify(plain)) as JsonObject
}
