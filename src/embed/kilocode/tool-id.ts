/** Writes an id in the readable form `toolu_<name>_<unique>`, in characters that every wire takes. */
export function createToolId(name: string, unique: string = randomSuffix() + randomSuffix()): string {
  const readable = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)
  return `toolu_${readable}_${unique}`
}

/** Makes ids that differ for as long as their prefix is not used again, however fast they are made. */
export function createToolIdGenerator(prefix: string = randomSuffix()): (name: string) => string {
  let count = 0
  return (name) => createToolId(name, `${prefix}${(count++).toString(36).padStart(4, '0')}`)
}

/** Eight letters and digits; ids need no secrecy, so no cryptography is asked for. */
function randomSuffix(): string {
  return Math.random().toString(36).slice(2, 10).padEnd(8, '0')
}
