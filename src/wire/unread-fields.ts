import type { Warning } from '../model/event.ts'
import { isObject } from '../model/json.ts'

/** For what was read and can be kept nowhere. */
export function warnNotKept(warnings: Warning[], what: string, value: unknown): void {
  if (value === undefined) return
  warnings.push({ code: 'not-kept', message: `${what} cannot be kept and was left out: ${formatExcerpt(value)}` })
}

/** For an item of a vendor that its API rejects alone, such as a call without its result. */
export function warnAboutPartner(item: Readonly<Record<string, unknown>>, warnings: Warning[]): void {
  const message = `An item of the type ${String(item['type'])} was left out, because what belongs to it is missing: ${formatExcerpt(item)}`
  warnings.push({ code: 'vendor-item', message })
}

/** The beginning of a value, for a warning. */
export function formatExcerpt(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > MAX_EXCERPT_CHARS ? `${text.slice(0, MAX_EXCERPT_CHARS)}…` : text
}

const MAX_EXCERPT_CHARS = 300

/** The elements of a list that are objects; a warning names everything else. */
export function readObjects(value: unknown, what: string, warnings: Warning[]): Record<string, unknown>[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    warnNotKept(warnings, what, value)
    return []
  }
  return value.filter((one): one is Record<string, unknown> => {
    const isUsable = isObject(one)
    if (!isUsable) warnNotKept(warnings, what, one)
    return isUsable
  })
}
