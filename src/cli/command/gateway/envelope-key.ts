import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeDiskError, ensurePrivateFolder } from '../../../host/files/private-folder.ts'
import { getDataFolder } from '../../paths/folders.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'

/** The private folder of the gateway. */
export function getGatewayFolder(): string {
  return join(getDataFolder(), 'gateway')
}

/** The key of the signature envelopes. It is kept, so that sessions of clients survive a restart. */
export function readEnvelopeKey(): Uint8Array {
  const path = join(getGatewayFolder(), 'envelope.key')
  try {
    ensurePrivateFolder(getGatewayFolder())
    try {
      writeFileSync(path, `${randomBytes(32).toString('hex')}\n`, { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const key = Buffer.from(readFileSync(path, 'utf8').trim(), 'hex')
    if (key.length === 32) return key
  } catch (error) {
    throw new UserError(`${path} cannot be used: ${describeDiskError(error)}`, EXIT_CODE.config)
  }
  throw new UserError(`${path} is damaged; remove it, and a new one is made`, EXIT_CODE.config)
}
