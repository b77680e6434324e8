import { checkKey } from '../../../provider/sign-in.ts'
import {
  type StoredCredential,
  type CredentialStore,
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
import { openKeyFile } from '../../sign-in/key-file.ts'
import { LOGIN_COMMAND, LOGOUT_COMMAND } from './spec.ts'
import { listProviders } from '../../setup/choose-model.ts'
import { parseCommandLine } from '../../args/parse.ts'
import { readSecret } from '../../sign-in/read-secret.ts'
import { printHelp } from '../../args/print-help.ts'
import { readCredentialFile, createCredentialSources } from '../../sign-in/credential-sources.ts'
import { getErrorMessage } from '../../../model/error-message.ts'

/** `dragoman login`: stores a key or a sign-in. A key that was given already is not asked for. */
export async function runLoginCommand(args: string[], givenKey?: string): Promise<void> {
  const { values, positionals } = parseLoginArgs(args)
  if (positionals.length === 0 && !values.list) return void (await printHelp('login'))
  const rows = listProviders(readSettings(resolveWorkFolder({})).config)
  const keys = openKeyFile()
  if (values.list) return listSignIns(rows, keys)
  const row = findProvider(positionals, rows)
  const grant =
    values['client-file'] === undefined
      ? await readAndCheckKey(row, values['no-check'] ?? false, givenKey)
      : await obtainBrowserGrant(row, values['client-file'])
  keys.set(row.id, grant)
  const variable = [...row.keys, ...(row.tokens ?? [])].find((name) => (process.env[name] ?? '') !== '')
  printText(`Signed in to ${row.id}.${variable === undefined ? '' : ` But ${variable} is set, and comes first.`}\n`)
}

/** `dragoman logout`: forgets what was stored. */
export async function runLogoutCommand(args: string[]): Promise<void> {
  const { positionals } = parseCommandLine('dragoman logout', LOGOUT_COMMAND.options, args)
  if (positionals.length === 0) return void (await printHelp('logout'))
  const [id = ''] = positionals
  if (positionals.length > 1) throw new UserError('dragoman logout takes one provider')
  if (!openKeyFile().remove(id))
    throw new UserError(`nothing is stored for ${JSON.stringify(id)}; dragoman login --list`)
  printText(`Signed out of ${id}.\n`)
}

function listSignIns(rows: readonly ProviderDefinition[], keys: CredentialStore): void {
  const lines = rows.flatMap((row) => {
    const variable = [...row.keys, ...(row.tokens ?? [])].find((name) => (process.env[name] ?? '') !== '')
    const grant = keys.get(row.id)
    const sources = [...(variable === undefined ? [] : [variable]), ...(grant ? [describeGrant(grant)] : [])]
    return sources.length === 0 ? [] : [`${row.id.padEnd(16)}${sources.join('; ')}\n`]
  })
  const unknownIds = keys.listProviders().filter((id) => !rows.some((row) => row.id === id))
  for (const id of unknownIds) lines.push(`${id.padEnd(16)}stored, but there is no such provider\n`)
  printText(lines.length === 0 ? 'Nobody is signed in; dragoman login <provider>.\n' : lines.join(''))
}

function describeGrant(grant: StoredCredential): string {
  if (grant.kind === 'key') return 'a stored key'
  return `a sign-in with Google${grant.project === undefined ? '' : `, project ${grant.project}`}`
}

function findProvider([id = '', ...more]: readonly string[], rows: readonly ProviderDefinition[]): ProviderDefinition {
  if (more.length > 0)
    throw new UserError(
      'a key does not belong on the command line, where others can see it: type it when asked, or pipe it in; if that was one, have it replaced',
    )
  const row = rows.find((one) => one.id === id)
  if (!row) throw new UserError(`there is no provider “${id}”; there are ${rows.map((one) => one.id).join(', ')}`)
  if (row.auth === 'none') throw new UserError(`${id} needs no key`)
  return row
}

async function readAndCheckKey(
  row: ProviderDefinition,
  skipCheck: boolean,
  givenKey: string | undefined,
): Promise<StoredCredential> {
  if (row.wire === 'code-assist')
    throw new UserError(
      `${row.id} takes no key: sign in with --client-file <file>, an OAuth client of your own; or with gcloud auth application-default login, and nothing more is needed`,
      EXIT_CODE.signIn,
    )
  const key = givenKey ?? (await readSecret(`The key for ${row.id} (it is not shown): `))
  if (key === '') throw new UserError('no key was given; nothing is stored')
  if (!HEADER_VALUE.test(key) || /\s/.test(key))
    throw new UserError('that is no key: it has spaces, lines or letters that no key has')
  const grant: StoredCredential = { kind: 'key', key }
  if (skipCheck) return grant
  const verdict = await checkKey(resolveWithGrant(row, grant), getSharedHttpClient())
  if (verdict.ok) return grant
  throw new UserError(
    verdict.isRefused
      ? `${verdict.reason}; nothing is stored`
      : `the key could not be tried: ${verdict.reason.replace(/\.$/, '')}; nothing is stored (--no-check stores it untried)`,
    verdict.isRefused ? EXIT_CODE.signIn : EXIT_CODE.failure,
  )
}

/** The row as it will be reached with this grant and none other. */
function resolveWithGrant(row: ProviderDefinition, grant: StoredCredential): Endpoint {
  const variables = [...row.keys, ...(row.tokens ?? [])]
  const env: Environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !variables.includes(name)))
  const keys: CredentialStore = { get: () => grant, set: () => {}, remove: () => false, listProviders: () => [row.id] }
  const target = resolveModel(`${row.id}/${row.model ?? 'any'}`, env, [row], createCredentialSources(env, keys))
  if ('problem' in target) throw new UserError(target.problem, target.code)
  return target
}

async function obtainBrowserGrant(row: ProviderDefinition, path: string): Promise<StoredCredential> {
  if (row.signIn !== 'google') throw new UserError(`${row.id} knows no sign-in in the browser; leave --client-file out`)
  const found = readCredentialFile(path, true) ?? { problem: `There is no file ${path}.` }
  if ('problem' in found) throw new UserError(found.problem)
  const { parseOAuthClient, signInWithBrowser } = await import('../../../provider/sign-in.ts')
  const client = parseOAuthClient(found.file)
  if ('problem' in client) throw new UserError(`${path} cannot be used: ${client.problem}`)
  try {
    const credential = await signInWithBrowser(client, getSharedHttpClient(), printAndOpenUrl)
    const grant: StoredCredential = { kind: 'google', credential }
    if (row.wire !== 'code-assist') return grant
    const { onboardCodeAssist } = await import('../../../provider/sign-in.ts')
    const { tier, project } = await onboardCodeAssist(resolveWithGrant(row, grant), {
      httpClient: getSharedHttpClient(),
    })
    printText(`Code Assist: ${tier}${project === undefined ? '' : `, project ${project}`}.\n`)
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
    // What it does not understand may be a key, and is not repeated.
    throw new UserError(
      'dragoman login takes a provider, --client-file, --no-check or --list; a key is typed or piped in',
    )
  }
}

function printText(text: string): void {
  process.stdout.write(text)
}
