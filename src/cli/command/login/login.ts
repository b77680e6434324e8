import { readTextIfPresent } from '../../../host/files/read-text.ts'
import { checkKey } from '../../../provider/sign-in.ts'
import {
  type StoredCredential,
  type CredentialStore,
  readCredentialFile,
  findProvider as findProviderByName,
  providers,
  resolveModel,
  type ProviderDefinition,
  getSharedHttpClient,
  type Environment,
  HEADER_VALUE,
  type Endpoint,
} from '../../../provider/index.ts'
import { resolveWorkFolder } from '../../setup/assemble-agent.ts'
import { printAndOpenUrl } from '../../sign-in/browser.ts'
import { readSettings } from '../../config/read-settings.ts'
import { UserError, EXIT_CODE } from '../../user-error.ts'
import { LOGIN_COMMAND, LOGOUT_COMMAND } from './spec.ts'
import { findProviderById, listProviders } from '../../setup/choose-model.ts'
import { parseCommandLine, rejectExtraArgs } from '../../args/parse-command-line.ts'
import { readSecret } from '../../sign-in/read-secret.ts'
import { printHelp } from '../../args/print-help.ts'
import { createCredentialSources, openStoredKeys } from '../../sign-in/credential-sources.ts'
import { WIRE_ENDPOINTS } from '../../../wire/endpoint.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** `dragoman login`. A key in `givenKey` is not asked for. */
export async function runLoginCommand(args: string[], givenKey?: string): Promise<void> {
  const { values, positionals } = parseLoginArgs(args)
  if (positionals.length === 0 && !values.list) return void (await printHelp('login'))
  const rows = listProviders(readSettings(resolveWorkFolder({})).config)
  const keys = openStoredKeys()
  if (values.list) return listSignIns(rows, keys)
  const row = findProvider(positionals, rows)
  const grant =
    values['client-file'] === undefined
      ? await readAndCheckKey(row, values['no-check'] ?? false, givenKey)
      : await obtainBrowserGrant(row, values['client-file'])
  keys.set(row.id, grant)
  const variable = findSetVariable(row)
  process.stdout.write(
    `Signed in to ${row.id}.${variable === undefined ? '' : ` ${variable} is set and takes precedence.`}\n`,
  )
}

export async function runLogoutCommand(args: string[]): Promise<void> {
  const { positionals } = parseCommandLine('dragoman logout', LOGOUT_COMMAND.options, args)
  if (positionals.length === 0) return void (await printHelp('logout'))
  rejectExtraArgs('dragoman logout', positionals, 1)
  const [name = ''] = positionals
  const id = findProviderByName(name, providers)?.id ?? name
  if (!openStoredKeys().remove(id))
    throw new UserError(`nothing is stored for ${JSON.stringify(id)}; see dragoman login --list`)
  process.stdout.write(`Signed out of ${id}.\n`)
}

function listSignIns(rows: readonly ProviderDefinition[], keys: CredentialStore): void {
  const lines = rows.flatMap((row) => {
    const variable = findSetVariable(row)
    const grant = keys.get(row.id)
    const sources = [...(variable === undefined ? [] : [variable]), ...(grant ? [describeGrant(grant)] : [])]
    return sources.length === 0 ? [] : [`${row.id.padEnd(16)}${sources.join('; ')}\n`]
  })
  const unknownIds = keys.listProviders().filter((id) => !rows.some((row) => row.id === id))
  for (const id of unknownIds) lines.push(`${id.padEnd(16)}stored, but the provider is unknown\n`)
  process.stdout.write(lines.length === 0 ? 'No credentials found. Run dragoman login <provider>.\n' : lines.join(''))
}

function listKeyVariables({ keys, tokens = [] }: ProviderDefinition): readonly string[] {
  return [...keys, ...tokens]
}

function findSetVariable(row: ProviderDefinition): string | undefined {
  return listKeyVariables(row).find((name) => (process.env[name] ?? '') !== '')
}

function describeGrant(grant: StoredCredential): string {
  if (grant.kind === 'key') return 'a stored key'
  return `a sign-in with Google${grant.project === undefined ? '' : `, project ${grant.project}`}`
}

function findProvider([id = '', ...more]: readonly string[], rows: readonly ProviderDefinition[]): ProviderDefinition {
  if (more.length > 0)
    throw new UserError(
      'do not pass a key on the command line, where others can see it; enter it when asked, or pipe it in. If that was a key, replace it',
    )
  const row = findProviderById(id, rows)
  if (row.auth === 'none') throw new UserError(`${id} needs no key`)
  return row
}

async function readAndCheckKey(
  row: ProviderDefinition,
  skipCheck: boolean,
  givenKey: string | undefined,
): Promise<StoredCredential> {
  if (WIRE_ENDPOINTS[row.wire].needsProject)
    throw new UserError(
      `${row.id} has no API keys; sign in with --client-file <file> (your own OAuth client), or with gcloud auth application-default login`,
      EXIT_CODE.signIn,
    )
  const key = givenKey ?? (await readSecret(`API key for ${row.id} (hidden): `))
  if (key === '') throw new UserError('no key was entered; nothing was stored')
  if (!HEADER_VALUE.test(key) || /\s/.test(key))
    throw new UserError('this is not a valid key: it contains spaces, line breaks or invalid characters')
  const grant: StoredCredential = { kind: 'key', key }
  if (skipCheck) return grant
  const verdict = await checkKey(resolveWithGrant(row, grant), getSharedHttpClient())
  if (verdict.ok) return grant
  throw new UserError(
    verdict.isRefused
      ? `the key was not stored: ${verdict.reason}`
      : `the key was not stored, because it could not be checked (--no-check stores it anyway): ${verdict.reason}`,
    verdict.isRefused ? EXIT_CODE.signIn : EXIT_CODE.failure,
  )
}

/** The endpoint of a provider with this credential and no other. */
function resolveWithGrant(row: ProviderDefinition, grant: StoredCredential): Endpoint {
  const variables = listKeyVariables(row)
  const env: Environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !variables.includes(name)))
  const keys: CredentialStore = { get: () => grant, set: () => {}, remove: () => false, listProviders: () => [row.id] }
  const target = resolveModel(`${row.id}/${row.model ?? 'any'}`, env, [row], createCredentialSources(env, keys))
  if ('problem' in target) throw new UserError(target.problem, target.code)
  return target
}

async function obtainBrowserGrant(row: ProviderDefinition, path: string): Promise<StoredCredential> {
  if (row.signIn !== 'google') throw new UserError(`${row.id} does not support browser sign-in; omit --client-file`)
  const found = readCredentialFile(path, true, readTextIfPresent)
  if (!found || 'problem' in found) throw new UserError(found?.problem ?? `${path} cannot be read`)
  const { onboardCodeAssist, parseOAuthClient, signInWithBrowser } = await import('../../../provider/sign-in.ts')
  const client = parseOAuthClient(found.file)
  if ('problem' in client) throw new UserError(`${path} cannot be used: ${client.problem}`)
  try {
    const credential = await signInWithBrowser(client, getSharedHttpClient(), printAndOpenUrl)
    const grant: StoredCredential = { kind: 'google', credential }
    if (!WIRE_ENDPOINTS[row.wire].needsProject) return grant
    const httpClient = getSharedHttpClient()
    const { tier, project } = await onboardCodeAssist(resolveWithGrant(row, grant), { httpClient })
    process.stdout.write(`Code Assist: ${tier}${project === undefined ? '' : `, project ${project}`}.\n`)
    return project === undefined ? grant : { ...grant, project }
  } catch (error) {
    if (error instanceof UserError) throw error
    throw new UserError(`the sign-in failed: ${getErrorMessage(error)}`, EXIT_CODE.signIn)
  }
}

function parseLoginArgs(args: string[]) {
  try {
    return parseCommandLine('dragoman login', LOGIN_COMMAND.options, args)
  } catch {
    // The invalid argument may be a key, and must not be printed.
    throw new UserError('invalid arguments; see dragoman login --help. A key is entered when asked, or piped in')
  }
}
