import { type CreateError, updatePrivateFile as update } from '../../agent/user-files/private-file.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'

/** An error in a file of the user's settings or keys. */
export const createConfigError: CreateError = (message) => new UserError(message, EXIT_CODE.config)

export function updatePrivateFile(path: string, text: () => string): void {
  update(path, text, createConfigError)
}
