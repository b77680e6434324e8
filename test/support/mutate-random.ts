/** A source of chance that gives the same numbers for the same seeds on every machine, so that a case is its number. */
export interface Random {
  /** At least 0 and less than 1. */
  next(): number
  /** A whole number from 0 up to, and without, `limit`. */
  below(limit: number): number
  /** A whole number in a range, both ends included. */
  range(low: number, high: number): number
  chance(share: number): boolean
  pick<T>(items: readonly T[]): T
  shuffled<T>(items: readonly T[]): T[]
}

/** Starts a source from any number of seeds (mulberry32, after mixing them). */
export function startRandom(...seeds: readonly number[]): Random {
  let state = seeds.reduce((mixed, seed) => mix(mixed ^ mix(seed | 0)), 0x9e3779b9)

  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return ((bits ^ (bits >>> 14)) >>> 0) / 4294967296
  }

  const below = (limit: number): number => Math.floor(next() * limit)
  return {
    next,
    below,
    range: (low, high) => low + below(high - low + 1),
    chance: (share) => next() < share,
    pick<T>(items: readonly T[]): T {
      if (items.length === 0) throw new Error('nothing to pick from')
      return items[below(items.length)] as T
    },
    shuffled<T>(items: readonly T[]): T[] {
      const rest = [...items]
      const taken: T[] = []
      while (rest.length > 0) taken.push(...rest.splice(below(rest.length), 1))
      return taken
    },
  }
}

/** Letters and digits. */
export function letters(random: Random, length: number): string {
  let text = ''
  while (text.length < length) text += ALPHABET.charAt(random.below(ALPHABET.length))
  return text
}

/** Cuts a text into at most `most` pieces, none of them empty. */
export function cutText(random: Random, text: string, most: number): string[] {
  const cuts = new Set<number>()
  for (let left = random.below(most); left > 0 && text.length > 1; left--) cuts.add(random.range(1, text.length - 1))
  const places = [0, ...[...cuts].sort((a, b) => a - b), text.length]
  return places.slice(1).map((end, at) => text.slice(places[at], end))
}

/** Mixes several lists into one that keeps the order of each. */
export function riffle<T>(random: Random, lists: readonly (readonly T[])[]): T[] {
  const queues = lists.filter((list) => list.length > 0).map((list) => [...list])
  const mixed: T[] = []
  while (queues.length > 0) {
    const at = random.below(queues.length)
    const queue = queues[at] ?? []
    mixed.push(...queue.splice(0, 1))
    if (queue.length === 0) queues.splice(at, 1)
  }
  return mixed
}

function mix(value: number): number {
  let bits = Math.imul(value ^ (value >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return bits ^ (bits >>> 16)
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789'
