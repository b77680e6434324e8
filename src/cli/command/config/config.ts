import { resolve } from 'node:path'
import { getProjectConfigPath, readSettings, getUserConfigPath } from '../../config/read-settings.ts'
import { CONFIG_SCHEMA } from '../../config/schema.ts'
import { readTrustState } from '../../config/folder-trust.ts'
import { findSubcommand, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { CONFIG_COMMAND } from './spec.ts'

export function runConfigCommand(args: readonly string[]): void {
  const [name = 'show'] = args
  const format = findSubcommand('dragoman config', CONFIG_FORMATTERS, name)
  rejectExtraArgs('dragoman config', args, 1)
  process.stdout.write(`${format(resolve('.'))}\n`)
}

const CONFIG_FORMATTERS: Readonly<Record<keyof typeof CONFIG_COMMAND.subcommands, (folder: string) => string>> = {
  show: (folder) => {
    const { config, policies, files, notices } = readSettings(folder)
    return JSON.stringify({ files, ...(notices.length > 0 && { notices }), config, policies }, undefined, 2)
  },
  path: (folder) => `${getUserConfigPath()}\n${getProjectConfigPath(folder)} (this folder: ${readTrustState(folder)})`,
  schema: () => JSON.stringify(CONFIG_SCHEMA, undefined, 2),
}
