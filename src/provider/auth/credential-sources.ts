import { join } from 'node:path'
import { defined } from '../../model/defined.ts'
import { isObject, type JsonObject, tryParseJson } from '../../model/json.ts'
import type { Environment, GrantedCredential } from '../endpoint.ts'
import { getSharedHttpClient } from '../http/node-http-client.ts'
import type { CredentialSources, ModelResolveError } from '../resolve-model.ts'
import { tryOrUndefined } from '../../model/try-or-undefined.ts'
import { createGoogleCredential, createMetadataCredential, getProjectId } from './google-credentials.ts'
import { type CredentialStore, toGrantedCredential } from './stored-credential.ts'

/** Where credentials are looked for. Nothing is read before one is needed. */
interface CredentialPlaces {
  readonly env: Environment
  readonly keys: CredentialStore
  /** The home folder. */
  readonly home: string
  readonly readText: ReadText
}

/** Undefined if there is no such file. Throws if it cannot be read. */
type ReadText = (path: string) => string | undefined

export function createCredentialSources(places: CredentialPlaces): CredentialSources {
  const { keys } = places
  return {
    stored(row) {
      const grant = keys.get(row.id)
      if (!grant) return undefined
      const refreshTokenStore = keys.getRefreshTokenStore?.(row.id)
      const granted = toGrantedCredential(grant, row, {
        httpClient: getSharedHttpClient(),
        ...defined({ refreshTokenStore }),
      })
      return 'problem' in granted
        ? { problem: `The stored sign-in of ${row.id} cannot be used: ${granted.problem}`, code: 41 }
        : granted
    },
    google: () => findGoogleDefault(places),
  }
}

/** Google's application default credentials: of a file named by a variable, of gcloud, or of the metadata server. */
function findGoogleDefault(places: CredentialPlaces): GrantedCredential | ModelResolveError | undefined {
  const { env, readText } = places
  const named = env['GOOGLE_APPLICATION_CREDENTIALS']?.trim() || undefined
  const path = named ?? join(getGcloudFolder(places), 'application_default_credentials.json')
  const found = readCredentialFile(path, named !== undefined, readText)
  if (found && 'problem' in found) return { ...found, code: 41 }
  const httpClient = getSharedHttpClient()
  if (found) {
    const { file } = found
    const key = createGoogleCredential(file, { httpClient })
    if ('problem' in key) return { problem: `The credential in ${path} cannot be used: ${key.problem}`, code: 41 }
    return { key, ...defined({ project: getProjectId(file) }) }
  }
  // Without such a server the request takes seconds, so it is only made if the user asks for it.
  if (!/^(?:1|true)$/i.test(env['DRAGOMAN_GOOGLE_METADATA'] ?? '')) return undefined
  return { key: createMetadataCredential(env['GCE_METADATA_HOST']?.trim() || '169.254.169.254', { httpClient }) }
}

function getGcloudFolder({ env, home }: CredentialPlaces): string {
  if (env['CLOUDSDK_CONFIG']) return env['CLOUDSDK_CONFIG']
  return process.platform === 'win32' && env['APPDATA'] ? join(env['APPDATA'], 'gcloud') : join(home, '.config/gcloud')
}

/** The content of a credential file; undefined if it cannot be read and was not named by the user. */
export function readCredentialFile(
  path: string,
  isNamed: boolean,
  readText: ReadText,
): { file: JsonObject } | { problem: string } | undefined {
  const text = tryOrUndefined(() => readText(path))
  if (text === undefined)
    return isNamed ? { problem: `The credential file ${path} does not exist or cannot be read.` } : undefined
  // The parser's message is not shown: it may quote the file.
  const json = tryParseJson(text)
  if (isObject(json)) return { file: json as JsonObject }
  return { problem: `The credential file ${path} is not a JSON object.` }
}
