import type { Usage } from '../../../model/usage.ts'
import { formatWhole } from './format.ts'

export const BUCKETS: readonly (readonly [bucket: keyof Usage, name: string])[] = [
  ['cacheRead', 'read from cache'],
  ['cacheWrite', 'written to cache'],
  ['input', 'input'],
  ['output', 'output'],
  ['reasoning', 'reasoning'],
]

/** The tokens of a request by bucket. */
export function TokenBar({ usage, largest }: { readonly usage: Usage; readonly largest: number }) {
  const title = BUCKETS.map(([bucket, name]) => `${name} ${formatWhole(usage[bucket])}`).join(', ')
  return (
    <span class="token-bar" title={title}>
      {BUCKETS.map(([bucket]) =>
        usage[bucket] > 0 ? (
          <span key={bucket} class={`bucket ${bucket}`} style={{ width: `${(usage[bucket] / largest) * 100}%` }} />
        ) : null,
      )}
    </span>
  )
}
