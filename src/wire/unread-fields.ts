import type { Warning } from '../model/event.ts'
import type { JsonObject } from '../model/json.ts'

/** The fields that `known` does not name; undefined if there are none. */
export function pickOtherFields(fields: Readonly<Record<string, unknown>>, known: string): JsonObject | undefined {
  const names = new Set(known.split(' '))
  const others = Object.entries(fields as JsonObject).filter(([name]) => !names.has(name))
  return others.length === 0 ? undefined : Object.fromEntries(others)
}

/** For what was read and can be kept nowhere. */
export function warnNotKept(warnings: Warning[], what: string, value: unknown): void {
  if (value === undefined) return
  const text = JSON.stringify(value) ?? String(value)
  const excerpt = text.length > MAX_EXCERPT_CHARS ? `${text.slice(0, MAX_EXCERPT_CHARS)}…` : text
  warnings.push({ code: 'not-kept', message: `${what} cannot be kept and was left out: ${excerpt}` })
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
    const isUsable = typeof one === 'object' && one !== null && !Array.isArray(one)
    if (!isUsable) warnNotKept(warnings, what, one)
    return isUsable
  })
}
