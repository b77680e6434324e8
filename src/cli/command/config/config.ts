import { resolve } from 'node:path'
import { projectConfigPath, readSettings, userConfigPath } from '../../config/read-settings.ts'
import { CONFIG_SCHEMA } from '../../config/schema.ts'
import { readTrustState } from '../../config/trust.ts'
import { UserError } from '../../user-error.ts'

/** `dragoman config`: what is settled, and where. */
export function runConfigCommand(args: readonly string[]): void {
  const [viewName = 'show', ...more] = args
  const view = Object.hasOwn(CONFIG_VIEWS, viewName) ? CONFIG_VIEWS[viewName] : undefined
  if (!view || more.length > 0)
    throw new UserError(`dragoman config takes show, path or schema, not “${[viewName, ...more].join(' ')}”`)
  process.stdout.write(`${view(resolve('.'))}\n`)
}

const CONFIG_VIEWS: Readonly<Record<string, (folder: string) => string>> = {
  show: (folder) => {
    const { config, policies, files, notices } = readSettings(folder)
    return JSON.stringify({ files, ...(notices.length > 0 && { notices }), config, policies }, undefined, 2)
  },
  path: (folder) => `${userConfigPath()}\n${projectConfigPath(folder)} (this folder: ${readTrustState(folder)})`,
  schema: () => JSON.stringify(CONFIG_SCHEMA, undefined, 2),
}
