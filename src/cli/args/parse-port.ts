import { UserError } from '../user-error.ts'

/** Without a value, any free port. */
export function parsePort(value: string | undefined): number {
  const port = value === undefined ? 0 : Number(value)
  if (value?.trim() !== '' && Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new UserError(`--port must be a number from 0 to 65535, not “${value}”`)
}
