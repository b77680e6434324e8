/** Writes any value as JSON, without losing what JSON has no form for: large integers, maps, sets, bytes and errors. */
export function serializeValue(value: unknown): string {
  if (value === undefined) return ''
  const ancestors: unknown[] = []
  return (
    JSON.stringify(value, function (this: unknown, _key, inner: unknown) {
      while (ancestors.length > 0 && ancestors.at(-1) !== this) ancestors.pop()
      if (ancestors.includes(inner)) return '[circular]'
      const plain = toPlainValue(inner)
      if (typeof plain === 'object' && plain !== null) ancestors.push(plain)
      return plain
    }) ?? ''
  )
}

function toPlainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (value instanceof Map)
    return [...value.keys()].every((key) => typeof key === 'string') ? Object.fromEntries(value) : [...value]
  if (value instanceof Set) return [...value]
  if (value instanceof Error)
    return { ...Object.fromEntries(Object.entries(value)), name: value.name, message: value.message }
  if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(''))
  return value
}
