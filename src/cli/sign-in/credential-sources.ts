import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isObject, type JsonObject, tryParseJson } from '../../model/json.ts'
import {
  toGrantedCredential,
  type CredentialStore,
  createGoogleCredential,
  createMetadataCredential,
  getProjectId,
  type ResolveError,
  type CredentialSources,
  getSharedHttpClient,
  type Environment,
  type GrantedCredential,
  type HttpClient,
} from '../../provider/index.ts'
import { UserError, EXIT_CODE } from '../user-error.ts'
import { openCredentialFile } from './credential-file.ts'
import { defined } from '../../model/defined.ts'

export function createCredentialSources(
  env: Environment = process.env,
  keys: CredentialStore = openCredentialFile(),
  httpClient: HttpClient = getSharedHttpClient(),
): CredentialSources {
  return {
    stored(row) {
      const grant = keys.get(row.id)
      if (!grant) return undefined
      const refreshTokenStore = keys.getRefreshTokenStore?.(row.id)
      const granted = toGrantedCredential(grant, row, { httpClient, ...defined({ refreshTokenStore }) })
      if ('problem' in granted)
        throw new UserError(`the stored sign-in of ${row.id} cannot be used: ${granted.problem}`, EXIT_CODE.signIn)
      return granted
    },
    google: () => findGoogleDefault(env, httpClient),
  }
}

/** Google's application default credentials: of a file named by a variable, of gcloud, or of the metadata server. */
function findGoogleDefault(env: Environment, httpClient: HttpClient): GrantedCredential | ResolveError | undefined {
  const named = env['GOOGLE_APPLICATION_CREDENTIALS']?.trim() || undefined
  const path = named ?? join(gcloudFolderPath(env), 'application_default_credentials.json')
  const found = readCredentialFile(path, named !== undefined)
  if (found && 'problem' in found) return { ...found, code: EXIT_CODE.signIn }
  if (found) {
    const { file } = found
    const key = createGoogleCredential(file, { httpClient })
    if ('problem' in key)
      return { problem: `The credential in ${path} cannot be used: ${key.problem}`, code: EXIT_CODE.signIn }
    return { key, ...defined({ project: getProjectId(file) }) }
  }
  // Without such a server the request takes seconds, so it is only made if the user asks for it.
  if (!/^(?:1|true)$/i.test(env['DRAGOMAN_GOOGLE_METADATA'] ?? '')) return undefined
  return { key: createMetadataCredential(env['GCE_METADATA_HOST']?.trim() || '169.254.169.254', { httpClient }) }
}

function gcloudFolderPath(env: Environment): string {
  if (env['CLOUDSDK_CONFIG']) return env['CLOUDSDK_CONFIG']
  return process.platform === 'win32' && env['APPDATA']
    ? join(env['APPDATA'], 'gcloud')
    : join(homedir(), '.config/gcloud')
}

/** The content of a credential file; undefined if it cannot be read and was not named by the user. */
export function readCredentialFile(
  path: string,
  named: boolean,
): { file: JsonObject } | { problem: string } | undefined {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return named ? { problem: `The credential file ${path} does not exist or cannot be read.` } : undefined
  }
  // The parser's message is not shown: it may quote the file.
  const json = tryParseJson(text)
  if (isObject(json)) return { file: json as JsonObject }
  return { problem: `The credential file ${path} is not a JSON object.` }
}
