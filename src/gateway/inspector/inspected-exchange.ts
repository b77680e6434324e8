import type { Exchange, ExchangeStage, ExchangeWarning } from '../exchange-log.ts'

/** A request and its response as the list of the inspector shows them. */
export interface InspectedExchange extends Omit<Exchange, 'wire' | 'path'>, Partial<Pick<Exchange, 'wire' | 'path'>> {
  /** A request that is not part of the conversation, such as for a summary or a count. */
  readonly purpose?: string
}

/** What a piece of a request is. */
export type BlockKind =
  | 'system'
  | 'tool'
  | 'instructions'
  | 'user'
  | 'file'
  | 'result'
  | 'thinking'
  | 'text'
  | 'call'
  | 'media'
  | 'settings'
  | 'other'

/** A piece of a request or a response. */
export interface Block {
  readonly kind: BlockKind
  readonly label: string
  readonly text: string
  /** The number of its turn, from 1; tools and system prompt have none. */
  readonly turn?: number
  /** The size, if it is not the length of the text. */
  readonly chars?: number
  /** What is wrong with it. */
  readonly flaw?: string
}

/** A block as it is sent to the page: the beginning of its text. */
export interface BlockSummary extends Omit<Block, 'text' | 'chars'> {
  readonly index: number
  readonly side: 'request' | 'response'
  readonly chars: number
  readonly tokens: number
  readonly preview: string
}

export interface DiffPiece {
  readonly kind: 'same' | 'removed' | 'added'
  readonly text: string
}

/** Where a request stops to repeat the previous one of its session. */
export interface Divergence {
  /** The previous request. */
  readonly previous: number
  /** Does the request only extend the previous one? */
  readonly isExtended: boolean
  /** What differs first. */
  readonly place?: string
  readonly kind?: BlockKind
  /** The number of blocks and characters that are the same. */
  readonly sameBlocks: number
  readonly sameChars: number
  readonly previousChars: number
  readonly diff: readonly DiffPiece[]
  /** Tokens of the previous request that were not read from the cache. */
  readonly missedTokens?: number
  readonly isEstimate?: boolean
  /** In US dollars, beside what they would have cost from the cache. */
  readonly missedCost?: number
  /** What the vendor says about it. */
  readonly vendorReason?: string
}

/** A tool call of the response. */
export interface InspectedCall {
  readonly id: string
  readonly name: string
  readonly input: string
  readonly state: 'ok' | 'error' | 'denied' | 'cancelled' | 'interrupted' | 'open' | 'rejected'
  /** The model wrote it as text. */
  readonly isRescued?: boolean
  readonly flaw?: string
  readonly result?: string
  readonly resultChars?: number
  readonly durationMs?: number
  /** The time until the next request: other calls may have run in it. */
  readonly isUpperLimit?: boolean
}

/** The bytes of one side, without secrets. */
export interface InspectedBody {
  readonly side: ExchangeStage
  /** Of the requests to models, from 1. */
  readonly attempt?: number
  /** The URL, or the status. */
  readonly note: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The same bytes as those of the client. */
  readonly isSame?: boolean
  readonly isCut?: boolean
}

export interface BodySummary extends Omit<InspectedBody, 'text'> {
  readonly chars: number
}

/** All about one exchange that the page shows, but for long texts. */
export interface ExchangeDetail {
  readonly exchange: InspectedExchange
  readonly blocks: readonly BlockSummary[]
  readonly divergence?: Divergence
  readonly calls: readonly InspectedCall[]
  readonly bodies: readonly BodySummary[]
  readonly warnings: readonly ExchangeWarning[]
  /** Why there is less than one would expect. */
  readonly remark?: string
}

/** The size of a request by kind, in tokens. */
export interface GrowthPoint {
  readonly id: number
  readonly tokens: Readonly<Partial<Record<BlockKind, number>>>
}

/** A piece of a text. */
export interface TextSlice {
  readonly text: string
  readonly from: number
  readonly total: number
}
