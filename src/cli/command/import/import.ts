import { findSubcommand, type OptionValues, parseCommandLine } from '../../args/parse-command-line.ts'
import type { SettingsAgent } from './settings/import-plan.ts'
import { IMPORT_COMMAND } from './spec.ts'

export type ImportOptions = OptionValues<typeof IMPORT_COMMAND.options>

/** `dragoman import`: takes over what users have from other agents. */
export async function runImportCommand(args: string[]): Promise<number | void> {
  const { values, positionals } = parseCommandLine('dragoman import', IMPORT_COMMAND.options, args)
  const [subcommand, ...rest] = positionals
  if (subcommand === undefined) return importSettings(...SETTINGS_AGENT_NAMES)(rest, values)
  return findSubcommand('dragoman import', IMPORT_SUBCOMMANDS, subcommand)(rest, values)
}

const SETTINGS_AGENT_NAMES = ['claude', 'codex', 'gemini', 'opencode'] as const

function importSettings(...agents: readonly SettingsAgent[]): ImportSubcommand {
  return async (positionals, values) =>
    (await import('./settings/settings.ts')).runImportSettings(agents, positionals, values)
}

type ImportSubcommand = (positionals: readonly string[], values: ImportOptions) => Promise<number | void>

const IMPORT_SUBCOMMANDS: Readonly<Record<keyof typeof IMPORT_COMMAND.subcommands, ImportSubcommand>> = {
  claude: importSettings('claude'),
  codex: importSettings('codex'),
  gemini: importSettings('gemini'),
  opencode: importSettings('opencode'),
  session: async (positionals, values) => (await import('./session.ts')).runImportSession(positionals, values),
}
