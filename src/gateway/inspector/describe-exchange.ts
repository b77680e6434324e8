import { defined } from '../../model/defined.ts'
import { findDivergence, findPreviousRequest } from './find-divergence.ts'
import type {
  Block,
  BlockKind,
  BlockSummary,
  ExchangeDetail,
  GrowthPoint,
  InspectedBody,
  InspectedExchange,
} from './inspected-exchange.ts'
import type { InspectedContent, InspectorSource } from './inspector-source.ts'
import { countBlockChars, toAnswerBlock } from './list-blocks.ts'
import { listCalls } from './list-calls.ts'

export type ExchangeReader = ReturnType<typeof createExchangeReader>

/** Reads exchanges for the page. What was read last is kept: one exchange is asked for in many pieces. */
export function createExchangeReader(source: InspectorSource) {
  const contents = createCache<InspectedContent | undefined>(12)
  const bodies = createCache<readonly InspectedBody[]>(4)
  const sizes = createCache<GrowthPoint['tokens']>(2000)
  const toKey = ({ id, totalMs }: InspectedExchange): string => `${id} ${totalMs ?? 'open'}`

  const readContent = (exchange: InspectedExchange): InspectedContent | undefined =>
    contents.get(toKey(exchange), () => source.readContent(exchange.id))
  const listBlocks = (content: InspectedContent): Block[] => [
    ...content.blocks,
    ...(content.answer?.parts ?? []).map((part) => toAnswerBlock(part)),
  ]
  const listSession = ({ session, client }: InspectedExchange): InspectedExchange[] =>
    source.list().filter((one) => one.session === session && one.client === client && one.purpose === undefined)

  function readDivergence(exchange: InspectedExchange, content: InspectedContent): Pick<ExchangeDetail, 'divergence'> {
    if (exchange.purpose !== undefined) return {}
    const earlier = listSession(exchange).filter(({ id, fault }) => id < exchange.id && !fault)
    const candidates = earlier.slice(-MAX_COMPARED).flatMap((one) => {
      const read = readContent(one)
      return read ? [{ exchange: one, blocks: read.blocks }] : []
    })
    const previous = findPreviousRequest(candidates, content)
    if (!previous) return {}
    const current = { exchange, blocks: content.blocks }
    const found = findDivergence(previous, current, (one, usage) => source.price(one, usage))
    return { divergence: { ...found, ...defined({ vendorReason: source.readVendorReason?.(exchange.id) }) } }
  }

  function* readLater(exchange: InspectedExchange) {
    const later = listSession(exchange).filter(({ id }) => id > exchange.id)
    for (const one of later.slice(0, MAX_COMPARED)) {
      const content = readContent(one)
      if (content) yield { exchange: one, content }
    }
  }

  return {
    readDetail(id: number): ExchangeDetail | undefined {
      const exchange = source.get(id)
      const content = exchange && readContent(exchange)
      if (!exchange || !content) return undefined
      const hasCalls = [content.answer, content.modelAnswer].some((turn) =>
        turn?.parts.some(({ kind }) => kind === 'call'),
      )
      return {
        exchange,
        blocks: summarizeBlocks(listBlocks(content), content.blocks.length, exchange),
        ...readDivergence(exchange, content),
        calls: hasCalls
          ? listCalls({
              exchange,
              content,
              later: readLater(exchange),
              known: source.readResults?.(id) ?? new Map(),
            })
          : [],
        bodies: this.readBodies(exchange).map(({ text, ...body }) => ({ ...body, chars: text.length })),
        warnings: exchange.warnings,
        ...defined({ remark: content.remark }),
      }
    },
    readBodies: (exchange: InspectedExchange): readonly InspectedBody[] =>
      bodies.get(toKey(exchange), () => source.readBodies(exchange.id)),
    /** The whole text of a block. */
    readBlock(id: number, index: number): string | undefined {
      const exchange = source.get(id)
      const content = exchange && readContent(exchange)
      return content && listBlocks(content)[index]?.text
    },
    /** How the requests of a session grew, by kind. */
    readGrowth(id: number): GrowthPoint[] {
      const exchange = source.get(id)
      if (!exchange) return []
      // A request that failed was not counted, so that it would look smaller than it was.
      return listSession(exchange)
        .filter((one) => one.id === id || !one.fault)
        .slice(-MAX_GROWTH_POINTS)
        .map((one) => {
          const tokens = sizes.get(toKey(one), () => {
            const content = one.id === id ? readContent(one) : source.readContent(one.id)
            return content ? sumByKind(content.blocks, one) : {}
          })
          return { id: one.id, tokens }
        })
    },
  }
}

/** Requests of other conversations of the session may stand between two of the same. */
const MAX_COMPARED = 8
const MAX_GROWTH_POINTS = 200
const PREVIEW_CHARS = 1200

function summarizeBlocks(blocks: readonly Block[], requestBlocks: number, exchange: InspectedExchange): BlockSummary[] {
  const rate = findTokenRate(blocks.slice(0, requestBlocks), exchange)
  return blocks.map((block, index) => {
    const { text, chars: _chars, ...rest } = block
    const chars = countBlockChars(block)
    const isRequest = index < requestBlocks
    return {
      ...rest,
      index,
      side: isRequest ? 'request' : 'response',
      chars,
      tokens: Math.round(chars * (isRequest ? rate : 0.25)),
      preview: text.slice(0, PREVIEW_CHARS),
    }
  })
}

/** The vendor counts the whole; a part has its share of it. Without a count, a token is about four characters. */
function findTokenRate(blocks: readonly Block[], { usage }: InspectedExchange): number {
  const chars = blocks.reduce((sum, block) => sum + countBlockChars(block), 0)
  const tokens = usage ? usage.input + usage.cacheRead + usage.cacheWrite : 0
  return chars > 0 && tokens > 0 ? tokens / chars : 0.25
}

function sumByKind(blocks: readonly Block[], exchange: InspectedExchange): Partial<Record<BlockKind, number>> {
  const rate = findTokenRate(blocks, exchange)
  const sums: Partial<Record<BlockKind, number>> = {}
  for (const block of blocks) sums[block.kind] = (sums[block.kind] ?? 0) + countBlockChars(block) * rate
  return sums
}

/** Keeps the values that were used last. */
function createCache<T>(size: number) {
  const values = new Map<string, T>()
  return {
    get(key: string, create: () => T): T {
      const value = values.has(key) ? (values.get(key) as T) : create()
      values.delete(key)
      values.set(key, value)
      for (const old of values.keys()) {
        if (values.size <= size) break
        values.delete(old)
      }
      return value
    },
  }
}
