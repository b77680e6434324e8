import { createProvider, type Model, type ProviderSettings } from '../../provider/index.ts'
import { findUserCredentials } from '../user-files/credential-file.ts'

/**
 * A provider, by its id in the table, or a name of your own with `wire` and `baseUrl`. Returns a function that opens a model of it:
 * `provider('openai', { apiKey })('gpt-5.2')`. Models retry, adapt to the server, and send a long history without writing it again.
 * Without `apiKey`, the key comes from the environment, or from `dragoman login`.
 */
export function provider(id: string, options: ProviderSettings = {}): (model: string) => Model {
  return createProvider(id, options, findUserCredentials)
}
