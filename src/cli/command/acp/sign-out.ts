import { findProvider } from '../../../provider/index.ts'
import { readSettings } from '../../config/read-settings.ts'
import { findConfiguredModel, listProviders } from '../../setup/choose-model.ts'
import { openStoredKeys } from '../../sign-in/credential-sources.ts'

/** Removes the stored key of the provider that would be used. Keys of other providers, and variables, stay. */
export function signOut(model: string | undefined): void {
  const { config } = readSettings(process.cwd())
  const [name = ''] = (model ?? findConfiguredModel(config) ?? '').split('/')
  const provider = findProvider(name, listProviders(config))
  if (provider) openStoredKeys().remove(provider.id)
}
