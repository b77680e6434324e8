import type { RunArgs } from '../../args/run-args.ts'
import { readSettings, type Settings } from '../../config/read-settings.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { findConfiguredModel } from '../../setup/choose-model.ts'
import { EXIT_CODE } from '../../user-error.ts'
import { resolveTheme, type ThemeName } from '../term/theme.ts'
import { isImportOfferDue } from '../../command/import/settings/import-offer.ts'
import { chooseFirstModel, promptForTrust } from './first-run.ts'

/** What is decided before the conversation is shown. */
export interface PreparedStart {
  readonly folder: string
  readonly settings: Settings
  readonly theme: ThemeName
  /** The model that the user named or chose. */
  readonly model: string | undefined
}

/**
 * Asks what has to be asked first: whether the folder is trusted, whether the settings of other agents are imported, and
 * which model to use where none is configured.
 */
export async function prepareStart(args: RunArgs): Promise<PreparedStart | { readonly exitCode: number }> {
  const folder = resolveWorkFolder(args)
  const firstTheme = resolveTheme('auto', process.env)
  await promptForTrust(folder, firstTheme)
  if (isImportOfferDue()) await (await import('./offer-import.ts')).offerImport(folder, firstTheme)
  const settings = readSettings(folder)
  const { config } = settings
  const theme = resolveTheme(config.theme ?? 'auto', process.env)
  const prepared = { folder, settings, theme, model: args.model }
  if ((args.model ?? args.resume ?? findConfiguredModel(config)) !== undefined) return prepared
  const choice = await chooseFirstModel(config, theme)
  if (choice === undefined) return { exitCode: EXIT_CODE.ok }
  if ('model' in choice) return { ...prepared, model: choice.model }
  return { exitCode: await (await import('../../command/tour/tour.ts')).runTourCommand([]) }
}
