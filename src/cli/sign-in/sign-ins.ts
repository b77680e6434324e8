import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { isObject, type JsonObject } from '../../model/json.ts'
import { grantedBy, type Keys } from '../../provider/auth/grant.ts'
import { googleCredential, metadataCredential, projectOf } from '../../provider/auth/google.ts'
import type { Problem, SignIns } from '../../provider/resolve.ts'
import { sharedPost } from '../../provider/send.ts'
import type { Environment, Granted } from '../../provider/target.ts'
import type { Post } from '../../provider/transport.ts'
import { Complaint, EXIT } from '../exit.ts'
import { keysFile } from './keys-file.ts'

/** Where credentials are looked for when no variable holds one. */
export function signIns(env: Environment = process.env, keys: Keys = keysFile(), post: Post = sharedPost()): SignIns {
  return {
    stored(row) {
      const grant = keys.get(row.id)
      if (!grant) return undefined
      const refresh = keys.refresh?.(row.id)
      const granted = grantedBy(grant, row, { post, ...(refresh && { refresh }) })
      if ('problem' in granted)
        throw new Complaint(`the stored sign-in of ${row.id} cannot be used: ${granted.problem}`, EXIT.signIn)
      return granted
    },
    google: () => applicationDefault(env, post),
  }
}

/** Google's application default credentials: the file that a variable names, gcloud's own, or, if wished, the machine's. */
function applicationDefault(env: Environment, post: Post): Granted | Problem | undefined {
  const named = env['GOOGLE_APPLICATION_CREDENTIALS']?.trim() || undefined
  const path = named ?? join(gcloudFolder(env), 'application_default_credentials.json')
  const found = credentialIn(path, named !== undefined)
  if (found && 'problem' in found) return { ...found, code: 41 }
  if (found) {
    const { file } = found
    const key = googleCredential(file, { post })
    if ('problem' in key) return { problem: `The credential in ${path} cannot be used: ${key.problem}`, code: 41 }
    const project = projectOf(file)
    return { key, ...(project !== undefined && { project }) }
  }
  // Asking costs seconds on machines that have no such server, so it is asked only if the person says so.
  if (!/^(?:1|true)$/i.test(env['DRAGOMAN_GOOGLE_METADATA'] ?? '')) return undefined
  return { key: metadataCredential(env['GCE_METADATA_HOST']?.trim() || '169.254.169.254', { post }) }
}

function gcloudFolder(env: Environment): string {
  if (env['CLOUDSDK_CONFIG']) return env['CLOUDSDK_CONFIG']
  return process.platform === 'win32' && env['APPDATA']
    ? join(env['APPDATA'], 'gcloud')
    : join(homedir(), '.config/gcloud')
}

/** What a credential file says; undefined if there is none and nobody named it. */
export function credentialIn(path: string, named: boolean): { file: JsonObject } | { problem: string } | undefined {
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
