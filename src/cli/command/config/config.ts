import { resolve } from 'node:path'
import { projectConfigPath, readSettings, userConfigPath } from '../../config/read-settings.ts'
import { CONFIG_SCHEMA } from '../../config/schema.ts'
import { readTrustState } from '../../config/trust.ts'
import { findSubcommand, rejectExtraArguments } from '../../args/parse.ts'
import { CONFIG_COMMAND } from './spec.ts'

export function runConfigCommand(args: readonly string[]): void {
  const [name = 'show'] = args
  const format = findSubcommand('dragoman config', CONFIG_FORMATTERS, name)
  rejectExtraArguments('dragoman config', args, 1)
  process.stdout.write(`${format(resolve('.'))}\n`)
}

const CONFIG_FORMATTERS: Readonly<Record<keyof typeof CONFIG_COMMAND.subcommands, (folder: string) => string>> = {
  show: (folder) => {
    const { config, policies, files, notices } = readSettings(folder)
    return JSON.stringify({ files, ...(notices.length > 0 && { notices }), config, policies }, undefined, 2)
  },
  path: (folder) => `${userConfigPath()}\n${projectConfigPath(folder)} (this folder: ${readTrustState(folder)})`,
  schema: () => JSON.stringify(CONFIG_SCHEMA, undefined, 2),
}
