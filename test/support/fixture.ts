import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { FaultKind } from '../../src/model/fault.ts'
import type { Json, JsonObject } from '../../src/model/json.ts'
import type { Profile } from '../../src/model/profile.ts'
import type { ToolChoice, ToolSpec } from '../../src/model/request.ts'
import type { AssistantPart, FinishReason, CallFlaw, WireId } from '../../src/model/turn.ts'
import type { Usage } from '../../src/model/usage.ts'
import { root } from './paths.ts'

/** The bytes of one answer, what the reader knows besides, and what the answer means; see test/fixtures/README.md. */
export interface Fixture {
  readonly name: string
  /** The number of the failure that it shows. */
  readonly number: number
  readonly bytes: Uint8Array
  readonly given: Given
  readonly expect: Expected
}

/** What is known before the first byte: `case.json`. */
export interface Given {
  /** What is odd about the bytes, in a sentence. */
  readonly about: string
  readonly wire: WireId
  readonly contentType?: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly tools: readonly ToolSpec[]
  /** What differs from the wire's own profile. */
  readonly profile?: Partial<Profile>
  readonly toolChoice?: ToolChoice
}

/** What the answer means: `expect.json`. Optional keys are checked only where they are given, unless said otherwise. */
export interface Expected {
  /** The calls that may run, in order, and no others. */
  readonly calls: readonly ExpectedCall[]
  /** The calls that must not run, in order, and no others; absent means none. */
  readonly rejected?: readonly { readonly name: string; readonly code?: CallFlaw['code']; readonly raw?: string }[]
  readonly text: string
  /** Absent means none. */
  readonly reasoning?: string
  /** Absent means none. */
  readonly refusal?: string
  readonly finish: { readonly reason: FinishReason; readonly raw?: string }
  /** Absent means none. */
  readonly fault?: {
    readonly kind: FaultKind
    readonly status?: number
    readonly code?: string
    readonly retryAfter?: number
    readonly written?: string
    /** A piece of the message. */
    readonly says?: string
  }
  /** Codes that must be among the warnings. */
  readonly warnings?: readonly string[]
  /** Nothing was odd, so nothing may be warned of. */
  readonly quiet?: true
  readonly usage?: Usage
  /** Every part that carries vendor data, in order. */
  readonly sealed?: readonly { readonly kind: AssistantPart['kind']; readonly text?: string; readonly data: Json }[]
  /** The calls that can be read out of what a server rejected as malformed (T73). */
  readonly written?: readonly { readonly name: string; readonly input: JsonObject }[]
}

export interface ExpectedCall {
  readonly name: string
  readonly input: JsonObject
  /** The vendor's id; null means that it gave none. */
  readonly wireId?: string | null
  /** The argument text as it came. */
  readonly raw?: string
}

/** Where the fixtures are. */
export const folder = join(root, 'test/fixtures')

/** All fixtures, by number. */
export function fixtures(): Fixture[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => load(name))
    .sort((a, b) => a.number - b.number || (a.name < b.name ? -1 : 1))
}

function load(name: string): Fixture {
  const number = /^T(\d{2,3})-[a-z0-9-]+$/.exec(name)?.[1]
  if (number === undefined) throw new Error(`test/fixtures/${name} is not called T<number>-<slug>`)
  const json = (file: string): unknown => JSON.parse(readFileSync(join(folder, name, file), 'utf8'))
  return {
    name,
    number: Number(number),
    bytes: readFileSync(join(folder, name, 'stream.bin')),
    given: json('case.json') as Given,
    expect: json('expect.json') as Expected,
  }
}

/** The numbers that the README excuses, each in a line of its table. */
export function numbersWithoutFixture(): number[] {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8')
  const section = readme.split(/^## /m).find((text) => text.startsWith('Numbers without a fixture')) ?? ''
  return [...section.matchAll(/^\| T(\d{2,3}) \| \S/gm)].map(([, number]) => Number(number))
}
