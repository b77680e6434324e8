import { diffLines, diffWordsWithSpace } from 'diff'
import { defined } from '../../model/defined.ts'
import { NO_USAGE, type Usage } from '../../model/usage.ts'
import type { Block, DiffPiece, Divergence, InspectedExchange } from './inspected-exchange.ts'
import { countBlockChars } from './list-blocks.ts'

interface ComparedRequest {
  readonly exchange: InspectedExchange
  readonly blocks: readonly Block[]
}

/** Where a request stops to repeat the previous one, and what that cost. */
export function findDivergence(
  previous: ComparedRequest,
  current: ComparedRequest,
  price: (exchange: InspectedExchange, usage: Usage) => number | undefined,
): Divergence {
  const same = countSameBlocks(previous.blocks, current.blocks)
  const isExtended = same === previous.blocks.length
  const [before, after] = [previous.blocks[same], current.blocks[same]]
  const lost = sumChars(previous.blocks.slice(same))
  return {
    previous: previous.exchange.id,
    isExtended,
    sameBlocks: same,
    sameChars: sumChars(previous.blocks.slice(0, same)),
    previousChars: sumChars(previous.blocks),
    ...(!isExtended && before && { place: describePlace(before, after), kind: before.kind }),
    diff: isExtended ? [] : createDiff(before?.text ?? '', after?.text ?? ''),
    ...estimateMiss(previous.exchange, current.exchange, isExtended ? 0 : lost, price),
  }
}

/** The earlier request that this one continues: the same beginning, or at least the same system prompt or first message. */
export function findPreviousRequest<T extends { readonly blocks: readonly Block[] }>(
  earlier: readonly T[],
  { blocks }: { readonly blocks: readonly Block[] },
): T | undefined {
  const [system, first] = summarizeStart(blocks)
  let [best, bestScore]: [T | undefined, number] = [undefined, 0]
  for (const one of earlier) {
    const [otherSystem, otherFirst] = summarizeStart(one.blocks)
    const score = Number(system === otherSystem) + Number(first === otherFirst && first !== undefined)
    if (score > 0 && score >= bestScore) [best, bestScore] = [one, score]
  }
  return best
}

function summarizeStart(blocks: readonly Block[]): [system: string | undefined, firstMessage: string | undefined] {
  const system = blocks.find(({ kind }) => kind === 'system')
  return [system?.text, blocks.find(({ kind }) => kind === 'user')?.text]
}

function countSameBlocks(one: readonly Block[], other: readonly Block[]): number {
  const length = Math.min(one.length, other.length)
  let at = 0
  while (at < length && isSameBlock(one[at], other[at])) at++
  return at
}

function isSameBlock(one: Block | undefined, other: Block | undefined): boolean {
  return one?.text === other?.text && one?.kind === other?.kind && one?.label === other?.label
}

function sumChars(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + countBlockChars(block), 0)
}

function describePlace(before: Block, after: Block | undefined): string {
  const place = before.turn === undefined ? NAMES[before.kind] : `turn ${before.turn}, ${NAMES[before.kind]}`
  const name = before.label === '' || before.kind === 'system' || before.kind === 'settings' ? '' : ` “${before.label}”`
  return `${place}${name}${after ? '' : ' (gone)'}`
}

const NAMES: Readonly<Record<Block['kind'], string>> = {
  system: 'the system prompt',
  tool: 'the declaration of the tool',
  instructions: 'instructions',
  user: 'a message',
  file: 'the file',
  result: 'the result of',
  thinking: 'thinking',
  text: 'text of the model',
  call: 'the call of',
  media: 'media',
  settings: 'the model or its settings',
  other: 'the body',
}

/** What stands around the first and the last difference is enough. */
function createDiff(before: string, after: string): DiffPiece[] {
  const limit = Math.min(before.length, after.length)
  let from = 0
  while (from < limit && before[from] === after[from]) from++
  let end = 0
  while (end < limit - from && before.at(-1 - end) === after.at(-1 - end)) end++
  from = Math.max(0, from - CONTEXT_CHARS)
  end = Math.max(0, end - CONTEXT_CHARS)
  const cut = (text: string): string => text.slice(from, Math.min(text.length - end, from + MAX_DIFF_CHARS))
  const [one, other] = [cut(before), cut(after)]
  const hasLines = one.includes('\n') || one.length > MAX_WORD_DIFF_CHARS
  const limits = { timeout: MAX_DIFF_MS }
  const changes = (hasLines ? diffLines(one, other, limits) : diffWordsWithSpace(one, other, limits)) ?? []
  const pieces = changes.map(({ added, removed, value }): DiffPiece => {
    return { kind: added ? 'added' : removed ? 'removed' : 'same', text: value }
  })
  if (pieces.length === 0) pieces.push({ kind: 'removed', text: one }, { kind: 'added', text: other })
  const gap: DiffPiece = { kind: 'same', text: '…' }
  const isEnd = Math.max(before.length, after.length) <= from + MAX_DIFF_CHARS && end === 0
  return [...(from > 0 ? [gap] : []), ...pieces, ...(isEnd ? [] : [gap])]
}

const CONTEXT_CHARS = 240
const MAX_DIFF_CHARS = 20_000
const MAX_WORD_DIFF_CHARS = 4000
const MAX_DIFF_MS = 500

/** Tokens that the previous request had put into the cache, and that were paid again. */
function estimateMiss(
  previous: InspectedExchange,
  current: InspectedExchange,
  lostChars: number,
  price: (exchange: InspectedExchange, usage: Usage) => number | undefined,
): Pick<Divergence, 'missedTokens' | 'missedCost' | 'isEstimate'> {
  const [before, now] = [previous.usage, current.usage]
  const isKnown = before !== undefined && now !== undefined
  const missedTokens = isKnown
    ? Math.max(0, Math.min(countInput(before) - now.cacheRead, now.input + now.cacheWrite))
    : Math.round(lostChars / 4)
  const paid = price(current, { ...NO_USAGE, input: missedTokens })
  const cached = price(current, { ...NO_USAGE, cacheRead: missedTokens })
  return {
    missedTokens,
    ...(!isKnown && { isEstimate: true }),
    ...defined({ missedCost: paid === undefined || cached === undefined ? undefined : Math.max(0, paid - cached) }),
  }
}

function countInput({ input, cacheRead, cacheWrite }: Usage): number {
  return input + cacheRead + cacheWrite
}
