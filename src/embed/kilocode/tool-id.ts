/** `toolu_<name>_<unique>`, in characters that every API accepts. */
export function createToolId(name: string, unique: string = randomSuffix() + randomSuffix()): string {
  const readable = name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 40)
  return `toolu_${readable}_${unique}`
}

/** The ids are unique as long as the prefix is. */
export function createToolIdGenerator(prefix: string = randomSuffix()): (name: string) => string {
  let count = 0
  return (name) => createToolId(name, `${prefix}${(count++).toString(36).padStart(4, '0')}`)
}

/** Eight letters and digits. Ids are not secret, so no cryptographic randomness is needed. */
function randomSuffix(): string {
  return Math.random().toString(36).slice(2, 10).padEnd(8, '0')
}
