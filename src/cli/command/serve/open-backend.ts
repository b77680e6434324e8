import { join } from 'node:path'
import type { Backend } from '../../../server/backend.ts'
import { localBackend } from '../../../server/local/local-backend.ts'
import { openDatabaseBackend } from '../../../server/open-database.ts'
import { StoreError } from '../../../session/store/store.ts'
import { getErrorMessage } from '../../../model/error-message.ts'
import { getDataFolder } from '../../paths/folders.ts'
import { EXIT_CODE, UserError } from '../../user-error.ts'

/** Other users of the machine see the options of a program, but not its variables. */
export function findDatabaseUrl(option: string | undefined): string | undefined {
  return option ?? (process.env['DRAGOMAN_DATABASE_URL'] || undefined)
}

/** The backend of a server: the files of this machine, or a database. */
export async function openBackend(database: string | undefined, onError: (message: string) => void): Promise<Backend> {
  if (database !== undefined) {
    if (!/^postgres(?:ql)?:\/\//.test(database))
      throw new UserError('--database takes a URL that begins with postgres://')
    try {
      return await openDatabaseBackend(database, onError)
    } catch (error) {
      throw new UserError(`the database cannot be used: ${getErrorMessage(error)}`)
    }
  }
  try {
    return localBackend({ folder: join(getDataFolder(), 'server'), onError })
  } catch (error) {
    if (error instanceof StoreError && error.code === 'in-use')
      throw new UserError(
        'another dragoman serve runs on this machine; for more than one, use --database',
        EXIT_CODE.failure,
      )
    throw new UserError(`the data of the server cannot be opened: ${getErrorMessage(error)}`, EXIT_CODE.failure)
  }
}
