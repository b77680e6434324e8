import { ApiError } from './api-error.ts'
import type { TenantLimits } from './tenants.ts'

/** Counts what each tenant does on this server. */
export interface ServerLimits {
  /** Throws if the tenant has sent too many prompts within a minute. */
  countPrompt(tenant: string, limits: TenantLimits): void
  /** Throws if the tenant has too many event streams open. Returns a function that ends this one. */
  openStream(tenant: string, limits: TenantLimits): () => void
  /** One at a time for each key, such as a tenant, so that a count is still right when the work is done. */
  takeTurn<T>(key: string, work: () => Promise<T>): Promise<T>
}

export function createServerLimits(now: () => number = Date.now): ServerLimits {
  const prompts = new Map<string, number[]>()
  const streams = new Map<string, number>()
  const turns = new Map<string, Promise<unknown>>()
  return {
    countPrompt(tenant, { promptsPerMinute }) {
      if (promptsPerMinute === undefined) return
      const recent = (prompts.get(tenant) ?? []).filter((at) => at > now() - MINUTE_MS)
      if (recent.length >= promptsPerMinute) {
        const seconds = Math.ceil(((recent[0] ?? now()) + MINUTE_MS - now()) / 1000)
        throw new ApiError('limit-exceeded', `More than ${promptsPerMinute} prompts within a minute.`, {
          'retry-after': String(seconds),
        })
      }
      prompts.set(tenant, [...recent, now()])
    },
    openStream(tenant, { streams: max = DEFAULT_STREAMS }) {
      const count = streams.get(tenant) ?? 0
      if (count >= max) throw new ApiError('limit-exceeded', `More than ${max} event streams at the same time.`)
      streams.set(tenant, count + 1)
      return () => void streams.set(tenant, (streams.get(tenant) ?? 1) - 1)
    },
    async takeTurn(key, work) {
      const previous = turns.get(key) ?? Promise.resolve()
      const turn = previous.then(work)
      const end = turn
        .catch(() => undefined)
        .finally(() => {
          if (turns.get(key) === end) turns.delete(key)
        })
      turns.set(key, end)
      return turn
    },
  }
}

const MINUTE_MS = 60_000
const DEFAULT_STREAMS = 200
