import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../model/json.ts'
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
import { openKeyFile } from './key-file.ts'
import { defined } from '../../model/defined.ts'

/** Where credentials are looked for when no variable holds one. */
export function createCredentialSources(
  env: Environment = process.env,
  keys: CredentialStore = openKeyFile(),
  post: HttpClient = getSharedHttpClient(),
): CredentialSources {
  return {
    stored(row) {
      const grant = keys.get(row.id)
      if (!grant) return undefined
      const refresh = keys.getRefreshTokenStore?.(row.id)
      const granted = toGrantedCredential(grant, row, {
        httpClient: post,
        ...defined({ refreshTokenStore: refresh }),
      })
      if ('problem' in granted)
        throw new UserError(`the stored sign-in of ${row.id} cannot be used: ${granted.problem}`, EXIT_CODE.signIn)
      return granted
    },
    google: () => findApplicationDefault(env, post),
  }
}

/** Google's application default credentials: the file that a variable names, gcloud's own, or, if wished, the machine's. */
function findApplicationDefault(env: Environment, post: HttpClient): GrantedCredential | ResolveError | undefined {
  const named = env['GOOGLE_APPLICATION_CREDENTIALS']?.trim() || undefined
  const path = named ?? join(gcloudFolderPath(env), 'application_default_credentials.json')
  const found = readCredentialFile(path, named !== undefined)
  if (found && 'problem' in found) return { ...found, code: 41 }
  if (found) {
    const { file } = found
    const key = createGoogleCredential(file, { httpClient: post })
    if ('problem' in key) return { problem: `The credential in ${path} cannot be used: ${key.problem}`, code: 41 }
    const project = getProjectId(file)
    return { key, ...defined({ project }) }
  }
  // Asking costs seconds on machines that have no such server, so it is asked only if the person says so.
  if (!/^(?:1|true)$/i.test(env['DRAGOMAN_GOOGLE_METADATA'] ?? '')) return undefined
  return { key: createMetadataCredential(env['GCE_METADATA_HOST']?.trim() || '169.254.169.254', { httpClient: post }) }
}

function gcloudFolderPath(env: Environment): string {
  if (env['CLOUDSDK_CONFIG']) return env['CLOUDSDK_CONFIG']
  return process.platform === 'win32' && env['APPDATA']
    ? join(env['APPDATA'], 'gcloud')
    : join(homedir(), '.config/gcloud')
}

/** What a credential file says; undefined if there is none and nobody named it. */
export function readCredentialFile(
  path: string,
  named: boolean,
): { file: JsonObject } | { problem: string } | undefined {
  let text
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return named ? { problem: `There is no credential file ${path} that can be read.` } : undefined
  }
  try {
    const json: unknown = JSON.parse(text)
    if (isObject(json)) return { file: json as JsonObject }
  } catch {
    // What a parser says may quote the file.
  }
  return { problem: `The credential file ${path} is no JSON object.` }
}
